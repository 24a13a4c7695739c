import {
  atDocumentEnd,
  blanksAndLineEnds,
  createCursor,
  createToken,
  forward,
  lineBreaks,
  lineEnds,
  type Mark,
  markOf,
  peek,
  skipLine,
  skipSpaces,
  type StrictCursor,
  StrictFailure,
  takeLineBreak,
  type Token,
  type TokenKind,
} from './cursor.ts'
import { scanAnchor, scanBlockScalar, scanPlain, scanQuoted, scanTag } from './scalars.ts'

const refusals: Partial<Record<TokenKind, { kind: 'tag' | 'flow' | 'anchor'; message: string }>> = {
  tag: { kind: 'tag', message: 'Found disallowed tag tokens (do not specify types in markup)' },
  'flow-start': {
    kind: 'flow',
    message:
      "Found ugly disallowed JSONesque flow mapping (surround with ' and ' to make text appear literally)",
  },
  anchor: {
    kind: 'anchor',
    message:
      "Found confusing disallowed anchor token (surround with ' and ' to make text appear literally)",
  },
}

/** Whether the next token is of one of the kinds. Tags, flow collections and anchors end here. */
export function nextIs(scanner: StrictScanner, ...kinds: readonly TokenKind[]): boolean {
  const token = peekToken(scanner)
  if (!kinds.includes(token.kind)) return false
  const refusal = refusals[token.kind]
  if (refusal !== undefined) throw new StrictFailure(refusal.kind, refusal.message, token.start)
  return true
}

export function peekToken(scanner: StrictScanner): Token {
  fillTokens(scanner)
  gatherComments(scanner)
  return firstToken(scanner)
}

export function takeToken(scanner: StrictScanner): Token {
  fillTokens(scanner)
  gatherComments(scanner)
  const token = firstToken(scanner)
  if (token.kind === 'scalar' || token.kind === 'value' || token.kind === 'flow-end') {
    attachFollowingComments(scanner, token)
  }
  scanner.tokensTaken++
  scanner.tokens.shift()
  return token
}

/** Hands the comments of a taken token on to the next one; two claims on one place are a crash. */
export function moveComment(token: Token, target: Token): void {
  const { comment } = token
  if (comment === undefined || target.kind === 'stream-end') return
  token.comment = undefined
  if (target.comment === undefined) {
    target.comment = comment
    return
  }
  const overlap =
    (comment.after && target.comment.after) || (comment.before && target.comment.before)
  if (overlap) throw new StrictFailure('crash', 'two comments claim one place', target.start)
  target.comment.after ||= comment.after
  target.comment.before ||= comment.before
}

function fillTokens(scanner: StrictScanner): void {
  while (needsMoreTokens(scanner)) fetchMoreTokens(scanner)
}

function firstToken(scanner: StrictScanner): Token {
  const token = scanner.tokens[0]
  if (token === undefined) throw new StrictFailure('crash', 'no token is left', scanner.cursor)
  return token
}

function gatherComments(scanner: StrictScanner): void {
  let gathered = takeComment(scanner)
  while (needsMoreTokens(scanner)) {
    fetchMoreTokens(scanner)
    gathered = takeComment(scanner) || gathered
  }
  if (gathered) {
    const token = firstToken(scanner)
    if (token.comment?.before === true) {
      throw new StrictFailure('crash', 'two comments claim one place', token.start)
    }
    token.comment = { after: token.comment?.after ?? false, before: true }
  }
  if (!scanner.done && scanner.tokens.length < 2) fetchMoreTokens(scanner)
}

function takeComment(scanner: StrictScanner): boolean {
  if (scanner.tokens[0]?.kind !== 'comment') return false
  scanner.tokens.shift()
  scanner.tokensTaken++
  return true
}

function attachFollowingComments(scanner: StrictScanner, token: Token): void {
  const next = scanner.tokens[1]
  if (next?.kind !== 'comment') return
  if (token.kind !== 'scalar' && token.end.line !== next.start.line) return
  do {
    scanner.tokensTaken++
    scanner.tokens.splice(1, 1)
    fetchMoreTokens(scanner)
  } while (scanner.tokens[1]?.kind === 'comment')
  token.comment = { after: true, before: token.comment?.before ?? false }
}

function needsMoreTokens(scanner: StrictScanner): boolean {
  if (scanner.done) return false
  if (scanner.tokens.length === 0) return true
  dropStaleKeys(scanner)
  for (const key of scanner.possibleKeys.values()) {
    if (key.tokenNumber === scanner.tokensTaken) return true
  }
  return false
}

function fetchMoreTokens(scanner: StrictScanner): void {
  const { cursor } = scanner
  const comment = scanToNextToken(scanner)
  if (comment !== undefined) {
    scanner.tokens.push(comment)
    return
  }
  dropStaleKeys(scanner)
  unwindIndent(scanner, cursor.column)
  const character = peek(cursor)
  const fetch = fetchers[character]
  if (fetch?.(scanner) === true) return
  if (canStartPlain(scanner, character)) return fetchPlain(scanner)
  const shown = JSON.stringify(character)
  throw new StrictFailure('syntax', `found character ${shown} that cannot start any token`, cursor)
}

type Fetch = (scanner: StrictScanner) => boolean

const fetchers: Readonly<Record<string, Fetch | undefined>> = {
  '\0': fetchStreamEnd,
  '%': fetchDirective,
  '.': fetchDocumentEnd,
  '[': (scanner) => fetchFlowStart(scanner, '['),
  '{': (scanner) => fetchFlowStart(scanner, '{'),
  ']': fetchFlowEnd,
  '}': fetchFlowEnd,
  ',': fetchFlowEntry,
  '-': fetchBlockEntry,
  '?': fetchKey,
  ':': fetchValue,
  '*': (scanner) => fetchProperty(scanner, (cursor) => scanAnchor(cursor, 'alias')),
  '&': (scanner) => fetchProperty(scanner, (cursor) => scanAnchor(cursor, 'anchor')),
  '!': (scanner) => fetchProperty(scanner, scanTag),
  '|': fetchBlockScalar,
  '>': fetchBlockScalar,
  "'": fetchQuoted,
  '"': fetchQuoted,
}

function fetchStreamEnd(scanner: StrictScanner): boolean {
  unwindIndent(scanner, -1)
  removePossibleKey(scanner)
  scanner.keyAllowed = false
  scanner.possibleKeys.clear()
  push(scanner, 'stream-end', 0)
  scanner.done = true
  return true
}

function fetchDirective(scanner: StrictScanner): boolean {
  if (scanner.cursor.column !== 0) return false
  unwindIndent(scanner, -1)
  removePossibleKey(scanner)
  scanner.keyAllowed = false
  push(scanner, 'directive', 0)
  skipLine(scanner.cursor)
  return true
}

function fetchDocumentEnd(scanner: StrictScanner): boolean {
  if (!atDocumentEnd(scanner.cursor)) return false
  unwindIndent(scanner, -1)
  removePossibleKey(scanner)
  scanner.keyAllowed = false
  push(scanner, 'document-end', 3)
  return true
}

function fetchFlowStart(scanner: StrictScanner, bracket: '[' | '{'): boolean {
  savePossibleKey(scanner)
  scanner.flows.push(bracket)
  scanner.keyAllowed = true
  push(scanner, 'flow-start', 1)
  return true
}

function fetchFlowEnd(scanner: StrictScanner): boolean {
  removePossibleKey(scanner)
  scanner.flows.pop()
  scanner.keyAllowed = false
  push(scanner, 'flow-end', 1)
  return true
}

function fetchFlowEntry(scanner: StrictScanner): boolean {
  scanner.keyAllowed = true
  removePossibleKey(scanner)
  push(scanner, 'flow-entry', 1)
  return true
}

function fetchBlockEntry(scanner: StrictScanner): boolean {
  if (!nextIsBlank(scanner)) return false
  startBlock(scanner, 'sequence-start', 'sequence entries are not allowed here')
  scanner.keyAllowed = true
  removePossibleKey(scanner)
  push(scanner, 'block-entry', 1)
  return true
}

function fetchKey(scanner: StrictScanner): boolean {
  const inFlow = scanner.flows.length > 0
  if (!inFlow && !nextIsBlank(scanner)) return false
  startBlock(scanner, 'mapping-start', 'mapping keys are not allowed here')
  scanner.keyAllowed = !inFlow
  removePossibleKey(scanner)
  push(scanner, 'key', 1)
  return true
}

function fetchValue(scanner: StrictScanner): boolean {
  if (!isValueIndicator(scanner)) return false
  const level = scanner.flows.length
  const key = scanner.possibleKeys.get(level)
  if (key === undefined) {
    startBlock(scanner, 'mapping-start', 'mapping values are not allowed here')
    scanner.keyAllowed = level === 0
    removePossibleKey(scanner)
  } else {
    scanner.possibleKeys.delete(level)
    const at = key.tokenNumber - scanner.tokensTaken
    scanner.tokens.splice(at, 0, createToken('key', key.mark, key.mark))
    if (level === 0 && addIndent(scanner, key.mark.column)) {
      scanner.tokens.splice(at, 0, createToken('mapping-start', key.mark, key.mark))
    }
    scanner.keyAllowed = false
  }
  push(scanner, 'value', 1)
  return true
}

function isValueIndicator(scanner: StrictScanner): boolean {
  if (scanner.flows.length === 0) return nextIsBlank(scanner)
  const afterValue = scanner.tokens.at(-1)?.kind === 'value'
  return scanner.flows.at(-1) === '[' || afterValue ? nextIsBlank(scanner) : true
}

function fetchProperty(scanner: StrictScanner, scan: (cursor: StrictCursor) => Token): boolean {
  savePossibleKey(scanner)
  scanner.keyAllowed = false
  scanner.tokens.push(scan(scanner.cursor))
  return true
}

function fetchBlockScalar(scanner: StrictScanner): boolean {
  if (scanner.flows.length > 0) return false
  scanner.keyAllowed = true
  removePossibleKey(scanner)
  const { token, trailing } = scanBlockScalar(scanner.cursor, scanner.indent)
  if (trailing) {
    while (scanToNextToken(scanner) !== undefined);
    token.comment = { after: true, before: token.comment?.before ?? false }
  }
  scanner.tokens.push(token)
  return true
}

function fetchQuoted(scanner: StrictScanner): boolean {
  savePossibleKey(scanner)
  scanner.keyAllowed = false
  scanner.tokens.push(scanQuoted(scanner.cursor))
  return true
}

function fetchPlain(scanner: StrictScanner): void {
  savePossibleKey(scanner)
  const inFlow = scanner.flows.length > 0
  const { token, endedOnNewLine } = scanPlain(scanner.cursor, scanner.indent + 1, inFlow)
  scanner.keyAllowed = endedOnNewLine
  scanner.tokens.push(token)
}

function canStartPlain(scanner: StrictScanner, character: string): boolean {
  if (!'\0 \t\n\u0085\u2028\u2029-?:,[]{}#&*!|>\'"%@`'.includes(character)) return true
  const inFlow = scanner.flows.length > 0
  if (character === ':' && inFlow) return !' \t'.includes(peek(scanner.cursor, 1))
  return !nextIsBlank(scanner) && (character === '-' || (!inFlow && '?:'.includes(character)))
}

function nextIsBlank(scanner: StrictScanner): boolean {
  return blanksAndLineEnds.includes(peek(scanner.cursor, 1))
}

/** Where a key without `?` may have started: its token becomes a key when a `:` follows in time. */
interface PossibleKey {
  tokenNumber: number
  required: boolean
  index: number
  mark: Mark
}

/** The tokens of a document, read as lazily as the reference validator reads them. */
export interface StrictScanner {
  cursor: StrictCursor
  tokens: Token[]
  tokensTaken: number
  done: boolean
  indent: number
  indents: number[]
  keyAllowed: boolean
  /** By flow level. */
  possibleKeys: Map<number, PossibleKey>
  flows: ('[' | '{')[]
}

export function createScanner(text: string): StrictScanner {
  const cursor = createCursor(text)
  if (cursor.characters[0] === '\uFEFF') forward(cursor)
  return {
    cursor,
    tokens: [createToken('stream-start', markOf(cursor), markOf(cursor))],
    tokensTaken: 0,
    done: false,
    indent: -1,
    indents: [],
    keyAllowed: true,
    possibleKeys: new Map(),
    flows: [],
  }
}

/** Adds a token that spans the next `length` characters. */
function push(scanner: StrictScanner, kind: TokenKind, length: number): void {
  const start = markOf(scanner.cursor)
  forward(scanner.cursor, length)
  scanner.tokens.push(createToken(kind, start, markOf(scanner.cursor)))
}

const longestSimpleKey = 1024

/** Opens a block collection at the cursor where it is indented deeper than the current one. */
function startBlock(scanner: StrictScanner, kind: TokenKind, refusal: string): void {
  if (scanner.flows.length > 0) return
  if (!scanner.keyAllowed) throw new StrictFailure('syntax', refusal, scanner.cursor)
  if (addIndent(scanner, scanner.cursor.column)) push(scanner, kind, 0)
}

function addIndent(scanner: StrictScanner, column: number): boolean {
  if (scanner.indent >= column) return false
  scanner.indents.push(scanner.indent)
  scanner.indent = column
  return true
}

function unwindIndent(scanner: StrictScanner, column: number): void {
  if (scanner.flows.length > 0) return
  while (scanner.indent > column) {
    scanner.indent = scanner.indents.pop() ?? -1
    push(scanner, 'block-end', 0)
  }
}

function savePossibleKey(scanner: StrictScanner): void {
  if (!scanner.keyAllowed) return
  const { cursor } = scanner
  const level = scanner.flows.length
  const required = level === 0 && scanner.indent === cursor.column
  removePossibleKey(scanner)
  scanner.possibleKeys.set(level, {
    tokenNumber: scanner.tokensTaken + scanner.tokens.length,
    required,
    index: cursor.index,
    mark: markOf(cursor),
  })
}

function removePossibleKey(scanner: StrictScanner): void {
  const level = scanner.flows.length
  const key = scanner.possibleKeys.get(level)
  if (key === undefined) return
  if (key.required) failWithoutColon(key)
  scanner.possibleKeys.delete(level)
}

function dropStaleKeys(scanner: StrictScanner): void {
  const { cursor } = scanner
  for (const [level, key] of scanner.possibleKeys) {
    if (key.mark.line === cursor.line && cursor.index - key.index <= longestSimpleKey) continue
    if (key.required) failWithoutColon(key)
    scanner.possibleKeys.delete(level)
  }
}

function failWithoutColon(key: { mark: Mark }): never {
  throw new StrictFailure('syntax', "could not find expected ':' while scanning a key", key.mark)
}

/** Skips blanks up to the next token; a comment or a run of blank lines is a token of its own. */
function scanToNextToken(scanner: StrictScanner): Token | undefined {
  const { cursor } = scanner
  for (;;) {
    skipSpaces(cursor)
    if (peek(cursor) === '#') return scanComment(scanner)
    if (takeLineBreak(cursor) === '') return undefined
    allowKey(scanner)
    if (peek(cursor) === '\n') return scanBlankLines(cursor)
  }
}

function scanComment(scanner: StrictScanner): Token {
  const { cursor } = scanner
  const start = markOf(cursor)
  skipLine(cursor)
  if (lineBreaks.includes(peek(cursor))) forward(cursor)
  while (takeLineBreak(cursor) !== '');
  allowKey(scanner)
  return createToken('comment', start, markOf(cursor))
}

/** Tabs count as blank here and nowhere else. */
function scanBlankLines(cursor: StrictCursor): Token {
  const start = markOf(cursor)
  while (peek(cursor) !== '\0' && `${lineEnds} \t`.includes(peek(cursor))) {
    if (takeLineBreak(cursor) === '') forward(cursor)
  }
  return createToken('comment', start, markOf(cursor))
}

function allowKey(scanner: StrictScanner): void {
  if (scanner.flows.length === 0) scanner.keyAllowed = true
}
