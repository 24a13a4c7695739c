/** A construct outside the portable subset, its place, and its portable form. */
export interface PortabilityNote {
  construct: Construct
  /** UTF-16 offsets into the pattern. */
  start: number
  end: number
  text: string
  /** Which engines read it differently from RE2. */
  message: string
  /** The same meaning in the portable subset; undefined if there is none. */
  rewrite?: string | undefined
}

export type Construct = keyof typeof constructs

/** Measured with GNU grep 3.8, mawk 1.3.4, gawk --posix, busybox and V8. */
export const constructs = {
  'perl-class': 'grep and awk read the letter, or a class of their own',
  'word-boundary': 'awk knows no word boundary',
  'posix-class': 'JavaScript reads letters, a colon and a bracket',
  'class-escape': 'grep reads a backslash inside brackets as itself',
  'class-bracket': 'JavaScript reads a leading ] as the end of an empty class',
  'class-non-ascii': 'mawk, and grep without UTF-8, read bytes',
  lazy: 'grep and awk read another repetition',
  'group-syntax': 'grep reads text, awk refuses it',
  flags: 'only RE2 reads flags in the pattern',
  interval: 'mawk before 1.3.4-20200717 reads braces as text',
  'literal-brace': 'some engines refuse a brace that begins no interval',
  'control-escape': 'grep reads the letter behind the backslash',
  'unicode-class': 'only RE2 reads a Unicode class without a flag',
  'text-anchor': 'other engines read the letter',
  'needless-escape': 'grep warns of it, and newer engines refuse it',
  'gnu-anchor': 'GNU grep reads an anchor',
  'empty-branch': 'mawk refuses an empty alternative or group',
  'anchor-inside': 'engines disagree about an anchor there',
} as const

/** Clauses about every matching line: the line contains at least one text of each clause. */
export type RequiredText = readonly (readonly string[])[]

interface Part {
  required: RequiredText
  /** Set for a part that matches only this text. */
  text?: string
  anchor?: 'start' | 'end'
}

/**
 * Reads a pattern with the meaning of RE2; without `required` only the RE2 library can read it, and
 * with notes only that library knows whether it is valid. Pure; time is linear in the length.
 */
export function parsePattern(source: string): {
  required: RequiredText | undefined
  notes: readonly PortabilityNote[]
} {
  const parser = new PatternParser(source)
  try {
    return { required: parser.readPattern().required, notes: parser.notes }
  } catch (error) {
    if (error instanceof ForRe2) return { required: undefined, notes: parser.notes }
    throw error
  }
}

/** Stops the parser: only the RE2 library can read this pattern. */
class ForRe2 extends Error {}

const repetition = /[*+?]|\{\d+(?:,\d*)?\}/y
const metacharacters = '\\^$.|?*+()[]{}'
/** Character classes as sets that every engine reads alike, if such a set exists. */
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

class PatternParser {
  readonly notes: PortabilityNote[] = []
  private readonly source: string
  private at = 0

  constructor(source: string) {
    this.source = source
  }

  readPattern(): Part {
    const tree = this.readAlternation(0)
    if (this.at < this.source.length) throw new ForRe2()
    return tree
  }

  private note(construct: Construct, start: number, rewrite?: string): void {
    const message = constructs[construct]
    const text = this.source.slice(start, this.at)
    this.notes.push({ construct, start, end: this.at, text, message, rewrite })
  }

  /** Consumes a sticky expression's match at this place; undefined if it does not match. */
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
      const atom = this.readAtom(depth)
      const item = this.readRepetition(atom)
      items.push(item)
      if (!atom.anchor) continue
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
    if (this.take(repetition)) throw new ForRe2()
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
    if (!this.take(/\)/y)) throw new ForRe2()
    return child
  }

  private readRepetition(child: Part): Part {
    const start = this.at
    // RE2 reads `{,5}` and `{05}` as text.
    const [sign] = this.take(/[*+?]|\{(?:0|[1-9]\d*)(?:,(?:0|[1-9]\d*)?)?\}/y) ?? []
    if (sign === undefined) return child
    if (sign.startsWith('{')) this.note('interval', start)
    if (this.take(/\?/y)) this.note('lazy', this.at - 1, '')
    if (this.take(repetition)) throw new ForRe2()
    return { required: /^[+{](?!0)/.test(sign) ? child.required : [] }
  }

  private readClass(): Part {
    const start = this.at
    const [opening = ''] = this.take(/\[\^?\]?/y) ?? []
    if (opening.endsWith(']')) this.note('class-bracket', start)
    while (this.source[this.at] !== ']') {
      const from = this.at
      // Like the RE2 library: up to the next `:]`, wherever it is; `[:]` is a class without a name.
      const set = this.take(/\[(?::([^]*?))?:\]/y)
      if (set) this.note('posix-class', from, portableClasses[set[1] ?? ''])
      else if (this.source[from] === '\\') this.readEscape(true)
      else {
        const [text, low = '', high = low] = this.take(/([^\\])(?:-([^\]\\]))?/uy) ?? []
        if (text === undefined || low > high) throw new ForRe2()
        if (/[^\0-\x7f]/.test(text)) this.note('class-non-ascii', from)
      }
    }
    this.at++
    return oneCharacter
  }

  /** Reads a backslash and what belongs to it. */
  private readEscape(isInClass = false): Part {
    const start = this.at
    const [, foreign, control, sign = ''] =
      this.take(
        /\\(?:([pPQ0]|[1-7](?=[0-7]))|(x[0-9A-Fa-f]{2}|x\{[0-9A-Fa-f]+\}|[afnrtv])|([dswDSWbBAz]|[^A-Za-z0-9\u0080-\uffff]))/y,
      ) ?? []
    if (foreign !== undefined) {
      this.note(/[pP]/.test(foreign) ? 'unicode-class' : 'control-escape', start)
      throw new ForRe2()
    }
    if (control !== undefined) {
      this.note('control-escape', start)
      return oneCharacter
    }
    if (sign === '') {
      this.at += 2
      this.note('control-escape', start)
      throw new ForRe2()
    }
    const small = sign.toLowerCase()
    const set = portableClasses[small]
    if (isInClass) this.note('class-escape', start, portableClasses[sign])
    else if (small === 'b') this.note('word-boundary', start)
    else if (sign === 'A' || sign === 'z') {
      this.note('text-anchor', start, sign === 'A' ? '^' : '$')
      return { ...oneCharacter, anchor: sign === 'A' ? 'start' : 'end' }
    } else if (/[a-z]/.test(small)) {
      this.note('perl-class', start, set && `[${sign === small ? '' : '^'}${set}]`)
    } else {
      if (/[`'<>]/.test(sign)) this.note('gnu-anchor', start, sign)
      else if (!metacharacters.includes(sign)) this.note('needless-escape', start, sign)
      return literal(sign)
    }
    return oneCharacter
  }
}

/** A character of some kind, or a place between characters. */
const oneCharacter: Part = { required: [] }

function literal(text: string): Part {
  return { required: [[text]], text }
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
  const whole = parts.every((part) => part.text !== undefined)
  return { required, ...(whole ? { text: parts.map((part) => part.text).join('') } : {}) }
}

const maxTexts = 16

function alternative(parts: readonly Part[]): Part {
  const best = parts.map(({ required }) => longestFirst(required)[0] ?? [])
  const texts = best.flat()
  const isKnown = best.every((clause) => clause.length > 0) && texts.length <= maxTexts
  return { required: isKnown ? [texts] : [] }
}

/** Sorts clauses by the length of their shortest text, longest first. */
export function longestFirst(required: RequiredText): RequiredText {
  const shortest = (texts: readonly string[]) => Math.min(...texts.map((text) => text.length))
  return required.toSorted((a, b) => shortest(b) - shortest(a))
}
