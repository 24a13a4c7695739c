import {
  blanksAndLineEnds,
  forward,
  lineBreaks,
  markOf,
  peek,
  startsWithDocumentEnd,
  type StrictCursor,
  take,
  takeLineBreak,
} from './cursor.ts'
import { createToken, type Token } from './token.ts'

/** A plain scalar, and whether the cursor crossed a line break behind its last text. */
export function scanPlain(
  cursor: StrictCursor,
  indent: number,
  inFlow: boolean,
): { token: Token; endedOnNewLine: boolean } {
  const start = markOf(cursor)
  let end = start
  let text = ''
  let gap: string | undefined = ''
  let endedOnNewLine = false
  let blankLinesFollow = false
  while (peek(cursor) !== '#') {
    const length = plainLength(cursor, inFlow)
    if (length === 0) break
    endedOnNewLine = false
    text += gap + take(cursor, length)
    end = markOf(cursor)
    const gapReading = scanPlainGap(cursor)
    gap = gapReading.gap
    endedOnNewLine = gapReading.brokeLine
    blankLinesFollow = gap?.startsWith('\n') ?? false
    if (!gap || peek(cursor) === '#' || (!inFlow && cursor.column < indent)) break
  }
  const token = createToken('scalar', start, end, text)
  token.plain = true
  if (blankLinesFollow) token.comment = { after: true, before: false }
  return { token, endedOnNewLine }
}

function plainLength(cursor: StrictCursor, inFlow: boolean): number {
  let length = 0
  for (;;) {
    const character = peek(cursor, length)
    if (blanksAndLineEnds.includes(character)) return length
    if (character === ':') {
      if (blanksAndLineEnds.includes(peek(cursor, length + 1))) return length
    } else if (inFlow && ',[]{}'.includes(character)) {
      return length
    }
    length++
  }
}

/** What stands between two stretches of a plain scalar; undefined at the end of the document. */
function scanPlainGap(cursor: StrictCursor): { gap: string | undefined; brokeLine: boolean } {
  let length = 0
  while (peek(cursor, length) === ' ') length++
  const spaces = take(cursor, length)
  if (!lineBreaks.includes(peek(cursor))) return { gap: spaces, brokeLine: false }
  const first = takeLineBreak(cursor)
  if (startsWithDocumentEnd(cursor)) return { gap: undefined, brokeLine: true }
  let breaks = ''
  while (peek(cursor) === ' ' || lineBreaks.includes(peek(cursor))) {
    if (peek(cursor) === ' ') {
      forward(cursor)
    } else {
      breaks += takeLineBreak(cursor)
      if (startsWithDocumentEnd(cursor)) return { gap: undefined, brokeLine: true }
    }
  }
  return { gap: foldBreaks(first, breaks), brokeLine: true }
}

/** One line break is a space; of several the first is left out. LS and PS stay as they are. */
export function foldBreaks(first: string, breaks: string): string {
  if (first !== '\n') return first + breaks
  return breaks === '' ? ' ' : breaks
}
