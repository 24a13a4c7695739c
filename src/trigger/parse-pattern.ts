import {
  type CharacterRange,
  concat,
  emptyNode,
  escapeClasses,
  invertRanges,
  normalRanges,
  type PatternNode,
  posixClasses,
} from './pattern-tree.ts'
import { type Construct, portabilityNote, type PortabilityNote } from './portability.ts'

type ParsedPattern =
  /** `tree` is undefined where a construct needs the RE2 library to be read, `(?i)` say. */
  | { ok: true; tree: PatternNode | undefined; notes: readonly PortabilityNote[] }
  | { ok: false; problem: PatternProblem }

/** Reads a pattern with the meaning of RE2. Pure; time is linear in the length. */
export function parsePattern(source: string): ParsedPattern {
  const cursor: PatternCursor = { source, at: 0, notes: [] }
  try {
    const tree = readAlternation(cursor, 0)
    if (cursor.at < source.length) {
      const hint = 'Write `\\)` for a parenthesis in the prompt.'
      throw invalid(cursor.at, 'a `)` closes no group', hint)
    }
    checkRepeatSize(tree)
    return { ok: true, tree, notes: cursor.notes }
  } catch (error) {
    if (error instanceof ForeignConstruct) return { ok: true, tree: undefined, notes: cursor.notes }
    if (error instanceof PatternProblemError) return { ok: false, problem: error.problem }
    throw error
  }
}

function readAlternation(cursor: PatternCursor, depth: number): PatternNode {
  const { source } = cursor
  const branches: PatternNode[] = []
  for (;;) {
    const start = cursor.at
    branches.push(readBranch(cursor, depth))
    const sign = source[cursor.at]
    const isAlone = branches.length === 1 && sign !== '|'
    if (cursor.at === start && (!isAlone || depth > 0)) note(cursor, 'empty-branch', start)
    if (sign !== '|') break
    cursor.at++
  }
  const [only = emptyNode] = branches
  return branches.length === 1 ? only : { kind: 'alternate', items: branches }
}

function readBranch(cursor: PatternCursor, depth: number): PatternNode {
  const { source } = cursor
  const first = cursor.at
  const items: PatternNode[] = []
  while (cursor.at < source.length) {
    const sign = source[cursor.at]
    if (sign === '|' || sign === ')') break
    const start = cursor.at
    const atom = readAtom(cursor, depth)
    const item = readRepetition(cursor, atom)
    noteAnchor(cursor, { atom, item, start, first })
    items.push(item)
  }
  return concat(items)
}

function noteAnchor(
  cursor: PatternCursor,
  place: { atom: PatternNode; item: PatternNode; start: number; first: number },
): void {
  const { atom, item, start, first } = place
  if (atom.kind !== 'start' && atom.kind !== 'end') return
  const next = cursor.source[cursor.at]
  const atEdge = atom.kind === 'start' ? start === first : next === undefined || /[|)]/.test(next)
  if (!atEdge || item !== atom) note(cursor, 'anchor-inside', start)
}

function readAtom(cursor: PatternCursor, depth: number): PatternNode {
  const { source } = cursor
  const start = cursor.at
  const sign = source.charAt(start)
  switch (sign) {
    case '(':
      return readGroup(cursor, depth)
    case '[':
      return readClass(cursor)
    case '\\':
      return readEscape(cursor)
    case '.':
      cursor.at++
      return { kind: 'any' }
    case '^':
      cursor.at++
      return { kind: 'start' }
    case '$':
      cursor.at++
      return { kind: 'end' }
    case '*':
    case '+':
    case '?':
      throw invalid(start, `\`${sign}\` repeats nothing`, `Write \`\\${sign}\` for the character.`)
    default:
      break
  }
  if (sign === '{' && readInterval(source, start) !== undefined) {
    throw invalid(start, 'an interval repeats nothing', 'Write `[{]` for a brace in the prompt.')
  }
  const text = String.fromCodePoint(source.codePointAt(start) ?? 0)
  cursor.at += text.length
  if (sign === '{') note(cursor, 'literal-brace', start, '[{]')
  return { kind: 'literal', text }
}

function readGroup(cursor: PatternCursor, depth: number): PatternNode {
  const { source } = cursor
  const start = cursor.at
  cursor.at++
  if (source[cursor.at] === '?') openSpecialGroup(cursor, start)
  const child = readAlternation(cursor, depth + 1)
  if (source[cursor.at] !== ')') {
    throw invalid(start, 'a `(` is not closed', 'Write `\\(` for a parenthesis in the prompt.')
  }
  cursor.at++
  return child
}

function openSpecialGroup(cursor: PatternCursor, start: number): void {
  const opening =
    /^\(\?(?:<?[=!]|:|P?<|[a-zA-Z-]*[:)]?)/.exec(cursor.source.slice(start))?.[0] ?? ''
  cursor.at = start + opening.length
  if (/[=!]$/.test(opening)) {
    const what = opening.includes('<') ? 'lookbehind' : 'lookahead'
    const hint = 'Say in the pattern what the prompt has, not what surrounds it.'
    throw unsupported(start, `a ${what} \`${opening}\` is not supported`, hint)
  }
  if (opening === '(?:') {
    note(cursor, 'group-syntax', start, '(')
    return
  }
  note(cursor, opening.endsWith('<') ? 'group-syntax' : 'flags', start)
  throw new ForeignConstruct()
}

function readRepetition(cursor: PatternCursor, child: PatternNode): PatternNode {
  const { source } = cursor
  const start = cursor.at
  const bounds = boundsAt(cursor)
  if (bounds === undefined) return child
  const lazy = source[cursor.at] === '?'
  if (lazy) {
    cursor.at++
    cursor.notes.push(portabilityNote('lazy', source, cursor.at - 1, cursor.at, ''))
  }
  const next = source[cursor.at]
  const again =
    next === '*' || next === '+' || next === '?' || readInterval(source, cursor.at) !== undefined
  if (again) {
    const message = 'a repetition is repeated'
    throw invalid(start, message, 'Put the first one in parentheses, or leave one out.')
  }
  return { kind: 'repeat', child, ...bounds, lazy }
}

function boundsAt(cursor: PatternCursor): { min: number; max: number } | undefined {
  const { source, at } = cursor
  const sign = source[at]
  if (sign === '*' || sign === '+' || sign === '?') {
    cursor.at++
    return { min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : Infinity }
  }
  const interval = sign === '{' ? readInterval(source, at) : undefined
  if (interval === undefined) return undefined
  cursor.at = interval.end
  note(cursor, 'interval', at)
  return { min: interval.min, max: interval.max }
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
/** The same sets in characters that every engine reads alike. `\s` has none: no blank is enough. */
const portableClasses: Readonly<Record<string, string>> = {
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

/** A backslash outside brackets, and what it makes of the characters behind it. */
function readEscape(cursor: PatternCursor): PatternNode {
  const { source } = cursor
  const start = cursor.at
  const letter = source[start + 1] ?? ''
  const set = escapeClasses.get(letter.toLowerCase())
  if (set !== undefined) {
    cursor.at += 2
    const negated = letter !== letter.toLowerCase()
    const portable = portableClasses[letter.toLowerCase()]
    const rewrite = portable === undefined ? undefined : `[${negated ? '^' : ''}${portable}]`
    note(cursor, 'perl-class', start, rewrite)
    return { kind: 'class', negated, ranges: normalRanges(set) }
  }
  if (letter === 'b' || letter === 'B') {
    cursor.at += 2
    note(cursor, 'word-boundary', start)
    return { kind: 'boundary', negated: letter === 'B' }
  }
  if (letter === 'A' || letter === 'z') {
    cursor.at += 2
    note(cursor, 'text-anchor', start, letter === 'A' ? '^' : '$')
    return { kind: letter === 'A' ? 'start' : 'end' }
  }
  return { kind: 'literal', text: readCharacterEscape(cursor, 'needless-escape') }
}

/** `[…]`, with ranges, POSIX classes and escapes. */
function readClass(cursor: PatternCursor): PatternNode {
  const { source } = cursor
  const start = cursor.at
  cursor.at++
  const negated = source[cursor.at] === '^'
  if (negated) cursor.at++
  const ranges: CharacterRange[] = []
  const first = cursor.at
  if (source[first] === ']') note({ ...cursor, at: first + 1 }, 'class-bracket', start)
  while (source[cursor.at] !== ']' || cursor.at === first) {
    if (cursor.at >= source.length) {
      throw invalid(start, 'a `[` is not closed', 'Write `\\[` for a bracket in the prompt.')
    }
    ranges.push(...(readNamedSet(cursor) ?? [readRange(cursor)]))
  }
  cursor.at++
  return { kind: 'class', negated, ranges: normalRanges(ranges) }
}

/** `[:digit:]` or `\d` inside brackets. */
function readNamedSet(cursor: PatternCursor): readonly CharacterRange[] | undefined {
  const { source } = cursor
  const start = cursor.at
  // As the RE2 library does: up to the next `:]`, wherever it is; `[:]` is a class without a name.
  const named = /^\[(?::(\^?)([^]*?))?:\]/.exec(source.slice(start))
  if (named !== null) {
    const [written, caret = '', name = ''] = named
    const set = posixClasses.get(name)
    if (set === undefined) throw invalid(start, `there is no class \`${written.slice(0, 40)}\``)
    cursor.at += written.length
    note(cursor, 'posix-class', start, caret === '' ? portableClasses[name] : undefined)
    return caret === '' ? set : invertRanges(set)
  }
  const letter = source[start] === '\\' ? (source[start + 1] ?? '') : ''
  const set = escapeClasses.get(letter.toLowerCase())
  if (set === undefined) return undefined
  cursor.at += 2
  const negated = letter !== letter.toLowerCase()
  note(cursor, 'class-escape', start, negated ? undefined : portableClasses[letter])
  return negated ? invertRanges(set) : set
}

function readRange(cursor: PatternCursor): CharacterRange {
  const { source } = cursor
  const start = cursor.at
  const low = readClassCharacter(cursor)
  const isRange =
    source[cursor.at] === '-' && !/^-(?:\]|$)/.test(source.slice(cursor.at, cursor.at + 2))
  if (!isRange) return [low, low]
  cursor.at++
  const high = readClassCharacter(cursor)
  if (low <= high) return [low, high]
  throw invalid(start, `the range \`${source.slice(start, cursor.at)}\` runs backwards`)
}

function readClassCharacter(cursor: PatternCursor): number {
  const { source } = cursor
  const start = cursor.at
  if (source[start] === '\\') {
    return readCharacterEscape(cursor, 'class-escape').codePointAt(0) ?? 0
  }
  const code = source.codePointAt(start)
  if (code === undefined) throw invalid(start, 'a `[` is not closed')
  cursor.at += code > 0xffff ? 2 : 1
  if (code > 0x7f) note(cursor, 'class-non-ascii', start)
  return code
}

/** A backslash that stands for one character. `plain` is the note where none is needed. */
function readCharacterEscape(
  cursor: PatternCursor,
  plain: 'needless-escape' | 'class-escape',
): string {
  const { source } = cursor
  const start = cursor.at
  const next = source[start + 1]
  if (next === undefined) {
    throw invalid(start, 'a backslash ends the pattern', 'Write `\\\\` for a backslash.')
  }
  if (/[pPQ0]/.test(next) || /^\\[1-7][0-7]/.test(source.slice(start, start + 3))) {
    cursor.at += 2
    note(cursor, /[pP]/.test(next) ? 'unicode-class' : 'control-escape', start)
    throw new ForeignConstruct()
  }
  if (/[1-9]/.test(next)) {
    const hint = 'Write the repeated text out, or use two triggers.'
    throw unsupported(start, `a back-reference \`\\${next}\` is not supported`, hint)
  }
  if (next === 'x') return readHexadecimal(cursor)
  const control = controls[next]
  if (control !== undefined) {
    cursor.at += 2
    note(cursor, 'control-escape', start)
    return control
  }
  if (/[A-Za-z]/.test(next) || next > '\u007f') {
    throw invalid(start, `\`\\${next}\` is no escape`, `Write \`${next}\` for the character.`)
  }
  cursor.at += 2
  if (plain === 'class-escape') note(cursor, 'class-escape', start)
  else if (/[`'<>]/.test(next)) note(cursor, 'gnu-anchor', start, next)
  else if (!metacharacters.includes(next)) note(cursor, 'needless-escape', start, next)
  return next
}

function readHexadecimal(cursor: PatternCursor): string {
  const start = cursor.at
  const match = /^\\x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,8})\})/.exec(cursor.source.slice(start))
  const code = Number.parseInt(match?.[1] ?? match?.[2] ?? '', 16)
  if (match === null || !(code <= 0x10ffff)) {
    throw invalid(start, '`\\x` wants two hexadecimal digits, or some in braces')
  }
  cursor.at += match[0].length
  note(cursor, 'control-escape', start)
  return String.fromCodePoint(code)
}

/** RE2's limit for a repetition, and for repetitions inside one another. */
const mostRepetitions = 1000

const interval = /\{(0|[1-9]\d*)(?:(,)(0|[1-9]\d*)?)?\}/y

/** `{n}`, `{n,}` or `{n,m}` at an offset; undefined where the brace is text, as RE2 reads it. */
function readInterval(
  source: string,
  at: number,
): { min: number; max: number; end: number } | undefined {
  interval.lastIndex = at
  const match = interval.exec(source)
  if (match === null) return undefined
  const [written, low = '', comma, high] = match
  const min = Number(low)
  const max = comma === undefined ? min : high === undefined ? Infinity : Number(high)
  if (min > mostRepetitions || (max > mostRepetitions && max !== Infinity)) {
    throw invalid(
      at,
      `the interval \`${written}\` is too large`,
      `At most ${mostRepetitions} work.`,
    )
  }
  if (min > max) throw invalid(at, `the interval \`${written}\` has its ends in the wrong order`)
  return { min, max, end: at + written.length }
}

/** Refuses intervals inside intervals whose product is too large, as RE2 does. */
function checkRepeatSize(node: PatternNode, left: number = mostRepetitions): void {
  if (node.kind === 'concat' || node.kind === 'alternate') {
    for (const item of node.items) checkRepeatSize(item, left)
  }
  if (node.kind !== 'repeat') return
  const times = isInterval(node) ? (node.max === Infinity ? node.min : node.max) : 1
  if (times > left) {
    const message = `intervals inside one another repeat more than ${mostRepetitions} times`
    throw invalid(0, message)
  }
  checkRepeatSize(node.child, times > 0 ? Math.floor(left / times) : left)
}

function isInterval({ min, max }: { min: number; max: number }): boolean {
  return !(min <= 1 && max === Infinity) && !(min === 0 && max === 1)
}

/** Why a pattern is not accepted, and where. */
export interface PatternProblem {
  code: 'pattern-invalid' | 'pattern-unsupported' | 'pattern-too-long' | 'pattern-too-large'
  /** A sentence without the pattern itself. */
  message: string
  /** UTF-16 offset into the pattern. */
  offset: number
  hint?: string | undefined
}

/** Thrown and caught inside this room only: a parser returns a problem as a value. */
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

interface PatternCursor {
  readonly source: string
  at: number
  readonly notes: PortabilityNote[]
}

/** The rest of the pattern is left to the RE2 library. */
class ForeignConstruct extends Error {}

function note(cursor: PatternCursor, construct: Construct, start: number, rewrite?: string): void {
  cursor.notes.push(portabilityNote(construct, cursor.source, start, cursor.at, rewrite))
}
