import { withoutEnd } from '../base/index.ts'
import { isProvablyLinear } from './_linear.ts'
import { plainText } from './_plain-text.ts'
import { compileRe2, type Re2Program } from './_re2-program.ts'
import { repeatsNothing } from './_repeats-nothing.ts'
import { requiredText, type RequiredText } from './_required-text.ts'
import { type PatternMatch, runProgram } from './_run-program.ts'
import { programTester } from './_test-program.ts'
import { simplifyEdges } from './_simplify.ts'
import { toJavaScript } from './_to-javascript.ts'
import { parsePattern } from './parse-pattern.ts'
import type { PatternPlan } from './pattern-plan.ts'
import type { PatternProblem } from './pattern-problem.ts'
import type { PatternNode } from './pattern-tree.ts'
import type { PortabilityNote } from './portability.ts'

export type { PatternMatch } from './_run-program.ts'

/** The longest pattern, in UTF-16 code units. */
export const longestPattern = 1000

export interface Pattern {
  source: string
  plan: PatternPlan
  /** Constructs outside the portable subset; empty for a portable pattern. */
  notes: readonly PortabilityNote[]
  /** Whether the line, which has no line feed, contains a match. Linear in its length. */
  test: (line: string) => boolean
  /** Where the leftmost match is. Linear too, but may load the RE2 library. */
  find: (line: string) => PatternMatch | undefined
}

export type PatternReading = { ok: true; pattern: Pattern } | { ok: false; problem: PatternProblem }

/**
 * Reads a pattern: RE2's meaning, tested on single lines. Never throws.
 *
 * @example
 * const reading = compilePattern('^/deploy (staging|production)')
 * if (reading.ok) reading.pattern.test('/deploy staging') // true
 */
export function compilePattern(written: string): PatternReading {
  // YAML ends a block with a line end, and no line has one.
  const source = withoutEnd(written, '\n')
  if (source.length > longestPattern) return { ok: false, problem: tooLong(source) }
  const plain = plainText(source)
  if (plain !== undefined) return { ok: true, pattern: patternOf(source, plain, []) }
  const parsed = parsePattern(source)
  if (!parsed.ok) return parsed
  const { tree, notes } = parsed
  const plan = tree === undefined ? re2Plan(source, []) : planOf(source, tree)
  if (plan.engine !== 're2') return { ok: true, pattern: patternOf(source, plan, notes) }
  const compilation = compileRe2(source)
  if (!compilation.ok) return compilation
  return { ok: true, pattern: patternOf(source, plan, notes, compilation.program) }
}

/** The tester of a plan that was kept. */
export function testerOf(plan: PatternPlan): (line: string) => boolean {
  if (plan.engine === 'text') return textTester(plan)
  if (plan.engine === 'javascript') {
    let expression: RegExp | undefined
    return (line) => (expression ??= new RegExp(plan.test, 'u')).test(line)
  }
  let test: ((line: string) => boolean) | undefined
  return (line) => (test ??= testerOfSource(plan.source))(line)
}

function testerOfSource(source: string): (line: string) => boolean {
  const program = programOf(source)
  return program === undefined ? () => false : programTester(program)
}

function planOf(source: string, tree: PatternNode): PatternPlan {
  const simple = simplifyEdges(tree)
  const required = requiredText(tree)
  if (!isProvablyLinear(simple)) return re2Plan(source, required)
  const isFound = isProvablyLinear(tree) && !repeatsNothing(tree)
  const find = isFound ? toJavaScript(tree) : undefined
  return { engine: 'javascript', test: toJavaScript(simple), find, required }
}

function re2Plan(source: string, required: RequiredText): PatternPlan & { engine: 're2' } {
  return { engine: 're2', source, required }
}

function patternOf(
  source: string,
  plan: PatternPlan,
  notes: readonly PortabilityNote[],
  compiled?: Re2Program,
): Pattern {
  const test = compiled === undefined ? testerOf(plan) : programTester(compiled)
  return { source, plan, notes, test, find: finderOf(source, plan, compiled) }
}

function finderOf(
  source: string,
  plan: PatternPlan,
  compiled: Re2Program | undefined,
): Pattern['find'] {
  if (plan.engine === 'text') return (line) => findText(plan, line)
  const shortTest =
    plan.engine === 'javascript' ? new RegExp(plan.find ?? plan.test, 'u') : undefined
  const isWhole = plan.engine === 'javascript' && plan.find !== undefined
  return (line) => {
    const short = shortTest === undefined ? undefined : shortTest.exec(line)
    if (short === null) return undefined
    // Too large for RE2 and too ambiguous for JavaScript: what must be there is shown.
    const program = isWhole ? undefined : (compiled ?? programOf(source))
    if (program !== undefined) return runProgram(program, line)
    if (short === undefined) return undefined
    return { start: short.index, end: short.index + short[0].length }
  }
}

function programOf(source: string): Re2Program | undefined {
  const compilation = compileRe2(source)
  return compilation.ok ? compilation.program : undefined
}

function textTester(plan: PatternPlan & { engine: 'text' }): (line: string) => boolean {
  const { text, atStart, atEnd } = plan
  if (atStart && atEnd) return (line) => line === text
  if (atStart) return (line) => line.startsWith(text)
  return atEnd ? (line) => line.endsWith(text) : (line) => line.includes(text)
}

function findText(
  { text, atStart, atEnd }: PatternPlan & { engine: 'text' },
  line: string,
): PatternMatch | undefined {
  const start = atStart ? 0 : atEnd ? line.length - text.length : line.indexOf(text)
  const end = start + text.length
  if (!line.startsWith(text, start)) return undefined
  return atEnd && end !== line.length ? undefined : { start, end }
}

function tooLong(source: string): PatternProblem {
  return {
    code: 'pattern-too-long',
    message: `the pattern has ${source.length} characters; ${longestPattern} are allowed`,
    offset: longestPattern,
    hint: 'Make several triggers of it.',
  }
}
