import { isUtf8 } from 'node:buffer'
import {
  atDocumentEnd,
  blanksAndLineEnds,
  createToken,
  forward,
  lineBreaks,
  lineEnds,
  markOf,
  peek,
  skipLine,
  skipSpaces,
  startsWithDocumentEnd,
  type StrictCursor,
  StrictFailure,
  take,
  takeLineBreak,
  type Token,
} from './cursor.ts'

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
function foldBreaks(first: string, breaks: string): string {
  if (first !== '\n') return first + breaks
  return breaks === '' ? ' ' : breaks
}

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

const uriCharacter = /^[0-9A-Za-z\-;/?:@&=+$,_.!~*'()[\]%#]$/
const handleCharacter = /^[0-9A-Za-z_-]$/

/** `&name` or `*name`. It is refused later; here only what is not a name at all. */
export function scanAnchor(cursor: StrictCursor, kind: 'alias' | 'anchor'): Token {
  const start = markOf(cursor)
  forward(cursor)
  let length = 0
  while (!' \t\n\0\u0085,[]{}\uFEFF'.includes(peek(cursor, length))) length++
  forward(cursor, length)
  if (length === 0 || peek(cursor) === '\uFEFF') {
    throw new StrictFailure('syntax', `expected a name for the ${kind}`, cursor)
  }
  return createToken(kind, start, markOf(cursor))
}

/** A tag in any of its forms: `!<uri>`, `!`, `!handle!suffix`, `!suffix`. */
export function scanTag(cursor: StrictCursor): Token {
  const start = markOf(cursor)
  if (peek(cursor, 1) === '<') {
    forward(cursor, 2)
    skipUri(cursor)
    expect(cursor, '>')
  } else if (blanksAndLineEnds.includes(peek(cursor, 1))) {
    forward(cursor)
  } else {
    skipHandle(cursor)
    skipUri(cursor)
  }
  if (peek(cursor) !== ' ' && !lineEnds.includes(peek(cursor))) {
    throw new StrictFailure('syntax', "expected ' ' behind a tag", cursor)
  }
  return createToken('tag', start, markOf(cursor))
}

/** `!` alone, or up to a second `!` where one follows before the next blank. */
function skipHandle(cursor: StrictCursor): void {
  let length = 1
  while (peek(cursor, length) !== ' ' && !lineEnds.includes(peek(cursor, length))) {
    if (peek(cursor, length) === '!') return skipNamedHandle(cursor)
    length++
  }
  forward(cursor)
}

function skipNamedHandle(cursor: StrictCursor): void {
  forward(cursor)
  while (handleCharacter.test(peek(cursor))) forward(cursor)
  expect(cursor, '!')
}

function skipUri(cursor: StrictCursor): void {
  const from = cursor.index
  while (uriCharacter.test(peek(cursor))) {
    if (peek(cursor) === '%') skipEscapes(cursor)
    else forward(cursor)
  }
  if (cursor.index === from) throw new StrictFailure('syntax', 'expected a URI in a tag', cursor)
}

function skipEscapes(cursor: StrictCursor): void {
  const bytes: number[] = []
  while (peek(cursor) === '%') {
    const digits = peek(cursor, 1) + (peek(cursor, 1) === '\0' ? '' : peek(cursor, 2))
    if (!/^[0-9A-Fa-f]{2}$/.test(digits)) {
      throw new StrictFailure('syntax', 'expected two hexadecimal numbers in a tag', cursor)
    }
    bytes.push(Number.parseInt(digits, 16))
    forward(cursor, 3)
  }
  if (!isUtf8(Uint8Array.from(bytes))) {
    throw new StrictFailure('syntax', 'the escapes in a tag are not UTF-8', cursor)
  }
}

function expect(cursor: StrictCursor, character: string): void {
  if (peek(cursor) !== character) {
    throw new StrictFailure('syntax', `expected '${character}' in a tag`, cursor)
  }
  forward(cursor)
}
