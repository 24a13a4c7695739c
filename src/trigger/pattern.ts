import { createRequire } from 'node:module'
import type * as Re2 from 're2js'
import { withoutEnd } from '#core/text'
import {
  longestFirst,
  parsePattern,
  type PortabilityNote,
  type RequiredText,
} from './parse-pattern.ts'

export const longestPattern = 1000

export interface Pattern {
  source: string
  /** Constructs outside the portable subset; empty for a portable pattern. */
  notes: readonly PortabilityNote[]
  required: RequiredText
  /** Whether the line, which has no line feed, contains a match. Linear in its length. */
  test: (line: string) => boolean
  /** Finds the leftmost match. Linear in the length of the line. */
  find: (line: string) => PatternMatch | undefined
}

type PatternMatch = { start: number; end: number }

export interface PatternProblem {
  code: 'pattern-invalid' | 'pattern-unsupported' | 'pattern-too-long' | 'pattern-too-large'
  /** The message, without the pattern. */
  message: string
  offset: number
  hint?: string | undefined
}

export type PatternReading = { ok: true; pattern: Pattern } | { ok: false; problem: PatternProblem }

/** Reads a pattern with the meaning of RE2, for single lines. Never throws. */
export function compilePattern(patternText: string): PatternReading {
  // A YAML block ends with a line feed, and no line contains one.
  const source = withoutEnd(patternText, '\n')
  if (source.length > longestPattern) {
    const message = `the pattern has ${source.length} characters; ${longestPattern} are allowed`
    const facts = { message, offset: longestPattern, hint: 'Make several triggers of it.' }
    return { ok: false, problem: { code: 'pattern-too-long', ...facts } }
  }
  const control = source.search(controlCharacter)
  if (control >= 0) {
    const code = source.charCodeAt(control).toString(16).padStart(4, '0')
    const message = `the pattern has the control character U+${code}, which nobody types`
    const hint = 'Write the pattern in single quotes: in double quotes YAML makes \\b a backspace.'
    return { ok: false, problem: { code: 'pattern-invalid', message, offset: control, hint } }
  }
  const plain = plainPattern(source)
  if (plain) return { ok: true, pattern: plain }
  const { required, notes } = parsePattern(source)
  let compiled: Re2.RE2JS | undefined
  const engine = (): Re2.RE2JS => (compiled ??= loadRe2().RE2JS.compile(source))
  // A portable pattern needs at most two instructions a character.
  const isKnown = notes.length === 0 && source.length <= maxInstructions / 2
  const problem = required && isKnown ? undefined : problemOf(source, engine)
  if (problem) return { ok: false, problem }
  const clauses = longestFirst(required ?? []).slice(0, maxClauses)
  const find = (line: string): PatternMatch | undefined => {
    if (!hasRequired(line, clauses)) return undefined
    const matcher = engine().matcher(line)
    return matcher.find() ? { start: matcher.start(), end: matcher.end() } : undefined
  }
  const test = (line: string) => find(line) !== undefined
  return { ok: true, pattern: { source, notes, required: clauses, test, find } }
}

const controlCharacter = /[\0-\u0008\u000b-\u001f\u007f]/

/** Whether a text contains what every match needs; false only if no line of the text can match. */
export function hasRequired(text: string, required: RequiredText): boolean {
  return required.every((clause) => clause.some((part) => text.includes(part)))
}

/**
 * Compiles a pattern that is plain text, as most are, with an optional `^` or `$`; undefined for
 * others.
 */
export function plainPattern(source: string): Pattern | undefined {
  const [, before, text = '', after] = /^(\^?)([^\\^$.|?*+()[\]{}]*)(\$?)$/.exec(source) ?? []
  if (before === undefined) return undefined
  const [atStart, atEnd] = [before === '^', after === '$']
  const find = (line: string): PatternMatch | undefined => {
    const start = atStart ? 0 : atEnd ? line.length - text.length : line.indexOf(text)
    const end = start + text.length
    if (!line.startsWith(text, start)) return undefined
    return atEnd && end !== line.length ? undefined : { start, end }
  }
  const required = text === '' ? [] : [[text]]
  return { source, notes: [], required, test: (line) => find(line) !== undefined, find }
}

function problemOf(source: string, engine: () => Re2.RE2JS): PatternProblem | undefined {
  const { RE2JSSyntaxException } = loadRe2()
  try {
    const size = engine().programSize()
    if (size <= maxInstructions) return undefined
    const message = `the pattern needs ${size} steps a character; ${maxInstructions} are allowed`
    const hint = 'Shorten its intervals such as `{100}`, or make several triggers of it.'
    return { code: 'pattern-too-large', message, offset: 0, hint }
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error
    return refusal(source, error.getDescription(), error.getPattern())
  }
}

/** @param part the part of the source that RE2 names; null for its end. */
function refusal(source: string, description: string, part: string | null): PatternProblem {
  const offset = part === null ? source.length - 1 : Math.max(0, source.indexOf(part))
  const isForeign = /^(?:\(\?<?[=!]|\\[1-9])/.test(part ?? '')
  const code = isForeign ? 'pattern-unsupported' : 'pattern-invalid'
  const quotedPart = part === null || part === source ? '' : ` \`${part.slice(0, 40)}\``
  return { code, message: `RE2 refuses it: ${description}${quotedPart}`, offset }
}

let loaded: typeof Re2 | undefined

function loadRe2(): typeof Re2 {
  return (loaded ??= createRequire(import.meta.url)('re2js'))
}

/**
 * A line takes time in proportion to its length times the program's size: 10 kB take at most about
 * 0.2 s.
 */
const maxInstructions = 500

const maxClauses = 3
