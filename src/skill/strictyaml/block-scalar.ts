import {
  atDocumentEnd,
  forward,
  lineBreaks,
  lineEnds,
  markOf,
  peek,
  skipLine,
  skipSpaces,
  type StrictCursor,
  StrictFailure,
  take,
  takeLineBreak,
} from './cursor.ts'
import { createToken, type Token } from './token.ts'

/** A block scalar. `trailing` is true where line breaks behind it are not part of its text. */
export function scanBlockScalar(
  cursor: StrictCursor,
  parentIndent: number,
): { token: Token; trailing: boolean } {
  const start = markOf(cursor)
  const folded = peek(cursor) === '>'
  forward(cursor)
  const header = scanBlockHeader(cursor)
  let minimum = parentIndent + 1
  let indent: number
  let breaks: string
  if (header.increment === undefined) {
    const leading = scanBlockIndentation(cursor)
    indent = Math.max(minimum, leading.indent)
    breaks = leading.breaks
  } else {
    minimum = Math.max(minimum, 1)
    indent = minimum + header.increment - 1
    breaks = scanBlockBreaks(cursor, indent)
  }
  let text = ''
  let lineBreak = ''
  while (cursor.column === indent && peek(cursor) !== '\0') {
    text += breaks
    const startsWithText = !' \t'.includes(peek(cursor))
    let length = 0
    while (!lineEnds.includes(peek(cursor, length))) length++
    text += take(cursor, length)
    lineBreak = takeLineBreak(cursor)
    breaks = scanBlockBreaks(cursor, indent)
    if (minimum === 0 && atDocumentEnd(cursor)) break
    if (cursor.column !== indent || peek(cursor) === '\0') break
    const folds = folded && lineBreak === '\n' && startsWithText && !' \t'.includes(peek(cursor))
    if (!folds) text += lineBreak
    else if (breaks === '') text += ' '
  }
  if (header.chomping !== '-') text += lineBreak
  if (header.chomping === '+') text += breaks
  const token = createToken('scalar', start, markOf(cursor), text)
  if (header.comment) token.comment = { after: false, before: true }
  return { token, trailing: header.chomping !== '+' && breaks !== '' }
}

interface BlockHeader {
  chomping: '+' | '-' | ''
  increment: number | undefined
  comment: boolean
}

function scanBlockHeader(cursor: StrictCursor): BlockHeader {
  let chomping = takeChomping(cursor)
  const increment = takeIncrement(cursor)
  if (chomping === '' && increment !== undefined) chomping = takeChomping(cursor)
  if (peek(cursor) !== ' ' && !lineEnds.includes(peek(cursor))) {
    throw new StrictFailure('syntax', 'expected chomping or indentation indicators', cursor)
  }
  skipSpaces(cursor)
  const comment = peek(cursor) === '#'
  if (comment) skipLine(cursor)
  if (!lineEnds.includes(peek(cursor))) {
    throw new StrictFailure('syntax', 'expected a comment or a line break', cursor)
  }
  takeLineBreak(cursor)
  return { chomping, increment, comment }
}

function takeChomping(cursor: StrictCursor): '+' | '-' | '' {
  const character = peek(cursor)
  if (character !== '+' && character !== '-') return ''
  forward(cursor)
  return character
}

function takeIncrement(cursor: StrictCursor): number | undefined {
  const character = peek(cursor)
  if (!/^[0-9]$/.test(character)) return undefined
  if (character === '0') {
    throw new StrictFailure('syntax', 'expected an indentation indicator from 1 to 9', cursor)
  }
  forward(cursor)
  return Number(character)
}

function scanBlockIndentation(cursor: StrictCursor): { breaks: string; indent: number } {
  let breaks = ''
  let indent = 0
  while (peek(cursor) === ' ' || lineBreaks.includes(peek(cursor))) {
    if (peek(cursor) === ' ') {
      forward(cursor)
      indent = Math.max(indent, cursor.column)
    } else {
      breaks += takeLineBreak(cursor)
    }
  }
  return { breaks, indent }
}

function scanBlockBreaks(cursor: StrictCursor, indent: number): string {
  let breaks = ''
  const skipIndent = (): void => {
    while (cursor.column < indent && peek(cursor) === ' ') forward(cursor)
  }
  skipIndent()
  while (lineBreaks.includes(peek(cursor))) {
    breaks += takeLineBreak(cursor)
    skipIndent()
  }
  return breaks
}
