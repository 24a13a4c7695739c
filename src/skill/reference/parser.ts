import { type Mark, StrictFailure, type Token } from './cursor.ts'
import {
  createScanner,
  moveComment,
  nextIs,
  peekToken,
  type StrictScanner,
  takeToken,
} from './scanner.ts'

type StrictNode = StrictScalar | StrictList | StrictMap

interface StrictScalar {
  kind: 'scalar'
  text: string
  plain: boolean
  mark: Mark
}

interface StrictList {
  kind: 'list'
  items: StrictNode[]
  mark: Mark
}

interface StrictMap {
  kind: 'map'
  entries: { key: StrictNode; value: StrictNode }[]
  mark: Mark
}

/** Collections inside one another before the reference validator's own stack ends. */
const deepestNesting = 247

/**
 * The only document of a frontmatter, in the dialect of the reference validator (strictyaml); undefined where there is
 * none. Throws a {@link StrictFailure}.
 */
export function parseStrictDocument(text: string): StrictNode | undefined {
  const scanner = createScanner(text)
  moveComment(takeToken(scanner), peekToken(scanner))
  if (nextIs(scanner, 'directive', 'stream-end')) {
    endOfStream(scanner)
    return undefined
  }
  peekToken(scanner)
  const root = parseNode(scanner, { indentless: false, depth: 0 })
  peekToken(scanner)
  if (nextIs(scanner, 'document-end')) takeToken(scanner)
  if (nextIs(scanner, 'directive', 'stream-end')) {
    endOfStream(scanner)
    return root
  }
  const { start } = peekToken(scanner)
  throw new StrictFailure('syntax', 'expected a single document, but found another', start)
}

function endOfStream(scanner: StrictScanner): void {
  if (nextIs(scanner, 'stream-end')) return
  const { start } = peekToken(scanner)
  throw new StrictFailure('syntax', "expected '<document start>' behind a directive", start)
}

function parseNode(
  scanner: StrictScanner,
  place: { indentless: boolean; depth: number },
): StrictNode {
  if (nextIs(scanner, 'alias')) {
    throw new StrictFailure('anchor', 'found undefined alias', takeToken(scanner).start)
  }
  nextIs(scanner, 'anchor', 'tag')
  const { start } = peekToken(scanner)
  const depth = place.depth + 1
  if (place.indentless && nextIs(scanner, 'block-entry')) {
    const token = peekToken(scanner)
    if (token.comment !== undefined) token.comment.after = false
    return parseIndentlessList(scanner, start, depth)
  }
  if (nextIs(scanner, 'scalar')) {
    const token = takeToken(scanner)
    return { kind: 'scalar', text: token.text, plain: token.plain, mark: token.start }
  }
  nextIs(scanner, 'flow-start')
  if (depth > deepestNesting) {
    throw new StrictFailure('crash', 'the collections are nested too deeply', start)
  }
  if (nextIs(scanner, 'sequence-start')) return parseList(scanner, start, depth)
  if (nextIs(scanner, 'mapping-start')) return parseMap(scanner, start, depth)
  const found = peekToken(scanner).kind
  throw new StrictFailure('syntax', `expected the node content, but found '${found}'`, start)
}

function parseList(scanner: StrictScanner, mark: Mark, depth: number): StrictList {
  const opening = peekToken(scanner)
  if (opening.comment?.before === false && opening.comment.after) opening.comment = undefined
  takeToken(scanner)
  const items: StrictNode[] = []
  while (nextIs(scanner, 'block-entry')) {
    const entry = takeToken(scanner)
    moveComment(entry, peekToken(scanner))
    const empty = nextIs(scanner, 'block-entry', 'block-end')
    items.push(empty ? emptyScalar(entry.end) : parseNode(scanner, { indentless: false, depth }))
  }
  takeBlockEnd(scanner)
  return { kind: 'list', items, mark }
}

function parseIndentlessList(scanner: StrictScanner, mark: Mark, depth: number): StrictList {
  const items: StrictNode[] = []
  while (nextIs(scanner, 'block-entry')) {
    const entry = takeToken(scanner)
    moveComment(entry, peekToken(scanner))
    const empty = nextIs(scanner, 'block-entry', 'key', 'value', 'block-end')
    items.push(empty ? emptyScalar(entry.end) : parseNode(scanner, { indentless: false, depth }))
  }
  peekToken(scanner)
  return { kind: 'list', items, mark }
}

function parseMap(scanner: StrictScanner, mark: Mark, depth: number): StrictMap {
  takeToken(scanner)
  const entries: StrictMap['entries'] = []
  while (nextIs(scanner, 'key') || nextIs(scanner, 'value')) {
    const key = parseKey(scanner, depth)
    entries.push({ key, value: parseValue(scanner, depth) })
  }
  moveComment(takeBlockEnd(scanner), peekToken(scanner))
  return { kind: 'map', entries, mark }
}

function parseKey(scanner: StrictScanner, depth: number): StrictNode {
  if (!nextIs(scanner, 'key')) return emptyScalar(peekToken(scanner).start)
  const token = takeToken(scanner)
  moveComment(token, peekToken(scanner))
  if (nextIs(scanner, 'key', 'value', 'block-end')) return emptyScalar(token.end)
  return parseNode(scanner, { indentless: true, depth })
}

function parseValue(scanner: StrictScanner, depth: number): StrictNode {
  if (!nextIs(scanner, 'value')) return emptyScalar(peekToken(scanner).start)
  const token = takeToken(scanner)
  if (nextIs(scanner, 'value') || !nextIs(scanner, 'key')) moveComment(token, peekToken(scanner))
  if (!nextIs(scanner, 'key', 'value', 'block-end')) {
    return parseNode(scanner, { indentless: true, depth })
  }
  if (token.comment === undefined) {
    const next = peekToken(scanner)
    if (next.comment !== undefined) next.comment = { ...next.comment, after: false }
  }
  return emptyScalar(token.end)
}

function takeBlockEnd(scanner: StrictScanner): Token {
  if (nextIs(scanner, 'block-end')) return takeToken(scanner)
  const token = peekToken(scanner)
  throw new StrictFailure('syntax', `expected <block end>, but found '${token.kind}'`, token.start)
}

function emptyScalar(mark: Mark): StrictScalar {
  return { kind: 'scalar', text: '', plain: true, mark }
}

/** What the rules of the reference validator need of one field: its text where it is a string. */
export interface StrictField {
  name: string
  /** Undefined where the value is not a string: a collection, or a lone `=` or `<<`. */
  text: string | undefined
  mark: Mark
}

/** The fields of a root mapping; undefined where the root is something else. Throws as the parser does. */
export function fieldsOf(root: StrictNode | undefined): StrictField[] | undefined {
  if (root === undefined) return undefined
  checkNode(root)
  return root.kind === 'map' ? rootFields(root) : undefined
}

function rootFields(root: StrictMap): StrictField[] {
  return root.entries.flatMap(({ key, value }) => {
    // A merge key brings nothing into the root that the rules could see.
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
  if (node.kind === 'map') checkMap(node)
}

function checkMap(map: StrictMap): void {
  checkMerges(map)
  const entries = map.entries.filter(({ key }) => !isMergeKey(key))
  const seen = new Set<string>()
  for (const { key, value } of entries) {
    checkNode(key)
    const identity = keyIdentity(key)
    checkNode(value)
    if (seen.has(identity)) {
      throw new StrictFailure(
        'duplicate',
        `Duplicate key '${textOf(key) ?? '[…]'}' found`,
        key.mark,
      )
    }
    seen.add(identity)
  }
  checkIndentation(entries)
  const list = entries.find(({ key }) => key.kind === 'list')
  if (list !== undefined) {
    throw new StrictFailure('crash', 'a list cannot be a key', list.key.mark)
  }
}

/** What makes two keys the same. Lists of texts count as keys until the mapping is complete. */
function keyIdentity(key: StrictNode): string {
  if (key.kind === 'scalar') return `text ${key.text}`
  if (key.kind === 'map') throw new StrictFailure('syntax', 'found unhashable key', key.mark)
  const texts = key.items.map((item) => (item.kind === 'scalar' ? item.text : undefined))
  if (texts.includes(undefined)) {
    throw new StrictFailure('crash', 'a list with collections cannot be a key', key.mark)
  }
  return `list ${JSON.stringify(texts)}`
}

function checkIndentation(entries: StrictMap['entries']): void {
  const maps = entries.flatMap(({ value }) => (value.kind === 'map' ? [value] : []))
  const odd = maps.find(({ mark }) => mark.column !== maps[0]?.mark.column)
  if (odd === undefined) return
  const message = 'Found mapping with indentation inconsistent with previous mapping'
  throw new StrictFailure('indentation', message, odd.mark)
}

/** A merge key must lead to a mapping or a list of mappings, and there may be only one. */
function checkMerges(map: StrictMap): void {
  const merges = map.entries.filter(({ key }) => isMergeKey(key))
  for (const { key, value } of merges) {
    const sources = value.kind === 'list' ? value.items : [value]
    for (const source of sources) {
      if (source.kind !== 'map') {
        throw new StrictFailure(
          'syntax',
          'expected a mapping or list of mappings for merging',
          source.mark,
        )
      }
      checkNode(source)
    }
    if (key !== merges[0]?.key) {
      throw new StrictFailure('crash', 'found duplicate key "<<"', key.mark)
    }
  }
}
