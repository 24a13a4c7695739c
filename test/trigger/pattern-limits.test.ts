import { describe, expect, it } from 'vitest'
import { compilePattern, type Pattern } from '../../src/trigger/pattern.ts'

function accepted(source: string): Pattern {
  const reading = compilePattern(source)
  if (!reading.ok) throw new Error(`${source}: ${reading.problem.message}`)
  return reading.pattern
}

it.each([
  ['[ab]{498}', '[ab]{499}'],
  ['^[ab]{496}$', '^[ab]{497}$'],
  ['[ab]{248}|[cd]{249}', '[ab]{249}|[cd]{249}'],
  ['c[ab]{248}d{249}', 'c[ab]{249}d{249}'],
  ['c([ab]{2,}d){80}', 'c([ab]{2,}d){83}'],
  ['(?i)[ab]{490}', '(?i)[ab]{500}'],
])('accepts %s, but %s is too large', (small, large) => {
  expect(accepted(small).test('ab')).toBe(false)
  expect(compilePattern(large)).toMatchObject({
    ok: false,
    problem: { code: 'pattern-too-large', offset: 0 },
  })
})

describe('the text that a prompt must contain', () => {
  const many = (count: number): string[] =>
    Array.from({ length: count }, (_, index) => `word${index}`)

  it.each([
    ['^/saw (program|amend)( --[a-z-]+)*', [['/saw '], ['program', 'amend']]],
    ['[Aa]lpha', [['lpha']]],
    ['a+b', [['a'], ['b']]],
    ['(ab){2}c', [['ab'], ['c']]],
    ['(ab)*c', [['c']]],
    ['(ab)?c', [['c']]],
    ['(ab){0,2}c', [['c']]],
    ['[ab]c?', []],
    ['^\\bx$', [['x']]],
    ['.', []],
    ['(one|two|[x])y', [['y']]],
    ['(one|)y', [['y']]],
    ['(one|two three[x]four)y', [['one', 'two three'], ['y']]],
    ['(one[x]seven|two)y', [['seven', 'two'], ['y']]],
    ['((aa|bb)cccc|dd)x', [['cccc', 'dd'], ['x']]],
    ['(b|ccccc)[x]dd', [['dd'], ['b', 'ccccc']]],
    ['a[x]bb[x]ccc[x]dddd', [['dddd'], ['ccc'], ['bb']]],
    ['foo.*bar', [['foo'], ['bar']]],
    [`[x](${many(16).join('|')})`, [many(16)]],
    [`[x](${many(17).join('|')})`, []],
    ['(?i)alpha', []],
  ])('is derived for %s: %j', (source, required) => {
    expect(accepted(source).required).toEqual(required)
  })
})

it('a line with every character takes no more memory than a short line', () => {
  const line = Array.from({ length: 3000 }, (_, code) => String.fromCodePoint(0x100 + code)).join(
    '',
  )
  const { test, find } = accepted('(?i)[α-ω]ALPHA')
  expect(test(`${line}ωalpha`)).toBe(true)
  expect(find(`${line}ωalpha`)).toEqual({ start: 3000, end: 3006 })
  expect(test(line)).toBe(false)
})
