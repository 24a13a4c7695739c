import {
  forward,
  lineBreaks,
  markOf,
  peek,
  startsWithDocumentEnd,
  type StrictCursor,
  StrictFailure,
  take,
  takeLineBreak,
} from './cursor.ts'
import { foldBreaks } from './plain.ts'
import { createToken, type Token } from './token.ts'

const escapes: Readonly<Record<string, string>> = {
  '0': '\0',
  a: '\u0007',
  b: '\b',
  t: '\t',
  '\t': '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\u001B',
  ' ': ' ',
  '"': '"',
  '/': '/',
  '\\': '\\',
  N: '\u0085',
  _: '\u00A0',
  L: '\u2028',
  P: '\u2029',
}
const escapeLengths: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 }
const hexadecimal = /^[0-9A-Fa-f]$/

export function scanQuoted(cursor: StrictCursor): Token {
  const start = markOf(cursor)
  const quote = peek(cursor)
  forward(cursor)
  let text = scanQuotedText(cursor, quote)
  while (peek(cursor) !== quote) {
    text += scanQuotedGap(cursor) + scanQuotedText(cursor, quote)
  }
  forward(cursor)
  return createToken('scalar', start, markOf(cursor), text)
}

function scanQuotedText(cursor: StrictCursor, quote: string): string {
  let text = ''
  for (;;) {
    let length = 0
    while (!' \n\'"\\\0\t\u0085\u2028\u2029'.includes(peek(cursor, length))) length++
    text += take(cursor, length)
    const character = peek(cursor)
    if (quote === "'" && character === "'" && peek(cursor, 1) === "'") {
      forward(cursor, 2)
      text += "'"
    } else if (quote === '"' ? character === "'" : character === '"' || character === '\\') {
      forward(cursor)
      text += character
    } else if (quote === '"' && character === '\\') {
      text += scanEscape(cursor)
    } else {
      return text
    }
  }
}

function scanEscape(cursor: StrictCursor): string {
  forward(cursor)
  const character = peek(cursor)
  const replacement = Object.hasOwn(escapes, character) ? escapes[character] : undefined
  if (replacement !== undefined) {
    forward(cursor)
    return replacement
  }
  const length = Object.hasOwn(escapeLengths, character) ? escapeLengths[character] : undefined
  if (length !== undefined) {
    forward(cursor)
    return scanCodePoint(cursor, length)
  }
  if (lineBreaks.includes(character)) {
    takeLineBreak(cursor)
    return scanQuotedBreaks(cursor)
  }
  throw new StrictFailure('syntax', `found unknown escape character '${character}'`, cursor)
}

function scanCodePoint(cursor: StrictCursor, length: number): string {
  for (let offset = 0; offset < length; offset++) {
    if (!hexadecimal.test(peek(cursor, offset))) {
      throw new StrictFailure(
        'syntax',
        `expected escape sequence of ${length} hexadecimal numbers`,
        cursor,
      )
    }
  }
  const code = Number.parseInt(take(cursor, length), 16)
  if (code > 0x10ffff) {
    throw new StrictFailure('crash', 'an escape above \\U0010FFFF', cursor)
  }
  // Python keeps two escaped surrogates as two characters, neither of them a letter.
  return code >= 0xd800 && code <= 0xdfff ? '\uFFFD' : String.fromCodePoint(code)
}

function scanQuotedGap(cursor: StrictCursor): string {
  let length = 0
  while (' \t'.includes(peek(cursor, length))) length++
  const spaces = take(cursor, length)
  const character = peek(cursor)
  if (character === '\0') {
    throw new StrictFailure('syntax', 'found unexpected end of stream in a quoted scalar', cursor)
  }
  if (!lineBreaks.includes(character)) return spaces
  const first = takeLineBreak(cursor)
  return foldBreaks(first, scanQuotedBreaks(cursor))
}

function scanQuotedBreaks(cursor: StrictCursor): string {
  let breaks = ''
  for (;;) {
    if (startsWithDocumentEnd(cursor)) {
      throw new StrictFailure('syntax', 'found unexpected document separator', cursor)
    }
    while (' \t'.includes(peek(cursor))) forward(cursor)
    if (!lineBreaks.includes(peek(cursor))) return breaks
    breaks += takeLineBreak(cursor)
  }
}
