import { type Mark, StrictFailure } from './cursor.ts'
import { createScanner, type StrictScanner } from './state.ts'
import { moveComment, nextIs, peekToken, takeToken } from './stream.ts'
import type { Token } from './token.ts'

export type StrictNode = StrictScalar | StrictList | StrictMap

export interface StrictScalar {
  kind: 'scalar'
  text: string
  plain: boolean
  mark: Mark
}

export interface StrictList {
  kind: 'list'
  items: StrictNode[]
  mark: Mark
}

export interface StrictMap {
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
