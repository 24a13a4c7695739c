import { ForeignConstruct, note, type PatternCursor } from './_pattern-cursor.ts'
import { escapeClasses, invertRanges, normalRanges, posixClasses } from './pattern-classes.ts'
import { invalid, unsupported } from './pattern-problem.ts'
import type { CharacterRange, PatternNode } from './pattern-tree.ts'

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
export function readEscape(cursor: PatternCursor): PatternNode {
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
export function readClass(cursor: PatternCursor): PatternNode {
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
