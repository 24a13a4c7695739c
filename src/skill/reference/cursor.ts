/**
 * A position in the frontmatter as the reference validator's YAML reader counts it: in code points,
 * with a line ended by `\n` only. NEL, LS and PS break scalars apart but leave the column as it is,
 * and a byte order mark has no width.
 */
export interface StrictCursor {
  /** Code points, closed by a NUL. */
  readonly characters: readonly string[]
  index: number
  line: number
  column: number
}

export interface Mark {
  line: number
  column: number
}

/** What ends a reading in the reference validator: a reported YAML error, or an exception. */
export class StrictFailure extends Error {
  readonly kind: StrictFailureKind
  readonly mark: Mark

  constructor(kind: StrictFailureKind, message: string, mark: Mark) {
    super(message)
    this.kind = kind
    this.mark = { line: mark.line, column: mark.column }
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

export function createCursor(text: string): StrictCursor {
  const characters = Array.from(`${text}\0`)
  const cursor = { characters, index: 0, line: 0, column: 0 }
  const offender = unprintable.exec(text)
  if (offender !== null) {
    forward(cursor, Array.from(text.slice(0, offender.index)).length)
    const code = offender[0].codePointAt(0)?.toString(16).padStart(4, '0')
    throw new StrictFailure('crash', `the character U+${code} is not allowed`, cursor)
  }
  return cursor
}

export function peek(cursor: StrictCursor, offset = 0): string {
  const character = cursor.characters[cursor.index + offset]
  if (character === undefined) {
    throw new StrictFailure('crash', 'the reader ran over the end of the frontmatter', cursor)
  }
  return character
}

export function take(cursor: StrictCursor, length: number): string {
  const text = cursor.characters.slice(cursor.index, cursor.index + length).join('')
  forward(cursor, length)
  return text
}

export function forward(cursor: StrictCursor, length = 1): void {
  for (let count = 0; count < length; count++) {
    const character = cursor.characters[cursor.index]
    cursor.index++
    if (character === '\n') {
      cursor.line++
      cursor.column = 0
    } else if (character !== '\uFEFF') {
      cursor.column++
    }
  }
}

export function markOf(cursor: StrictCursor): Mark {
  return { line: cursor.line, column: cursor.column }
}

/** Takes one line break: `\n` for NEL too, LS and PS as they are, nothing where there is none. */
export function takeLineBreak(cursor: StrictCursor): string {
  const character = peek(cursor)
  if (!lineBreaks.includes(character)) return ''
  forward(cursor)
  return character === '\u0085' ? '\n' : character
}

export function skipSpaces(cursor: StrictCursor): void {
  while (peek(cursor) === ' ') forward(cursor)
}

export function skipLine(cursor: StrictCursor): void {
  while (!lineEnds.includes(peek(cursor))) forward(cursor)
}

/** `...` on the first column ends a document; `---` cannot occur, it ends the frontmatter. */
export function atDocumentEnd(cursor: StrictCursor): boolean {
  return cursor.column === 0 && startsWithDocumentEnd(cursor)
}

export function startsWithDocumentEnd(cursor: StrictCursor): boolean {
  const { characters, index } = cursor
  return (
    characters[index] === '.' &&
    characters[index + 1] === '.' &&
    characters[index + 2] === '.' &&
    blanksAndLineEnds.includes(peek(cursor, 3))
  )
}

export type TokenKind =
  | 'stream-start'
  | 'stream-end'
  | 'directive'
  | 'document-end'
  | 'sequence-start'
  | 'mapping-start'
  | 'block-end'
  | 'flow-start'
  | 'flow-end'
  | 'flow-entry'
  | 'block-entry'
  | 'key'
  | 'value'
  | 'alias'
  | 'anchor'
  | 'tag'
  | 'scalar'
  | 'comment'

export interface Token {
  kind: TokenKind
  start: Mark
  end: Mark
  text: string
  /** A plain scalar; quoted and block scalars are not. */
  plain: boolean
  comment: CommentSlots | undefined
}

/**
 * Whether a comment is attached behind and before a token. The reference validator carries comments
 * along and ends with an exception where two of them claim one place, which decides its verdict.
 */
interface CommentSlots {
  after: boolean
  before: boolean
}

export function createToken(kind: TokenKind, start: Mark, end: Mark, text = ''): Token {
  return { kind, start, end, text, plain: false, comment: undefined }
}
