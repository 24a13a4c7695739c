import { type Mark, markOf, StrictFailure } from './cursor.ts'
import { push, type StrictScanner } from './state.ts'
import type { TokenKind } from './token.ts'

const longestSimpleKey = 1024

/** Opens a block collection at the cursor where it is indented deeper than the current one. */
export function startBlock(scanner: StrictScanner, kind: TokenKind, refusal: string): void {
  if (scanner.flows.length > 0) return
  if (!scanner.keyAllowed) throw new StrictFailure('syntax', refusal, scanner.cursor)
  if (addIndent(scanner, scanner.cursor.column)) push(scanner, kind, 0)
}

export function addIndent(scanner: StrictScanner, column: number): boolean {
  if (scanner.indent >= column) return false
  scanner.indents.push(scanner.indent)
  scanner.indent = column
  return true
}

export function unwindIndent(scanner: StrictScanner, column: number): void {
  if (scanner.flows.length > 0) return
  while (scanner.indent > column) {
    scanner.indent = scanner.indents.pop() ?? -1
    push(scanner, 'block-end', 0)
  }
}

export function savePossibleKey(scanner: StrictScanner): void {
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

export function removePossibleKey(scanner: StrictScanner): void {
  const level = scanner.flows.length
  const key = scanner.possibleKeys.get(level)
  if (key === undefined) return
  if (key.required) failWithoutColon(key)
  scanner.possibleKeys.delete(level)
}

export function dropStaleKeys(scanner: StrictScanner): void {
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
