/** A place in the frontmatter: line and column count from 0. */
export type Mark = { line: number; column: number }

/** What ends a reading in the reference validator: a reported YAML error, or an exception. */
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
 * with a line ended by `\n` only. NEL, LS and PS break scalars apart but leave the column as it is,
 * and a byte order mark has no width.
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

  /** Takes one line break: `\n` for NEL too, LS and PS as they are, nothing where there is none. */
  takeLineBreak(): string {
    const character = this.peek()
    if (!lineBreaks.includes(character)) return ''
    this.forward()
    return character === '\u0085' ? '\n' : character
  }

  /** Whether `...` stands here; `---` cannot occur, it ends the frontmatter. */
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
   * Whether a comment is attached behind and before the token. The reference validator carries
   * comments along and ends with an exception where two claim one place, which decides its verdict.
   */
  comment: { after: boolean; before: boolean } | undefined
}

export function createToken(kind: TokenKind, start: Mark, end: Mark, text = ''): Token {
  return { kind, start, end, text, plain: false, comment: undefined }
}
