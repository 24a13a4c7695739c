import { scanToNextToken } from './blanks.ts'
import { scanBlockScalar } from './block-scalar.ts'
import {
  atDocumentEnd,
  blanksAndLineEnds,
  peek,
  skipLine,
  type StrictCursor,
  StrictFailure,
} from './cursor.ts'
import { scanAnchor, scanTag } from './property.ts'
import { scanQuoted } from './quoted.ts'
import { scanPlain } from './plain.ts'
import { push, type StrictScanner } from './state.ts'
import {
  addIndent,
  dropStaleKeys,
  removePossibleKey,
  savePossibleKey,
  startBlock,
  unwindIndent,
} from './structure.ts'
import { createToken, type Token } from './token.ts'

export function needsMoreTokens(scanner: StrictScanner): boolean {
  if (scanner.done) return false
  if (scanner.tokens.length === 0) return true
  dropStaleKeys(scanner)
  for (const key of scanner.possibleKeys.values()) {
    if (key.tokenNumber === scanner.tokensTaken) return true
  }
  return false
}

export function fetchMoreTokens(scanner: StrictScanner): void {
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
