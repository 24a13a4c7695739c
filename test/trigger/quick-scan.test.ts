import fc from 'fast-check'
import { expect, it } from 'vitest'
import { quickRequiredText } from '../../src/trigger/_quick-scan.ts'
import { compilePattern } from '../../src/trigger/index.ts'

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

it('promises only what the parser confirms: the pattern is accepted and every match has the text', () => {
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

it.each([
  ['^/name (amend|fix)( --[a-z-]+)*', '/name '],
  ['abcd*e', 'abc'],
  ['abc|def', undefined],
  ['ab', undefined],
  ['abc\\d', undefined],
  ['abc(', undefined],
  ['abc[z-a]', undefined],
  ['a'.repeat(151), undefined],
])('%s: %s', (source, text) => expect(quickRequiredText(source)).toBe(text))
