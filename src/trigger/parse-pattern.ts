import { type Construct, portabilityNote, type PortabilityNote } from './portability.ts'

/**
 * A pattern as a tree, for the constructs that we read ourselves. Groups have no node: nothing asks
 * what a group captured. Lazy or greedy makes no difference to a yes or no.
 */
export type PatternNode =
  | { kind: 'empty' }
  | { kind: 'literal'; text: string }
  | { kind: 'any' }
  /** The beginning and the end of the line: patterns are tested on one line at a time. */
  | { kind: 'start' }
  | { kind: 'end' }
  | { kind: 'concat'; items: readonly PatternNode[] }
  | { kind: 'alternate'; items: readonly PatternNode[] }
  /** `max` is Infinity for `*`, `+` and `{n,}`. */
  | { kind: 'repeat'; child: PatternNode; min: number; max: number }

/**
 * What we read of a pattern. `tree` is undefined for one with a construct that only the RE2 library
 * reads, `(?i)` say, and for one that may be invalid: RE2 tells which.
 */
interface ParsedPattern {
  tree: PatternNode | undefined
  /** Up to that construct. */
  notes: readonly PortabilityNote[]
}

/** Reads a pattern with the meaning of RE2. Pure; time is linear in the length. */
export function parsePattern(source: string): ParsedPattern {
  const parser = new PatternParser(source)
  try {
    return { tree: parser.readPattern(), notes: parser.notes }
  } catch (error) {
    if (error instanceof ForRe2) return { tree: undefined, notes: parser.notes }
    throw error
  }
}

/** Ends the reading: only the RE2 library can say what this is. */
class ForRe2 extends Error {}

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
  /** How often the intervals of what was read last repeat together, at most. */
  private repetitions = 1

  constructor(source: string) {
    this.source = source
  }

  readPattern(): PatternNode {
    const tree = this.readAlternation(0)
    if (this.at < this.source.length) throw new ForRe2()
    return tree
  }

  private note(construct: Construct, start: number, rewrite?: string): void {
    this.notes.push(portabilityNote(construct, this.source, start, this.at, rewrite))
  }

  /** Reads what a sticky expression matches at this place; undefined where it does not match. */
  private take(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.at
    const match = expression.exec(this.source) ?? undefined
    this.at += match?.[0].length ?? 0
    return match
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
      const { repetitions } = this
      this.repetitions = 1
      const atom = this.readAtom(depth)
      const item = this.readRepetition(atom)
      this.repetitions = Math.max(this.repetitions, repetitions)
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
    if (sign === '(') return this.readGroup(depth)
    if (sign === '[') return this.readClass()
    if (sign === '\\') return this.readEscape()
    // A repetition of nothing.
    if (this.take(/[*+?]|\{\d+(?:,\d*)?\}/y) !== undefined) throw new ForRe2()
    const text = String.fromCodePoint(this.source.codePointAt(start) ?? 0)
    this.at += text.length
    if (sign === '.') return { kind: 'any' }
    if (sign === '^') return { kind: 'start' }
    if (sign === '$') return { kind: 'end' }
    if (sign === '{') this.note('literal-brace', start, '[{]')
    return { kind: 'literal', text }
  }

  private readGroup(depth: number): PatternNode {
    const start = this.at
    const [opening = ''] = this.take(/\((?:\?(?::|P?<|[a-zA-Z-]*[:)]?))?/y) ?? []
    if (opening === '(?:') this.note('group-syntax', start, '(')
    else if (opening !== '(') {
      this.note(opening.endsWith('<') ? 'group-syntax' : 'flags', start)
      throw new ForRe2()
    }
    const child = this.readAlternation(depth + 1)
    if (this.take(/\)/y) === undefined) throw new ForRe2()
    return child
  }

  private readRepetition(child: PatternNode): PatternNode {
    const start = this.at
    const sign = this.take(/[*+?]/y)?.[0]
    // RE2 reads `{,5}` and `{05}` as text.
    const interval = sign ?? this.take(/\{(0|[1-9]\d*)(?:(,)(0|[1-9]\d*)?)?\}/y)
    if (interval === undefined) return child
    let min = sign === '+' ? 1 : 0
    let max = sign === '?' ? 1 : Infinity
    if (typeof interval !== 'string') {
      const [, low = '', comma, high] = interval
      min = Number(low)
      max = comma === undefined ? min : high === undefined ? Infinity : Number(high)
      this.repetitions *= max === Infinity ? Math.max(min, 1) : max
      const isTooLarge = min > mostRepetitions || this.repetitions > mostRepetitions
      if (isTooLarge || min > max) throw new ForRe2()
      this.note('interval', start)
    }
    if (this.take(/\?/y) !== undefined) this.note('lazy', this.at - 1, '')
    if (this.take(/[*+?]|\{\d+(?:,\d*)?\}/y) !== undefined) throw new ForRe2()
    return { kind: 'repeat', child, min, max }
  }

  /** Reads a backslash outside brackets and what it makes of the characters after it. */
  private readEscape(): PatternNode {
    const start = this.at
    const [, letter = ''] = this.take(/\\([dswDSWbBAz])/y) ?? []
    switch (letter) {
      case '':
        return { kind: 'literal', text: this.readCharacterEscape('needless-escape') }
      case 'b':
      case 'B':
        this.note('word-boundary', start)
        return { kind: 'any' }
      case 'A':
        this.note('text-anchor', start, '^')
        return { kind: 'start' }
      case 'z':
        this.note('text-anchor', start, '$')
        return { kind: 'end' }
      default: {
        const small = letter.toLowerCase()
        const portable = portableClasses[small]
        this.note('perl-class', start, portable && `[${letter === small ? '' : '^'}${portable}]`)
        return { kind: 'any' }
      }
    }
  }

  private readClass(): PatternNode {
    const start = this.at
    const [opening = ''] = this.take(/\[\^?\]?/y) ?? []
    if (opening.endsWith(']')) {
      this.note('class-bracket', start)
      this.at--
    }
    const first = this.at
    while (this.source[this.at] !== ']' || this.at === first) {
      if (!this.readNamedSet()) this.readRange()
    }
    this.at++
    return { kind: 'any' }
  }

  /** Reads `[:digit:]` or `\d` inside brackets; false where there is none. */
  private readNamedSet(): boolean {
    const start = this.at
    // As the RE2 library does: up to the next `:]`, wherever it is; `[:]` is a class without a name.
    const [, caret = '', name = ''] = this.take(/\[(?::(\^?)([^]*?))?:\]/y) ?? []
    if (this.at > start) {
      if (!posixClasses.has(name)) throw new ForRe2()
      this.note('posix-class', start, caret === '' ? portableClasses[name] : undefined)
      return true
    }
    const [, letter] = this.take(/\\([dswDSW])/y) ?? []
    if (letter === undefined) return false
    this.note('class-escape', start, portableClasses[letter])
    return true
  }

  private readRange(): void {
    const low = this.readClassCharacter()
    if (this.take(/-(?!\]|$)/y) === undefined) return
    if (low > this.readClassCharacter()) throw new ForRe2()
  }

  private readClassCharacter(): number {
    const start = this.at
    const code = this.source.codePointAt(start)
    if (code === undefined) throw new ForRe2()
    if (code === 0x5c) return this.readCharacterEscape('class-escape').codePointAt(0) ?? 0
    this.at += code > 0xffff ? 2 : 1
    if (code > 0x7f) this.note('class-non-ascii', start)
    return code
  }

  /** Reads a backslash that stands for one character. `plain` is the note where none is needed. */
  private readCharacterEscape(plain: 'needless-escape' | 'class-escape'): string {
    const start = this.at
    const foreign = this.take(/\\(?:[pPQ0]|[1-7](?=[0-7]))/y)?.[0]
    if (foreign !== undefined) {
      this.note(/[pP]/.test(foreign) ? 'unicode-class' : 'control-escape', start)
      throw new ForRe2()
    }
    const [, digits, braced] = this.take(/\\x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,8})\})/y) ?? []
    const code = Number.parseInt(digits ?? braced ?? '', 16)
    if (code <= 0x10ffff) {
      this.note('control-escape', start)
      return String.fromCodePoint(code)
    }
    const [, next] = this.take(/\\([^A-Za-z0-9\u0080-\uffff]|[afnrtv])/y) ?? []
    if (next === undefined) throw new ForRe2()
    const control = controls[next]
    if (control !== undefined) this.note('control-escape', start)
    else if (plain === 'class-escape') this.note('class-escape', start)
    else if (/[`'<>]/.test(next)) this.note('gnu-anchor', start, next)
    else if (!metacharacters.includes(next)) this.note('needless-escape', start, next)
    return control ?? next
  }
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
