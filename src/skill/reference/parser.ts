import { type Mark, StrictFailure, type Token } from './scalars.ts'
import { moveComment, Scanner } from './scanner.ts'

type StrictNode =
  | { kind: 'scalar'; text: string; plain: boolean; mark: Mark }
  | { kind: 'list'; items: StrictNode[]; mark: Mark }
  | StrictMap
type StrictEntry = { key: StrictNode; value: StrictNode }
type StrictMap = { kind: 'map'; entries: StrictEntry[]; mark: Mark }

/** The nesting of collections at which the reference validator's stack overflows. */
const deepestNesting = 247

/**
 * Parses the only document as strictyaml does; undefined if there is none. Throws {@link
 * StrictFailure}.
 */
function parseDocument(text: string): StrictNode | undefined {
  const scanner = new Scanner(text)
  moveComment(scanner.take(), scanner.peek())
  if (scanner.isAt('stream-end')) return undefined
  const root = parseNode(scanner, 1)
  if (scanner.isAt('document-end')) scanner.take()
  if (scanner.isAt('stream-end')) return root
  return fail('expected a single document, but found another', scanner.peek().start)
}

function fail(message: string, mark: Mark, kind: StrictFailure['kind'] = 'syntax'): never {
  throw new StrictFailure(kind, message, mark)
}

function parseNode(scanner: Scanner, depth: number): StrictNode {
  const { kind, start } = scanner.peek()
  if (kind === 'scalar') {
    const { text, plain } = scanner.take()
    return { kind, text, plain, mark: start }
  }
  if (depth > deepestNesting) fail('the collections are nested too deeply', start, 'crash')
  if (kind === 'sequence-start') return parseList(scanner, start, depth)
  if (kind === 'mapping-start') return parseMap(scanner, start, depth)
  return fail(`expected the node content, but found '${kind}'`, start)
}

function parsePart(scanner: Scanner, depth: number): StrictNode {
  const token = scanner.peek()
  if (token.kind !== 'block-entry') return parseNode(scanner, depth)
  if (token.comment) token.comment.after = false
  const items = parseItems(scanner, depth, ['block-entry', 'key', 'value', 'block-end'])
  scanner.peek()
  return { kind: 'list', items, mark: token.start }
}

function parseList(scanner: Scanner, mark: Mark, depth: number): StrictNode {
  const opening = scanner.peek()
  if (opening.comment?.before === false && opening.comment.after) opening.comment = undefined
  scanner.take()
  const items = parseItems(scanner, depth, ['block-entry', 'block-end'])
  takeBlockEnd(scanner)
  return { kind: 'list', items, mark }
}

function parseItems(scanner: Scanner, depth: number, ends: readonly Token['kind'][]): StrictNode[] {
  const items: StrictNode[] = []
  while (scanner.isAt('block-entry')) {
    const entry = scanner.take()
    moveComment(entry, scanner.peek())
    const isEmpty = scanner.isAt(...ends)
    items.push(isEmpty ? emptyScalar(entry.end) : parseNode(scanner, depth + 1))
  }
  return items
}

function parseMap(scanner: Scanner, mark: Mark, depth: number): StrictMap {
  scanner.take()
  const entries: StrictEntry[] = []
  while (scanner.isAt('key', 'value')) {
    const key = parseKey(scanner, depth + 1)
    entries.push({ key, value: parseValue(scanner, depth + 1) })
  }
  moveComment(takeBlockEnd(scanner), scanner.peek())
  return { kind: 'map', entries, mark }
}

function parseKey(scanner: Scanner, depth: number): StrictNode {
  if (!scanner.isAt('key')) return emptyScalar(scanner.peek().start)
  const token = scanner.take()
  moveComment(token, scanner.peek())
  const isEmpty = scanner.isAt('key', 'value', 'block-end')
  return isEmpty ? emptyScalar(token.end) : parsePart(scanner, depth)
}

function parseValue(scanner: Scanner, depth: number): StrictNode {
  if (!scanner.isAt('value')) return emptyScalar(scanner.peek().start)
  const token = scanner.take()
  if (!scanner.isAt('key')) moveComment(token, scanner.peek())
  if (!scanner.isAt('key', 'value', 'block-end')) return parsePart(scanner, depth)
  const next = scanner.peek()
  if (!token.comment && next.comment) next.comment.after = false
  return emptyScalar(token.end)
}

function takeBlockEnd(scanner: Scanner): Token {
  if (scanner.isAt('block-end')) return scanner.take()
  const { kind, start } = scanner.peek()
  return fail(`expected <block end>, but found '${kind}'`, start)
}

function emptyScalar(mark: Mark): StrictNode {
  return { kind: 'scalar', text: '', plain: true, mark }
}

export interface StrictField {
  name: string
  /** Undefined if the value is not a string: a collection, or a lone `=` or `<<`. */
  text: string | undefined
  mark: Mark
}

/**
 * Returns the fields of a frontmatter as the reference validator reads them; undefined if it is not
 * a mapping. `raw` is the text between the first two `---` of the file. Throws a {@link
 * StrictFailure}, whose position counts from 0 and from the beginning of `raw`.
 */
export function readReferenceFields(raw: string): StrictField[] | undefined {
  const root = parseDocument(raw)
  if (!root) return undefined
  checkNode(root)
  if (root.kind !== 'map') return undefined
  return root.entries.flatMap(({ key, value }) => {
    // A merge key adds nothing to the root that the rules check.
    if (key.kind !== 'scalar' || isMergeKey(key)) return []
    return [{ name: key.text, text: textOf(value), mark: key.mark }]
  })
}

function textOf(node: StrictNode): string | undefined {
  if (node.kind !== 'scalar') return undefined
  return node.plain && (node.text === '=' || node.text === '<<') ? undefined : node.text
}

function isMergeKey(key: StrictNode): boolean {
  return key.kind === 'scalar' && key.plain && key.text === '<<'
}

function checkNode(node: StrictNode): void {
  if (node.kind === 'list') node.items.forEach(checkNode)
  if (node.kind !== 'map') return
  checkMerges(node)
  const entries = node.entries.filter(({ key }) => !isMergeKey(key))
  const identities = new Set<string>()
  for (const { key, value } of entries) {
    checkNode(key)
    const identity = keyIdentity(key)
    checkNode(value)
    if (identities.has(identity)) {
      fail(`Duplicate key '${textOf(key) ?? '[…]'}' found`, key.mark, 'duplicate')
    }
    identities.add(identity)
  }
  const maps = entries.map(({ value }) => value).filter(({ kind }) => kind === 'map')
  const misalignedMap = maps.find(({ mark }) => mark.column !== maps[0]?.mark.column)
  if (misalignedMap) {
    const message = 'Found mapping with indentation inconsistent with previous mapping'
    fail(message, misalignedMap.mark, 'indentation')
  }
  const list = entries.find(({ key }) => key.kind === 'list')
  if (list) fail('a list cannot be a key', list.key.mark, 'crash')
}

/**
 * Returns a text that is equal for equal keys. Lists of texts count as keys until the mapping is
 * complete.
 */
function keyIdentity(key: StrictNode): string {
  if (key.kind === 'scalar') return `text ${key.text}`
  if (key.kind === 'map') return fail('found unhashable key', key.mark)
  const texts = key.items.map((item) => (item.kind === 'scalar' ? item.text : undefined))
  if (texts.includes(undefined)) {
    fail('a list with collections cannot be a key', key.mark, 'crash')
  }
  return `list ${JSON.stringify(texts)}`
}

/** A merge key must lead to a mapping or a list of mappings, and there may be only one. */
function checkMerges(map: StrictMap): void {
  const merges = map.entries.filter(({ key }) => isMergeKey(key))
  for (const { key, value } of merges) {
    for (const source of value.kind === 'list' ? value.items : [value]) {
      if (source.kind !== 'map') {
        fail('expected a mapping or list of mappings for merging', source.mark)
      }
      checkNode(source)
    }
    if (key !== merges[0]?.key) fail('found duplicate key "<<"', key.mark, 'crash')
  }
}
