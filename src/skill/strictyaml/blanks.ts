import {
  forward,
  lineBreaks,
  lineEnds,
  markOf,
  peek,
  skipLine,
  skipSpaces,
  type StrictCursor,
  takeLineBreak,
} from './cursor.ts'
import type { StrictScanner } from './state.ts'
import { createToken, type Token } from './token.ts'

/** Skips blanks up to the next token; a comment or a run of blank lines is a token of its own. */
export function scanToNextToken(scanner: StrictScanner): Token | undefined {
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
