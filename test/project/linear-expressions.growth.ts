import { join } from 'node:path'
import { analyse } from 'scslre'
import { describe, expect, it } from 'vitest'
import { wordRules } from '../../src/audit/word-rules.ts'
import { type WrittenExpression, writtenExpressions } from './_expressions.ts'
import { type Pumped, pumpedTexts } from './_pumped.ts'

/** How expressions begin that are not linear, and why no text makes them slow. */
const shortTexts: readonly { why: string; beginnings: readonly string[] }[] = [
  {
    why: 'each place of a link is tried with 300 characters at most, in lines of 2,000',
    beginnings: ['/\\]\\(\\s*(?:<'],
  },
  {
    why: 'a text is searched up to its last brace, behind which none is closed',
    beginnings: [
      '/\\$\\{(?<name>[A-Za-z_]',
      '/\\$(?:\\{(?<name>[A',
      '/\\{(?<kind>env|file)',
      '/\\$\\{(?:(?<kind>env|input)',
    ],
  },
  {
    why: 'a pattern of a trigger has 1,000 characters at most',
    beginnings: ['/\\\\Q.*?(?:', '/\\\\.|\\[\\^?\\]?(?:\\[:'],
  },
  {
    why: 'a request is cut at 20,000 characters, and every run has a bound',
    beginnings: ['/\\b((?:select\\s'],
  },
]
const beginnings = shortTexts.flatMap((each) => each.beginnings)

/** Expressions that are not linear by their form, and why no text makes them slow. */
const known: Readonly<Record<string, string>> = {
  '/^\\s*(\\S+)\\s*([\\s\\S]*)$/': 'takes whatever follows',
  '/^\\s*\\/([\\p{L}\\p{N}][\\p{L}\\p{N}:-]*)(?:\\s+([\\s\\S]*))?$/u': 'takes whatever follows',
  '/\\B(?=(\\d{3})+$)/g': 'reads a number',
  '/^#![ \\t]*(\\S+)[ \\t]*(.*?)[ \\t\\r]*(?:\\n|$)/': 'reads the first 256 bytes of a script',
  '/[^\\n]*\\n|[^\\n]+$/g': 'takes every line',
  '/(?:[@-]?\\d[\\w.]*|w)$/': 'reads the name of a program',
  '/\\b(?:ba|z|k|da)?sh\\s+(?:-\\w+\\s+)*["\']?(?:[\\w./${}-]*\\/)?$|\\bsource\\s+$/':
    'reads 80 characters',
}

const source = join(import.meta.dirname, '../../src')
const written = [
  ...writtenExpressions(source),
  ...wordRules.flatMap(({ patterns }) =>
    patterns.map((pattern) => ({
      file: 'audit/word-rules.ts',
      pattern: pattern.source,
      flags: pattern.flags,
    })),
  ),
]
const unique = new Map(written.map((each) => [`/${each.pattern}/${each.flags}`, each]))

describe('every regular expression', () => {
  it('is found', () => {
    expect(unique.size).toBeGreaterThan(600)
  })

  it('goes once through what it reads, or is known to read short texts only', () => {
    const others = [...unique].filter(
      ([literal]) =>
        known[literal] === undefined && !beginnings.some((each) => literal.startsWith(each)),
    )
    const slow = others.filter(([, expression]) => isSlow(expression))
    expect(slow.map(([literal, { file }]) => `${file}: ${literal}`)).toEqual([])
  })

  it.each(beginnings)('%s begins one expression', (beginning) => {
    const found = [...unique.keys()].filter((literal) => literal.startsWith(beginning))
    expect(found).toHaveLength(1)
  })

  it.each(Object.keys(known))('%s is still there', (literal) => {
    expect(unique.has(literal)).toBe(true)
  })
})

it.each([
  ['[ \\t]+$', ''],
  ['(`+)(?!`).*?(?<!`)\\1(?!`)', 'g'],
  ['\\$\\{([^}]+)\\}', 'g'],
  ['<(?=\\s*\\/?\\s*skill\\b)', 'gi'],
  ['\\buse\\s+(?:this\\s+|(?:this\\s+)?skill\\s+)*for\\b', ''],
])('/%s/ would be noticed', (pattern, flags) => {
  expect(isSlow({ file: '', pattern, flags })).toBe(true)
})

it.each([
  ['(?<![ \\t])[ \\t]+$', ''],
  ['<(?=\\s*(?:\\/\\s*)?skill\\b)', 'gi'],
  ['"[^"]*"', 'g'],
])('/%s/ is linear', (pattern, flags) => {
  expect(isSlow({ file: '', pattern, flags })).toBe(false)
})

function isSlow({ pattern, flags }: WrittenExpression): boolean {
  if (!/[*+]|\{\d+,\}|,\d{3,}\}/.test(pattern)) return false
  const expression = new RegExp(pattern, flags)
  const { reports } = analyse(expression, {
    reportTypes: { Move: !flags.includes('y'), Self: true, Trade: true },
  })
  return (
    reports.length > 0 ||
    // What other work makes slow for a moment is not slow the second time.
    pumpedTexts(pattern, flags).some((one) => grows(expression, one) && grows(expression, one))
  )
}

/**
 * Whether the time grows faster than the text. A machine that is slow at one moment is slow at all of them:
 * what the clock says is asked of the processor too.
 */
function grows(expression: RegExp, pumped: Pumped): boolean {
  const few = textOf(pumped, 20 * pumped.part.length)
  if ([elapsed, processorTime].every((timeOf) => least(3, () => timeOf(expression, few)) > 5))
    return true
  const short = textOf(pumped, 4000)
  if (elapsed(expression, short) < 0.1) return false
  const long = textOf(pumped, 32_000)
  return [elapsed, processorTime].every((timeOf) => {
    const once = least(3, () => timeOf(expression, short))
    return once >= 0.08 && least(2, () => timeOf(expression, long)) > Math.max(24 * once, 3)
  })
}

function least(tries: number, measure: () => number): number {
  return Math.min(...Array.from({ length: tries }, measure))
}

function textOf({ before, part, after }: Pumped, length: number): string {
  return before + part.repeat(Math.ceil(length / part.length)) + after
}

/** Milliseconds of the processor. Some systems count them only every 4 ms, so short times are repeated. */
function processorTime(expression: RegExp, text: string): number {
  const before = process.threadCpuUsage()
  let runs = 0
  for (let spent = 0; spent < 12; runs++) spent += elapsed(expression, text)
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000 / runs
}

/** Milliseconds of the clock. */
function elapsed(expression: RegExp, text: string): number {
  const start = performance.now()
  run(expression, text)
  return performance.now() - start
}

function run(expression: RegExp, text: string): void {
  expression.lastIndex = 0
  if (expression.global) text.replace(expression, '')
  else expression.exec(text)
}
