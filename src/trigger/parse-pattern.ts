import { type Construct, constructs, type PortabilityNote } from './portability.ts'

/** Clauses that all hold for every line that matches; one text of each clause is in the line. */
export type RequiredText = readonly (readonly string[])[]

interface Part {
  /** About as many instructions as RE2 compiles it to. */
  size: number
  required: RequiredText
  /** Of a part that matches this text alone. */
  text?: string
  anchor?: 'start' | 'end'
}

/**
 * Reads a pattern with the meaning of RE2; without `facts` only the RE2 library can read it. Pure; time
 * is linear in the length.
 */
export function parsePattern(source: string): {
  facts: Pick<Part, 'size' | 'required'> | undefined
  notes: readonly PortabilityNote[]
} {
  const parser = new PatternParser(source)
  try {
    return { facts: parser.readPattern(), notes: parser.notes }
  } catch (error) {
    if (error instanceof ForRe2) return { facts: undefined, notes: parser.notes }
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

  readPattern(): Part {
    const tree = this.readAlternation(0)
    if (this.at < this.source.length) throw new ForRe2()
    return tree
  }

  private note(construct: Construct, start: number, rewrite?: string): void {
    const [engines, message] = constructs[construct]
    const text = this.source.slice(start, this.at)
    this.notes.push({ construct, start, end: this.at, text, engines, message, rewrite })
  }

  /** Reads what a sticky expression matches at this place; undefined where it does not match. */
  private take(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.at
    const match = expression.exec(this.source) ?? undefined
    this.at += match?.[0].length ?? 0
    return match
  }

  private readAlternation(depth: number): Part {
    const branches: Part[] = []
    for (;;) {
      const start = this.at
      branches.push(this.readBranch(depth))
      const sign = this.source[this.at]
      const isAlone = branches.length === 1 && sign !== '|'
      if (this.at === start && (!isAlone || depth > 0)) this.note('empty-branch', start)
      if (sign !== '|') break
      this.at++
    }
    const [only = oneCharacter] = branches
    return branches.length === 1 ? only : alternative(branches)
  }

  private readBranch(depth: number): Part {
    const first = this.at
    const items: Part[] = []
    while (this.at < this.source.length && !'|)'.includes(this.source.charAt(this.at))) {
      const start = this.at
      const { repetitions } = this
      this.repetitions = 1
      const atom = this.readAtom(depth)
      const item = this.readRepetition(atom)
      this.repetitions = Math.max(this.repetitions, repetitions)
      items.push(item)
      if (atom.anchor === undefined) continue
      const next = this.source[this.at]
      const isEnd = next === undefined || next === '|' || next === ')'
      const isAtEdge = atom.anchor === 'start' ? start === first : isEnd
      if (!isAtEdge || item !== atom) this.note('anchor-inside', start)
    }
    return sequence(items)
  }

  private readAtom(depth: number): Part {
    const start = this.at
    const sign = this.source.charAt(start)
    if (sign === '(') return this.readGroup(depth)
    if (sign === '[') return this.readClass()
    if (sign === '\\') return this.readEscape()
    if (this.take(/[*+?]|\{\d+(?:,\d*)?\}/y) !== undefined) throw new ForRe2()
    const text = String.fromCodePoint(this.source.codePointAt(start) ?? 0)
    this.at += text.length
    if (sign === '.') return oneCharacter
    if (sign === '^') return { ...oneCharacter, anchor: 'start' }
    if (sign === '$') return { ...oneCharacter, anchor: 'end' }
    if (sign === '{') this.note('literal-brace', start, '[{]')
    return literal(text)
  }

  private readGroup(depth: number): Part {
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

  private readRepetition(child: Part): Part {
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
    return repetition(child, min, max)
  }

  /** Reads a backslash outside brackets and what it makes of the characters after it. */
  private readEscape(): Part {
    const start = this.at
    const [, letter = ''] = this.take(/\\([dswDSWbBAz])/y) ?? []
    switch (letter) {
      case '':
        return literal(this.readCharacterEscape('needless-escape'))
      case 'b':
      case 'B':
        this.note('word-boundary', start)
        return oneCharacter
      case 'A':
        this.note('text-anchor', start, '^')
        return { ...oneCharacter, anchor: 'start' }
      case 'z':
        this.note('text-anchor', start, '$')
        return { ...oneCharacter, anchor: 'end' }
      default: {
        const small = letter.toLowerCase()
        const portable = portableClasses[small]
        this.note('perl-class', start, portable && `[${letter === small ? '' : '^'}${portable}]`)
        return oneCharacter
      }
    }
  }

  private readClass(): Part {
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
    return oneCharacter
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

/** A character of some kind, or a place between characters. */
const oneCharacter: Part = { size: 1, required: [] }

function literal(text: string): Part {
  return { size: text.length, required: [[text]], text }
}

function repetition({ size, required }: Part, min: number, max: number): Part {
  const kept = min > 0 ? required : []
  if (max === Infinity) return { size: size * Math.max(min, 1) + 1, required: kept }
  return { size: size * max + (max - min), required: kept }
}

function sequence(parts: readonly Part[]): Part {
  const required: (readonly string[])[] = []
  let text = ''
  for (const [index, part] of parts.entries()) {
    if (part.text === undefined) required.push(...part.required)
    else text += part.text
    if (text !== '' && parts[index + 1]?.text === undefined) {
      required.push([text])
      text = ''
    }
  }
  const size = parts.reduce((sum, part) => sum + part.size, 0)
  const whole = parts.every((part) => part.text !== undefined)
  return { size, required, ...(whole ? { text: parts.map((part) => part.text).join('') } : {}) }
}

const mostTexts = 16

function alternative(parts: readonly Part[]): Part {
  const size = parts.reduce((sum, part) => sum + part.size + 1, -1)
  const best = parts.map(({ required }) => longestFirst(required)[0] ?? [])
  const texts = best.flat()
  const isKnown = best.every((clause) => clause.length > 0) && texts.length <= mostTexts
  return { size, required: isKnown ? [texts] : [] }
}

/** The clauses in the order of their shortest text, the longest first. */
export function longestFirst(required: RequiredText): RequiredText {
  const shortest = (texts: readonly string[]): number =>
    Math.min(...texts.map((text) => text.length))
  return required.toSorted((a, b) => shortest(b) - shortest(a))
}
