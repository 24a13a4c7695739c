import { checkRepeatSize, readInterval } from './_pattern-interval.ts'
import { readClass, readEscape } from './_pattern-atoms.ts'
import { ForeignConstruct, note, type PatternCursor } from './_pattern-cursor.ts'
import {
  invalid,
  type PatternProblem,
  PatternProblemError,
  unsupported,
} from './pattern-problem.ts'
import { concat, emptyNode, type PatternNode } from './pattern-tree.ts'
import { portabilityNote, type PortabilityNote } from './portability.ts'

export type ParsedPattern =
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
