import fc from 'fast-check'
import { RE2JS } from 're2js'
import { expect, it } from 'vitest'
import { compilePattern } from '../../src/trigger/pattern.ts'

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

it('any pattern has the meaning of RE2', () => {
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
        const whole =
          found && expected ? { start: expected.start(), end: expected.end() } : undefined
        expect([source, line, reading.pattern.find(line)]).toEqual([source, line, whole])
      }
    }),
    { numRuns: 500 },
  )
})

function compileReference(source: string): RE2JS | undefined {
  try {
    return RE2JS.compile(source)
  } catch {
    return undefined
  }
}
