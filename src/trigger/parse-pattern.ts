import { type Construct, portabilityNote, type PortabilityNote } from './portability.ts'

/**
 * A pattern as a tree, for the constructs that we read ourselves. Groups have no node: nothing asks
 * what a group captured. Lazy or greedy makes no difference to a yes or no.
 */
export type PatternNode =
  | { kind: 'empty' }
  | { kind: 'literal'; text: string }
  | { kind: 'any' }
  /** As it is written: `[a-z]`, `\d`. */
  | { kind: 'class'; source: string }
  /** The beginning and the end of the line: patterns are tested on one line at a time. */
  | { kind: 'start' }
  | { kind: 'end' }
  | { kind: 'boundary' }
  | { kind: 'concat'; items: readonly PatternNode[] }
  | { kind: 'alternate'; items: readonly PatternNode[] }
  /** `max` is Infinity for `*`, `+` and `{n,}`. */
  | { kind: 'repeat'; child: PatternNode; min: number; max: number }

export interface PatternProblem {
  code: 'pattern-invalid' | 'pattern-unsupported' | 'pattern-too-long' | 'pattern-too-large'
  /** A sentence without the pattern itself. */
  message: string
  /** UTF-16 offset into the pattern. */
  offset: number
  hint?: string | undefined
}

type ParsedPattern =
  /** `tree` is undefined where only the RE2 library reads a construct, `(?i)` say. */
  | { ok: true; tree: PatternNode | undefined; notes: readonly PortabilityNote[] }
  | { ok: false; problem: PatternProblem }

/** Reads a pattern with the meaning of RE2. Pure; time is linear in the length. */
export function parsePattern(source: string): ParsedPattern {
  const parser = new PatternParser(source)
  try {
    return { ok: true, tree: parser.readPattern(), notes: parser.notes }
  } catch (error) {
    if (error instanceof ForeignConstruct) return { ok: true, tree: undefined, notes: parser.notes }
    if (error instanceof PatternProblemError) return { ok: false, problem: error.problem }
    throw error
  }
}

/** Ends the reading: only the RE2 library reads what follows. */
class ForeignConstruct extends Error {}

class PatternProblemError extends Error {
  readonly problem: PatternProblem

  constructor(problem: PatternProblem) {
    super(problem.message)
    this.problem = problem
  }
}

function invalid(offset: number, message: string, hint?: string): PatternProblemError {
  return new PatternProblemError({ code: 'pattern-invalid', message, offset, hint })
}

function unsupported(offset: number, message: string, hint: string): PatternProblemError {
  return new PatternProblemError({ code: 'pattern-unsupported', message, offset, hint })
}

const metacharacters = '\\^$.|?*+()[]{}'
const controls: Readonly<Record<string, string>> = {
  a: '\u0007',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

/** The sets in characters that every engine reads alike, where there are such. */
const portableClasses: Readonly<Record<string, string | undefined>> = {
  d: '0-9',
  w: 'A-Za-z0-9_',
  alnum: 'A-Za-z0-9',
  alpha: 'A-Za-z',
  digit: '0-9',
  lower: 'a-z',
  upper: 'A-Z',
  word: 'A-Za-z0-9_',
  xdigit: '0-9A-Fa-f',
}

/** The names between `[:` and `:]`; `word` is an addition of RE2. */
const posixClasses: ReadonlySet<string> = new Set(
  'alnum alpha ascii blank cntrl digit graph lower print punct space upper word xdigit'.split(' '),
)

/** RE2's limit for a repetition, and for repetitions inside one another. */
const mostRepetitions = 1000

class PatternParser {
  readonly notes: PortabilityNote[] = []
  private readonly source: string
  private at = 0

  constructor(source: string) {
    this.source = source
  }

  readPattern(): PatternNode {
    const tree = this.readAlternation(0)
    if (this.at < this.source.length) {
      const hint = 'Write `\\)` for a parenthesis in the prompt.'
      throw invalid(this.at, 'a `)` closes no group', hint)
    }
    checkRepeatSize(tree)
    return tree
  }

  private note(construct: Construct, start: number, rewrite?: string): void {
    this.notes.push(portabilityNote(construct, this.source, start, this.at, rewrite))
  }

  private match(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.at
    return expression.exec(this.source)
  }

  private readAlternation(depth: number): PatternNode {
    const branches: PatternNode[] = []
    for (;;) {
      const start = this.at
      branches.push(this.readBranch(depth))
      const sign = this.source[this.at]
      const isAlone = branches.length === 1 && sign !== '|'
      if (this.at === start && (!isAlone || depth > 0)) this.note('empty-branch', start)
      if (sign !== '|') break
      this.at++
    }
    const [only = { kind: 'empty' }] = branches
    return branches.length === 1 ? only : { kind: 'alternate', items: branches }
  }

  private readBranch(depth: number): PatternNode {
    const first = this.at
    const items: PatternNode[] = []
    while (this.at < this.source.length && !'|)'.includes(this.source.charAt(this.at))) {
      const start = this.at
      const atom = this.readAtom(depth)
      const item = this.readRepetition(atom)
      items.push(item)
      if (atom.kind !== 'start' && atom.kind !== 'end') continue
      const next = this.source[this.at]
      const isEnd = next === undefined || next === '|' || next === ')'
      const isAtEdge = atom.kind === 'start' ? start === first : isEnd
      if (!isAtEdge || item !== atom) this.note('anchor-inside', start)
    }
    return concat(items)
  }

  private readAtom(depth: number): PatternNode {
    const start = this.at
    const sign = this.source.charAt(start)
    switch (sign) {
      case '(':
        return this.readGroup(depth)
      case '[':
        return this.readClass()
      case '\\':
        return this.readEscape()
      case '.':
        this.at++
        return { kind: 'any' }
      case '^':
        this.at++
        return { kind: 'start' }
      case '$':
        this.at++
        return { kind: 'end' }
      case '*':
      case '+':
      case '?':
        throw invalid(
          start,
          `\`${sign}\` repeats nothing`,
          `Write \`\\${sign}\` for the character.`,
        )
      default:
        break
    }
    if (sign === '{' && this.intervalHere() !== undefined) {
      throw invalid(start, 'an interval repeats nothing', 'Write `[{]` for a brace in the prompt.')
    }
    const text = String.fromCodePoint(this.source.codePointAt(start) ?? 0)
    this.at += text.length
    if (sign === '{') this.note('literal-brace', start, '[{]')
    return { kind: 'literal', text }
  }

  private readGroup(depth: number): PatternNode {
    const start = this.at
    this.at++
    if (this.source[this.at] === '?') this.openSpecialGroup(start)
    const child = this.readAlternation(depth + 1)
    if (this.source[this.at] !== ')') {
      throw invalid(start, 'a `(` is not closed', 'Write `\\(` for a parenthesis in the prompt.')
    }
    this.at++
    return child
  }

  private openSpecialGroup(start: number): void {
    this.at = start
    const [opening = ''] = this.match(/\(\?(?:<?[=!]|:|P?<|[a-zA-Z-]*[:)]?)/y) ?? []
    this.at = start + opening.length
    if (/[=!]$/.test(opening)) {
      const what = opening.includes('<') ? 'lookbehind' : 'lookahead'
      const hint = 'Say in the pattern what the prompt has, not what surrounds it.'
      throw unsupported(start, `a ${what} \`${opening}\` is not supported`, hint)
    }
    if (opening === '(?:') return this.note('group-syntax', start, '(')
    this.note(opening.endsWith('<') ? 'group-syntax' : 'flags', start)
    throw new ForeignConstruct()
  }

  private readRepetition(child: PatternNode): PatternNode {
    const start = this.at
    const bounds = this.readBounds()
    if (bounds === undefined) return child
    if (this.source[this.at] === '?') {
      this.at++
      this.note('lazy', this.at - 1, '')
    }
    const next = this.source[this.at]
    if ((next !== undefined && '*+?'.includes(next)) || this.intervalHere() !== undefined) {
      const hint = 'Put the first one in parentheses, or leave one out.'
      throw invalid(start, 'a repetition is repeated', hint)
    }
    return { kind: 'repeat', child, ...bounds }
  }

  private readBounds(): { min: number; max: number } | undefined {
    const start = this.at
    const sign = this.source[start]
    if (sign === '*' || sign === '+' || sign === '?') {
      this.at++
      return { min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : Infinity }
    }
    const interval = this.intervalHere()
    if (interval === undefined) return undefined
    const { min, max, length } = interval
    this.at += length
    this.note('interval', start)
    return { min, max }
  }

  /** `{n}`, `{n,}` or `{n,m}` at this place; undefined where RE2 reads the brace as text. */
  private intervalHere(): { min: number; max: number; length: number } | undefined {
    const match = this.match(/\{(0|[1-9]\d*)(?:(,)(0|[1-9]\d*)?)?\}/y)
    if (match === null) return undefined
    const [written, low = '', comma, high] = match
    const min = Number(low)
    const max = comma === undefined ? min : high === undefined ? Infinity : Number(high)
    if (min > mostRepetitions || (max > mostRepetitions && max !== Infinity)) {
      const hint = `At most ${mostRepetitions} work.`
      throw invalid(this.at, `the interval \`${written}\` is too large`, hint)
    }
    if (min > max) {
      throw invalid(this.at, `the interval \`${written}\` has its ends in the wrong order`)
    }
    return { min, max, length: written.length }
  }

  /** Reads a backslash outside brackets and what it makes of the characters after it. */
  private readEscape(): PatternNode {
    const start = this.at
    const letter = this.source[start + 1] ?? ''
    if (/[dswDSW]/.test(letter)) {
      this.at += 2
      const small = letter.toLowerCase()
      const portable = portableClasses[small]
      this.note('perl-class', start, portable && `[${letter === small ? '' : '^'}${portable}]`)
      return { kind: 'class', source: `\\${letter}` }
    }
    if (letter === 'b' || letter === 'B') {
      this.at += 2
      this.note('word-boundary', start)
      return { kind: 'boundary' }
    }
    if (letter === 'A' || letter === 'z') {
      this.at += 2
      this.note('text-anchor', start, letter === 'A' ? '^' : '$')
      return { kind: letter === 'A' ? 'start' : 'end' }
    }
    return { kind: 'literal', text: this.readCharacterEscape('needless-escape') }
  }

  private readClass(): PatternNode {
    const start = this.at
    const first = start + (this.source[start + 1] === '^' ? 2 : 1)
    if (this.source[first] === ']') {
      this.at = first + 1
      this.note('class-bracket', start)
    }
    this.at = first
    while (this.source[this.at] !== ']' || this.at === first) {
      if (this.at >= this.source.length) {
        throw invalid(start, 'a `[` is not closed', 'Write `\\[` for a bracket in the prompt.')
      }
      if (!this.readNamedSet()) this.readRange()
    }
    this.at++
    return { kind: 'class', source: this.source.slice(start, this.at) }
  }

  /** Reads `[:digit:]` or `\d` inside brackets; false where there is none. */
  private readNamedSet(): boolean {
    const start = this.at
    // As the RE2 library does: up to the next `:]`, wherever it is; `[:]` is a class without a name.
    const named = this.match(/\[(?::(\^?)([^]*?))?:\]/y)
    if (named !== null) {
      const [written, caret = '', name = ''] = named
      if (!posixClasses.has(name)) {
        throw invalid(start, `there is no class \`${written.slice(0, 40)}\``)
      }
      this.at += written.length
      this.note('posix-class', start, caret === '' ? portableClasses[name] : undefined)
      return true
    }
    const [, letter] = this.match(/\\([dswDSW])/y) ?? []
    if (letter === undefined) return false
    this.at += 2
    this.note('class-escape', start, portableClasses[letter])
    return true
  }

  private readRange(): void {
    const start = this.at
    const low = this.readClassCharacter()
    if (this.match(/-(?!\]|$)/y) === null) return
    this.at++
    const high = this.readClassCharacter()
    if (low <= high) return
    throw invalid(start, `the range \`${this.source.slice(start, this.at)}\` runs backwards`)
  }

  private readClassCharacter(): number {
    const start = this.at
    if (this.source[start] === '\\') {
      return this.readCharacterEscape('class-escape').codePointAt(0) ?? 0
    }
    const code = this.source.codePointAt(start)
    if (code === undefined) throw invalid(start, 'a `[` is not closed')
    this.at += code > 0xffff ? 2 : 1
    if (code > 0x7f) this.note('class-non-ascii', start)
    return code
  }

  /** Reads a backslash that stands for one character. `plain` is the note where none is needed. */
  private readCharacterEscape(plain: 'needless-escape' | 'class-escape'): string {
    const start = this.at
    const next = this.source[start + 1]
    if (next === undefined) {
      throw invalid(start, 'a backslash ends the pattern', 'Write `\\\\` for a backslash.')
    }
    if (this.match(/\\(?:[pPQ0]|[1-7][0-7])/y) !== null) {
      this.at += 2
      this.note(/[pP]/.test(next) ? 'unicode-class' : 'control-escape', start)
      throw new ForeignConstruct()
    }
    if (/[1-9]/.test(next)) {
      const hint = 'Write the repeated text out, or use two triggers.'
      throw unsupported(start, `a back-reference \`\\${next}\` is not supported`, hint)
    }
    if (next === 'x') return this.readHexadecimal()
    const control = controls[next]
    if (control === undefined && (/[A-Za-z]/.test(next) || next > '\u007f')) {
      throw invalid(start, `\`\\${next}\` is not an escape`, `Write \`${next}\` for the character.`)
    }
    this.at += 2
    if (control !== undefined) this.note('control-escape', start)
    else if (plain === 'class-escape') this.note('class-escape', start)
    else if (/[`'<>]/.test(next)) this.note('gnu-anchor', start, next)
    else if (!metacharacters.includes(next)) this.note('needless-escape', start, next)
    return control ?? next
  }

  private readHexadecimal(): string {
    const start = this.at
    const match = this.match(/\\x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,8})\})/y)
    const code = Number.parseInt(match?.[1] ?? match?.[2] ?? '', 16)
    if (match === null || !(code <= 0x10ffff)) {
      throw invalid(start, '`\\x` wants two hexadecimal digits, or some in braces')
    }
    this.at += match[0].length
    this.note('control-escape', start)
    return String.fromCodePoint(code)
  }
}

/** Refuses intervals inside intervals whose product is too large, as RE2 does. */
function checkRepeatSize(node: PatternNode, left: number = mostRepetitions): void {
  if (node.kind === 'concat' || node.kind === 'alternate') {
    for (const item of node.items) checkRepeatSize(item, left)
  }
  if (node.kind !== 'repeat') return
  const { min, max, child } = node
  const isInterval = !(min <= 1 && max === Infinity) && !(min === 0 && max === 1)
  const times = !isInterval ? 1 : max === Infinity ? min : max
  if (times > left) {
    const message = `intervals inside one another repeat more than ${mostRepetitions} times`
    throw invalid(0, message)
  }
  checkRepeatSize(child, times > 0 ? Math.floor(left / times) : left)
}

function concat(items: readonly PatternNode[]): PatternNode {
  const flat: PatternNode[] = []
  for (const item of items) {
    for (const part of sequenceOf(item)) {
      const last = flat.at(-1)
      if (part.kind === 'literal' && last?.kind === 'literal') {
        flat[flat.length - 1] = { kind: 'literal', text: last.text + part.text }
      } else flat.push(part)
    }
  }
  const [only = { kind: 'empty' }] = flat
  return flat.length > 1 ? { kind: 'concat', items: flat } : only
}

/** The parts of a sequence; a node that is none is a sequence of itself. */
export function sequenceOf(node: PatternNode): readonly PatternNode[] {
  if (node.kind === 'concat') return node.items
  return node.kind === 'empty' ? [] : [node]
}
