import fc from 'fast-check'
import { RE2JS } from 're2js'
import { expect, it } from 'vitest'
import { quickRequiredText } from '../../src/trigger/_quick-scan.ts'
import { compileRe2 } from '../../src/trigger/_re2-program.ts'
import { compilePattern, type Pattern, testerOf } from '../../src/trigger/index.ts'

/** Patterns over few letters, so that random lines match often. */
const atom = fc.oneof(
  fc.constantFrom(
    'a',
    'b',
    'c',
    ' ',
    '/',
    '.',
    '\\.',
    '[ab]',
    '[^a]',
    '[a-c]',
    '\\d',
    '\\w',
    '\\s',
  ),
  fc.constantFrom('\\b', '^', '$', '[[:alpha:]]', '[\\w-]', 'é', '{', ']', '\\/', '\\t', 'foo'),
)
const { pattern: patterns } = fc.letrec<{ pattern: string; branch: string; piece: string }>(
  (tie) => ({
    pattern: fc.array(tie('branch'), { minLength: 1, maxLength: 3 }).map((all) => all.join('|')),
    branch: fc.array(tie('piece'), { maxLength: 5 }).map((all) => all.join('')),
    piece: fc.oneof(
      { maxDepth: 3, depthIdentifier: 'pattern' },
      atom,
      fc
        .tuple(
          fc.oneof(
            atom,
            tie('pattern').map((inner) => `(${inner})`),
            tie('pattern').map((inner) => `(?:${inner})`),
          ),
          fc.constantFrom('', '*', '+', '?', '*?', '+?', '{2}', '{1,3}', '{0,2}', '{2,}'),
        )
        .map((parts) => parts.join('')),
    ),
  }),
)
const lines = fc.string({
  unit: fc.constantFrom('a', 'b', 'c', ' ', '/', '.', 'é', '7', '_', '\t', '{', '😀'),
})

it('a pattern means what RE2 says, whichever engine tests it', () => {
  fc.assert(
    fc.property(patterns, fc.array(lines, { minLength: 1, maxLength: 8 }), (source, candidates) => {
      const reading = compilePattern(source)
      const reference = compileReference(source)
      if (!reading.ok) {
        if (reading.problem.code === 'pattern-too-large') return
        if (reference !== undefined) throw new Error(`${source}: ${reading.problem.message}`)
        return
      }
      for (const line of candidates) {
        const expected = reference?.matcher(line)
        const found = expected?.find() ?? false
        expect([source, line, reading.pattern.test(line)]).toEqual([source, line, found])
        expect(testerOf(reading.pattern.plan)(line)).toBe(found)
        const whole =
          found && expected ? { start: expected.start(), end: expected.end() } : undefined
        const place = reading.pattern.find(line)
        const shown = isShownInPart(reading.pattern) && place !== undefined ? whole : place
        expect([source, line, shown]).toEqual([source, line, whole])
      }
    }),
    { numRuns: 500 },
  )
})

/** What the quick look at a pattern must tell apart. */
const unit = fc.constantFrom(
  'a',
  'b',
  'ab',
  '/x ',
  '*',
  '+',
  '?',
  '(',
  ')',
  '|',
  '[a-z]',
  '[^b]',
  '.',
  '^',
  '$',
  '-',
)

it('a pattern is skipped on sight only where the parser confirms it: accepted, and every match has the text', () => {
  let promised = 0
  fc.assert(
    fc.property(
      fc.array(unit, { maxLength: 12 }),
      fc.string({ unit: fc.constantFrom('a', 'b', '/', 'x', ' '), maxLength: 16 }),
      (parts, line) => {
        const source = `/xa${parts.join('')}`
        const text = quickRequiredText(source)
        if (text === undefined) return
        promised++
        const reading = compilePattern(source)
        if (!reading.ok) throw new Error(`${source}: ${reading.problem.message}`)
        const candidate = `/xa${line}`
        expect(!reading.pattern.test(candidate) || candidate.includes(text)).toBe(true)
        expect(!reading.pattern.test(line) || line.includes(text)).toBe(true)
      },
    ),
    { numRuns: 3000 },
  )
  expect(promised).toBeGreaterThan(200)
})

/** Neither engine may look for the whole match, so that only what must be there is found. */
function isShownInPart({ source, plan }: Pattern): boolean {
  return plan.engine === 'javascript' && plan.find === undefined && !compileRe2(source).ok
}

function compileReference(source: string): RE2JS | undefined {
  try {
    return RE2JS.compile(source)
  } catch {
    return undefined
  }
}
