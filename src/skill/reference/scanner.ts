import {
  Cursor,
  type Mark,
  StrictFailure,
  type Token,
  type TokenKind,
  blanksAndLineEnds,
  createToken,
  lineEnds,
  scanBlockScalar,
  scanPlain,
  scanQuoted,
} from './scalars.ts'

/**
 * Moves the comments of a consumed token to the next one; two comments for one place are a crash.
 */
export function moveComment(token: Token, target: Token): void {
  const { comment } = token
  if (!comment || target.kind === 'stream-end') return
  token.comment = undefined
  const { after = false, before = false } = target.comment ?? {}
  if ((comment.after && after) || (comment.before && before)) {
    throw new StrictFailure('crash', 'two comments claim one place', target.start)
  }
  target.comment = { after: comment.after || after, before: comment.before || before }
}

export class Scanner {
  readonly #cursor: Cursor
  readonly #tokens: Token[] = []
  #consumed = 0
  #indent = -1
  readonly #indents: number[] = []
  #keyAllowed = true
  /**
   * Where a key without `?` may have started: its token becomes a key when a `:` follows in time.
   */
  #possibleKey: { token: number; required: boolean; index: number; mark: Mark } | undefined
  #done = false

  constructor(text: string) {
    this.#cursor = new Cursor(text)
    this.#push('stream-start', 0)
  }

  peek(): Token {
    while (this.#needsMore()) this.#fetch()
    let hasComment = this.#dropComment()
    while (this.#needsMore()) {
      this.#fetch()
      hasComment = this.#dropComment() || hasComment
    }
    const [token] = this.#tokens
    if (!token) return this.#cursor.fail('no token is left', 'crash')
    if (hasComment) {
      if (token.comment?.before) {
        throw new StrictFailure('crash', 'two comments claim one place', token.start)
      }
      token.comment = { after: token.comment?.after ?? false, before: true }
    }
    if (!this.#done && this.#tokens.length < 2) this.#fetch()
    return token
  }

  isAt(...kinds: readonly TokenKind[]): boolean {
    return kinds.includes(this.peek().kind)
  }

  take(): Token {
    const token = this.peek()
    if (token.kind === 'scalar' || token.kind === 'value') this.#attachComments(token)
    this.#consumed++
    this.#tokens.shift()
    return token
  }

  #attachComments(token: Token): void {
    const next = this.#tokens[1]
    if (next?.kind !== 'comment') return
    if (token.kind !== 'scalar' && token.end.line !== next.start.line) return
    do {
      this.#consumed++
      this.#tokens.splice(1, 1)
      this.#fetch()
    } while (this.#tokens[1]?.kind === 'comment')
    token.comment = { after: true, before: token.comment?.before ?? false }
  }

  #dropComment(): boolean {
    if (this.#tokens[0]?.kind !== 'comment') return false
    this.#tokens.shift()
    this.#consumed++
    return true
  }

  #needsMore(): boolean {
    if (this.#done) return false
    if (this.#tokens.length === 0) return true
    this.#dropStaleKey()
    return this.#possibleKey?.token === this.#consumed
  }

  #fetch(): void {
    const cursor = this.#cursor
    const comment = this.#skipToToken()
    if (comment) {
      this.#tokens.push(comment)
      return
    }
    this.#dropStaleKey()
    this.#unwindIndent(cursor.column)
    const character = cursor.peek()
    const isAlone = blanksAndLineEnds.includes(cursor.peek(1))
    if (character === '\0') return this.#fetchEnd('stream-end')
    if (character === '.' && cursor.column === 0 && cursor.isAtDots()) {
      return this.#fetchEnd('document-end')
    }
    if (character === '%' && cursor.column === 0) return this.#refuseDirective()
    if (character === '-' && isAlone) {
      return this.#fetchIndicator('sequence-start', 'block-entry', 'sequence entries')
    }
    if (character === '?' && isAlone) {
      return this.#fetchIndicator('mapping-start', 'key', 'mapping keys')
    }
    if (character === ':' && isAlone) return this.#fetchValue()
    if (character === '|' || character === '>') return this.#fetchBlockScalar()
    refuseMarkup(cursor)
    this.#savePossibleKey()
    const { token, endedOnNewLine } =
      character === "'" || character === '"'
        ? { token: scanQuoted(cursor), endedOnNewLine: false }
        : scanPlain(cursor, this.#indent + 1)
    this.#keyAllowed = endedOnNewLine
    this.#tokens.push(token)
  }

  #fetchEnd(kind: 'stream-end' | 'document-end'): void {
    this.#unwindIndent(-1)
    this.#dropPossibleKey()
    this.#keyAllowed = false
    this.#push(kind, kind === 'document-end' ? 3 : 0)
    this.#done = kind === 'stream-end'
  }

  #refuseDirective(): never {
    this.#unwindIndent(-1)
    this.#dropPossibleKey()
    return this.#cursor.fail("expected '<document start>' behind a directive")
  }

  #fetchIndicator(
    collection: 'sequence-start' | 'mapping-start',
    kind: 'block-entry' | 'key' | 'value',
    subject: string,
  ): void {
    const { column } = this.#cursor
    if (!this.#keyAllowed) this.#cursor.fail(`${subject} are not allowed here`)
    if (this.#addIndent(column)) this.#push(collection, 0)
    this.#dropPossibleKey()
    this.#push(kind, 1)
  }

  #fetchValue(): void {
    const key = this.#possibleKey
    if (!key) {
      return this.#fetchIndicator('mapping-start', 'value', 'mapping values')
    }
    this.#possibleKey = undefined
    const at = key.token - this.#consumed
    this.#tokens.splice(at, 0, createToken('key', key.mark, key.mark))
    if (this.#addIndent(key.mark.column)) {
      this.#tokens.splice(at, 0, createToken('mapping-start', key.mark, key.mark))
    }
    this.#keyAllowed = false
    this.#push('value', 1)
  }

  #fetchBlockScalar(): void {
    this.#keyAllowed = true
    this.#dropPossibleKey()
    const { token, trailing } = scanBlockScalar(this.#cursor, this.#indent)
    if (trailing) {
      while (this.#skipToToken());
      token.comment = { after: true, before: token.comment?.before ?? false }
    }
    this.#tokens.push(token)
  }

  #push(kind: TokenKind, length: number): void {
    const start = this.#cursor.mark
    this.#cursor.forward(length)
    this.#tokens.push(createToken(kind, start, this.#cursor.mark))
  }

  #addIndent(column: number): boolean {
    if (this.#indent >= column) return false
    this.#indents.push(this.#indent)
    this.#indent = column
    return true
  }

  #unwindIndent(column: number): void {
    while (this.#indent > column) {
      this.#indent = this.#indents.pop() ?? -1
      this.#push('block-end', 0)
    }
  }

  #savePossibleKey(): void {
    if (!this.#keyAllowed) return
    const { index, column, mark } = this.#cursor
    this.#dropPossibleKey()
    const token = this.#consumed + this.#tokens.length
    this.#possibleKey = { token, required: this.#indent === column, index, mark }
  }

  #dropStaleKey(): void {
    const key = this.#possibleKey
    const { line, index } = this.#cursor
    const longest = 1024
    if (key && (key.mark.line !== line || index - key.index > longest)) {
      this.#dropPossibleKey()
    }
  }

  #dropPossibleKey(): void {
    const key = this.#possibleKey
    this.#possibleKey = undefined
    if (!key?.required) return
    throw new StrictFailure('syntax', "could not find expected ':' while scanning a key", key.mark)
  }

  /** Skips blanks up to the next token; a comment or a run of blank lines is a token of its own. */
  #skipToToken(): Token | undefined {
    const cursor = this.#cursor
    for (;;) {
      cursor.takeAll(' ')
      const start = cursor.mark
      if (cursor.peek() === '#') {
        cursor.takeUntil(lineEnds)
        while (cursor.takeLineBreak() !== '');
        this.#keyAllowed = true
        return createToken('comment', start, cursor.mark)
      }
      if (cursor.takeLineBreak() === '') return undefined
      this.#keyAllowed = true
      if (cursor.peek() === '\n') {
        const blankLines = cursor.mark
        // Tabs count as blank here and nowhere else.
        cursor.takeAll('\n\u0085\u2028\u2029 \t')
        return createToken('comment', blankLines, cursor.mark)
      }
    }
  }
}

/** Throws for flow collections, tags, anchors, aliases and characters that begin no scalar. */
function refuseMarkup(cursor: Cursor): void {
  const quotes = "(surround with ' and ' to make text appear literally)"
  switch (cursor.peek()) {
    case '[':
    case '{':
      return cursor.fail(`Found ugly disallowed JSONesque flow mapping ${quotes}`, 'flow')
    case '!':
      return cursor.fail('Found disallowed tag tokens (do not specify types in markup)', 'tag')
    case '&':
      return cursor.fail(`Found confusing disallowed anchor token ${quotes}`, 'anchor')
    case '*':
      return cursor.fail('found undefined alias', 'anchor')
    default:
      if (!cursor.isAt(',]}%@`\t')) return
      cursor.fail(`found character ${JSON.stringify(cursor.peek())} that cannot start any token`)
  }
}
