export function scanPlain(cursor: Cursor, indent: number) {
  const start = cursor.mark
  let end = start
  let text = ''
  let gap: PlainGap = { text: '', brokeLine: false }
  while (cursor.peek() !== '#') {
    const part = cursor.take(plainLength(cursor))
    if (part === '') break
    text += gap.text + part
    end = cursor.mark
    gap = takePlainGap(cursor)
    if (!gap.text || cursor.column < indent) break
  }
  const token: Token = { ...createToken('scalar', start, end, text), plain: true }
  if (gap.text.startsWith('\n')) token.comment = { after: true, before: false }
  return { token, endedOnNewLine: gap.brokeLine }
}

function plainLength(cursor: Cursor): number {
  let length = 0
  for (;;) {
    const character = cursor.peek(length)
    if (blanksAndLineEnds.includes(character)) return length
    if (character === ':' && blanksAndLineEnds.includes(cursor.peek(length + 1))) return length
    length++
  }
}

/** The text between two parts of a plain scalar; empty at the end of the document. */
type PlainGap = { text: string; brokeLine: boolean }

function takePlainGap(cursor: Cursor): PlainGap {
  const spaces = cursor.takeAll(' ')
  const first = cursor.takeLineBreak()
  if (first === '') return { text: spaces, brokeLine: false }
  if (cursor.isAtDots()) return { text: '', brokeLine: true }
  let breaks = ''
  while (cursor.isAt(' ' + lineBreaks)) {
    if (cursor.takeAll(' ') !== '') continue
    breaks += cursor.takeLineBreak()
    if (cursor.isAtDots()) return { text: '', brokeLine: true }
  }
  return { text: foldBreaks(first, breaks), brokeLine: true }
}

/** One line break becomes a space; the first of several is left out. LS and PS stay unchanged. */
function foldBreaks(first: string, breaks: string): string {
  return first === '\n' ? breaks || ' ' : first + breaks
}

export function scanQuoted(cursor: Cursor): Token {
  const start = cursor.mark
  const quote = cursor.take(1)
  let text = scanQuotedText(cursor, quote)
  while (cursor.peek() !== quote) {
    const spaces = cursor.takeAll(' \t')
    if (cursor.peek() === '\0') cursor.fail('found unexpected end of stream in a quoted scalar')
    const first = cursor.takeLineBreak()
    text += first === '' ? spaces : foldBreaks(first, scanQuotedBreaks(cursor))
    text += scanQuotedText(cursor, quote)
  }
  cursor.forward()
  return createToken('scalar', start, cursor.mark, text)
}

function scanQuotedText(cursor: Cursor, quote: string): string {
  let text = ''
  for (;;) {
    text += cursor.takeUntil(' \n\'"\\\0\t\u0085\u2028\u2029')
    const character = cursor.peek()
    if (quote === "'" && character === "'" && cursor.peek(1) === "'") {
      cursor.forward()
      text += cursor.take(1)
    } else if (character !== quote && `'"${quote === "'" ? '\\' : ''}`.includes(character)) {
      text += cursor.take(1)
    } else if (quote === '"' && character === '\\') text += scanEscape(cursor)
    else return text
  }
}

/** Each character after a backslash, followed by its meaning. */
const escapes = '0\0a\u0007b\bt\t\t\tn\nv\vf\fr\re\u001b  ""//\\\\N\u0085_\u00a0L\u2028P\u2029'
const escapeLengths: Readonly<Record<string, number | undefined>> = { x: 2, u: 4, U: 8 }

function scanEscape(cursor: Cursor): string {
  cursor.forward()
  const character = cursor.peek()
  for (let at = 0; at < escapes.length; at += 2) {
    if (escapes.charAt(at) !== character) continue
    cursor.forward()
    return escapes.charAt(at + 1)
  }
  const length = Object.hasOwn(escapeLengths, character) ? escapeLengths[character] : undefined
  if (length !== undefined) {
    cursor.forward()
    return scanCodePoint(cursor, length)
  }
  if (cursor.takeLineBreak() !== '') return scanQuotedBreaks(cursor)
  return cursor.fail(`found unknown escape character '${character}'`)
}

function scanCodePoint(cursor: Cursor, length: number): string {
  const digits = Array.from({ length }, (_, offset) => cursor.peek(offset)).join('')
  if (!/^[0-9A-Fa-f]+$/.test(digits)) {
    cursor.fail(`expected escape sequence of ${length} hexadecimal numbers`)
  }
  cursor.forward(length)
  const code = Number.parseInt(digits, 16)
  if (code > 0x10ffff) cursor.fail('an escape above \\U0010FFFF', 'crash')
  // Python keeps two escaped surrogates as two characters, neither of them a letter.
  return code >= 0xd800 && code <= 0xdfff ? '\uFFFD' : String.fromCodePoint(code)
}

function scanQuotedBreaks(cursor: Cursor): string {
  let breaks = ''
  for (;;) {
    if (cursor.isAtDots()) cursor.fail('found unexpected document separator')
    cursor.takeAll(' \t')
    if (!cursor.isAt(lineBreaks)) return breaks
    breaks += cursor.takeLineBreak()
  }
}

/**
 * Reads a block scalar. `trailing` is true if the line breaks after it are not part of its text.
 */
export function scanBlockScalar(cursor: Cursor, parentIndent: number) {
  const start = cursor.mark
  const isFolded = cursor.take(1) === '>'
  const { chomping, increment, comment } = scanBlockHeader(cursor)
  const minimum = Math.max(parentIndent + 1, increment === undefined ? 0 : 1)
  let { indent, breaks } =
    increment === undefined
      ? scanBlockIndentation(cursor)
      : { indent: minimum + increment - 1, breaks: '' }
  indent = Math.max(indent, minimum)
  if (increment !== undefined) breaks = scanBlockBreaks(cursor, indent)
  let text = ''
  let lineBreak = ''
  while (cursor.column === indent && cursor.peek() !== '\0') {
    text += breaks
    const startsWithText = !cursor.isAt(' \t')
    text += cursor.takeUntil(lineEnds)
    lineBreak = cursor.takeLineBreak()
    breaks = scanBlockBreaks(cursor, indent)
    if (minimum === 0 && cursor.column === 0 && cursor.isAtDots()) break
    if (cursor.column !== indent || cursor.peek() === '\0') break
    const folds = isFolded && lineBreak === '\n' && startsWithText && !cursor.isAt(' \t')
    if (!folds) text += lineBreak
    else if (breaks === '') text += ' '
  }
  if (chomping !== '-') text += lineBreak
  if (chomping === '+') text += breaks
  const token = createToken('scalar', start, cursor.mark, text)
  if (comment) token.comment = { after: false, before: true }
  return { token, trailing: chomping !== '+' && breaks !== '' }
}

function scanBlockHeader(cursor: Cursor) {
  let chomping = takeOneOf(cursor, '+-')
  if (cursor.peek() === '0') cursor.fail('expected an indentation indicator from 1 to 9')
  const increment = takeOneOf(cursor, '123456789')
  if (chomping === '' && increment !== '') chomping = takeOneOf(cursor, '+-')
  if (!cursor.isAt(' ' + lineEnds)) cursor.fail('expected chomping or indentation indicators')
  cursor.takeAll(' ')
  const comment = cursor.peek() === '#'
  if (comment) cursor.takeUntil(lineEnds)
  if (!cursor.isAt(lineEnds)) cursor.fail('expected a comment or a line break')
  cursor.takeLineBreak()
  return { chomping, increment: increment === '' ? undefined : Number(increment), comment }
}

function takeOneOf(cursor: Cursor, characters: string): string {
  return cursor.isAt(characters) ? cursor.take(1) : ''
}

function scanBlockIndentation(cursor: Cursor): { breaks: string; indent: number } {
  let breaks = ''
  let indent = 0
  while (cursor.isAt(' ' + lineBreaks)) {
    if (cursor.takeAll(' ') === '') breaks += cursor.takeLineBreak()
    else indent = Math.max(indent, cursor.column)
  }
  return { breaks, indent }
}

function scanBlockBreaks(cursor: Cursor, indent: number): string {
  let breaks = ''
  for (;;) {
    while (cursor.column < indent && cursor.peek() === ' ') cursor.forward()
    if (!cursor.isAt(lineBreaks)) return breaks
    breaks += cursor.takeLineBreak()
  }
}

/** A place in the frontmatter: line and column count from 0. */
export type Mark = { line: number; column: number }

/** An error that stops the reference validator: a reported YAML error, or an exception. */
export class StrictFailure extends Error {
  readonly kind: StrictFailureKind
  readonly mark: Mark

  constructor(kind: StrictFailureKind, message: string, { line, column }: Mark) {
    super(message)
    this.kind = kind
    this.mark = { line, column }
  }
}

export type StrictFailureKind =
  | 'syntax'
  | 'flow'
  | 'tag'
  | 'anchor'
  | 'duplicate'
  | 'indentation'
  | 'crash'

export const lineBreaks = '\n\u0085\u2028\u2029'
export const lineEnds: string = lineBreaks + '\0'
export const blanksAndLineEnds: string = lineEnds + ' \t'

const unprintable = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u

/**
 * A position in the frontmatter as the reference validator's YAML reader counts it: in code points,
 * with a line ended by `\n` only. NEL, LS and PS split scalars but do not change the column, and a
 * byte order mark has no width.
 */
export class Cursor implements Mark {
  readonly #characters: readonly string[]
  index = 0
  line = 0
  column = 0

  constructor(text: string) {
    this.#characters = Array.from(text)
    const offender = unprintable.exec(text)
    if (offender !== null) {
      this.forward(Array.from(text.slice(0, offender.index)).length)
      const code = offender[0].codePointAt(0)?.toString(16).padStart(4, '0')
      this.fail(`the character U+${code} is not allowed`, 'crash')
    }
    if (this.peek() === '\ufeff') this.forward()
  }

  get mark(): Mark {
    return { line: this.line, column: this.column }
  }

  fail(message: string, kind: StrictFailureKind = 'syntax'): never {
    throw new StrictFailure(kind, message, this)
  }

  peek(offset = 0): string {
    return this.#characters[this.index + offset] ?? '\0'
  }

  isAt(characters: string): boolean {
    return characters.includes(this.peek())
  }

  forward(length = 1): void {
    for (let count = 0; count < length; count++) {
      const character = this.peek()
      this.index++
      if (character === '\n') {
        this.line++
        this.column = 0
      } else if (character !== '\ufeff') this.column++
    }
  }

  take(length: number): string {
    const text = this.#characters.slice(this.index, this.index + length).join('')
    this.forward(length)
    return text
  }

  takeUntil(ends: string): string {
    let length = 0
    while (!ends.includes(this.peek(length))) length++
    return this.take(length)
  }

  takeAll(characters: string): string {
    let length = 0
    while (characters.includes(this.peek(length))) length++
    return this.take(length)
  }

  /** Consumes one line break: returns `\n` for NEL too, LS and PS unchanged, or an empty text. */
  takeLineBreak(): string {
    const character = this.peek()
    if (!lineBreaks.includes(character)) return ''
    this.forward()
    return character === '\u0085' ? '\n' : character
  }

  /** Whether `...` is at this position; `---` cannot occur, since it ends the frontmatter. */
  isAtDots(): boolean {
    const dots = this.peek() + this.peek(1) + this.peek(2) === '...'
    return dots && blanksAndLineEnds.includes(this.peek(3))
  }
}

export type TokenKind =
  | 'stream-start'
  | 'stream-end'
  | 'document-end'
  | 'sequence-start'
  | 'mapping-start'
  | 'block-end'
  | 'block-entry'
  | 'key'
  | 'value'
  | 'scalar'
  | 'comment'

export interface Token {
  kind: TokenKind
  start: Mark
  end: Mark
  text: string
  /** A plain scalar; quoted and block scalars are not. */
  plain: boolean
  /**
   * Whether a comment is attached after and before the token. The reference validator keeps
   * comments and ends with an exception if two have one place, which decides its verdict.
   */
  comment: { after: boolean; before: boolean } | undefined
}

export function createToken(kind: TokenKind, start: Mark, end: Mark, text = ''): Token {
  return { kind, start, end, text, plain: false, comment: undefined }
}
