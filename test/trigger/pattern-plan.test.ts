import { describe, expect, it } from 'vitest'
import {
  compilePattern,
  type Pattern,
  type PatternPlan,
  testerOf,
} from '../../src/trigger/index.ts'

function accepted(source: string): Pattern {
  const reading = compilePattern(source)
  if (!reading.ok) throw new Error(`${source}: ${reading.problem.message}`)
  return reading.pattern
}

describe('a pattern that is a text', () => {
  it.each([
    ['deploy', 'deploy', false, false],
    ['^/deploy now', '/deploy now', true, false],
    ['now$', 'now', false, true],
    ['^now$', 'now', true, true],
    ['', '', false, false],
    ['^', '', true, false],
    ['$', '', false, true],
  ])('%j needs no expression', (source, text, atStart, atEnd) => {
    expect(accepted(source).plan).toEqual({ engine: 'text', text, atStart, atEnd })
  })

  it.each([
    'a$b',
    'a^b',
    '^^a',
    'a$$',
    'a.b',
    'a|b',
    'a(b)',
    '[a]b',
    'a\\.',
    'a{b',
    'a+',
    'a*',
    'a?',
  ])('%s is none', (source) => expect(accepted(source).plan.engine).not.toBe('text'))
})

/**
 * Which engine is asked whether a line matches, and which one where: JavaScript backtracks, and is
 * asked only where that is proven to take time linear in the line.
 */
const engines: [source: string, tests: string, finds: string][] = [
  // As most triggers are.
  ['^/saw (program|amend)', 'javascript', 'javascript'],
  ['^/saw (program|amend)( --[a-z-]+)*', 'javascript', 're2'],
  ['^/saw .*program', 'javascript', 'javascript'],
  ['^[a-z]+ +[0-9]+$', 'javascript', 'javascript'],
  ['[Aa]lpha', 'javascript', 'javascript'],
  ['.*alpha.*', 'javascript', 're2'],
  ['foo +bar', 'javascript', 'javascript'],
  // Repetitions whose end is certain, in a pattern that begins with something else.
  ['xa*b', 'javascript', 'javascript'],
  ['xa*$', 'javascript', 'javascript'],
  ['xa*b?$', 'javascript', 'javascript'],
  ['xa*b?c', 'javascript', 'javascript'],
  ['xa*[^a]', 'javascript', 'javascript'],
  ['xa*(b|c)d', 'javascript', 'javascript'],
  ['xa*(b[cd]){2}e', 'javascript', 'javascript'],
  ['xa*(b?c){2}e', 'javascript', 'javascript'],
  ['xa*😀c', 'javascript', 'javascript'],
  ['x😀*y', 'javascript', 'javascript'],
  ['xa{2,}b', 'javascript', 'javascript'],
  ['xa*bc*d', 'javascript', 'javascript'],
  ['/[^/]*/', 'javascript', 'javascript'],
  ['xa*', 'javascript', 'javascript'],
  // The same, but the end is not certain.
  ['xa*a', 're2', 're2'],
  ['xa*a?$', 're2', 're2'],
  ['xa*b?a', 're2', 're2'],
  ['xa*[^b]', 're2', 're2'],
  ['x[a-w]*b', 're2', 're2'],
  ['xa*(b|a)d', 're2', 're2'],
  ['xa*(b|)d', 're2', 're2'],
  ['xa*(b?c?|e)d', 're2', 're2'],
  ['xa*(a?c){2}e', 're2', 're2'],
  ['xa*(b?c?){2}e', 're2', 're2'],
  ['xa*(a[cd]|ef)g', 're2', 're2'],
  ['xa*\\bb', 're2', 're2'],
  ['xa*^b', 're2', 're2'],
  ['xa*.', 're2', 're2'],
  ['x[^\\x{0}-\\x{10FFFE}]*\\x{10FFFF}', 're2', 're2'],
  ['foo.*bar', 're2', 're2'],
  ['xa*b*', 'javascript', 're2'],
  // A repetition of what the pattern begins with is walked from every place in it.
  ['a+b', 'javascript', 're2'],
  ['xx*b', 're2', 're2'],
  ['x[^b]*b', 're2', 're2'],
  ['(x|a)a*b', 're2', 're2'],
  ['x?ya*x*b', 'javascript', 're2'],
  ['\\bxa*b', 're2', 're2'],
  ['/[^a]*a', 're2', 're2'],
  // Behind ^ there is one place only, so that one repetition may be uncertain.
  ['^.*a', 'javascript', 'javascript'],
  ['^xx*b', 'javascript', 'javascript'],
  ['^x[^b]*b', 'javascript', 'javascript'],
  ['^a*a', 'javascript', 'javascript'],
  ['^a*ab*c', 'javascript', 'javascript'],
  ['^a*b*a*c', 're2', 're2'],
  ['^.*ab+c', 'javascript', 'javascript'],
  ['^.*aba+c', 're2', 're2'],
  ['^.*a.*b', 're2', 're2'],
  ['^a*ab*b', 're2', 're2'],
  ['^a+b|^c.*d', 'javascript', 'javascript'],
  ['^a*a|xa*a', 're2', 're2'],
  // More than one character that is repeated.
  ['x(ab)*y', 're2', 're2'],
  ['^x(ab)+y', 're2', 're2'],
  ['x(😀a)*y', 're2', 're2'],
  ['^(a+)+$', 're2', 're2'],
  ['^(a|b)*c', 're2', 're2'],
  ['^(a*|b)c', 're2', 're2'],
  ['^(a*b){2}c', 're2', 're2'],
  ['^(a*)?c', 're2', 're2'],
  ['^(xa*b)c', 'javascript', 'javascript'],
  // Ways through the pattern times its width: at most 1,000.
  ['(a|b){6}x', 'javascript', 'javascript'],
  ['(a|b){7}x', 're2', 're2'],
  ['c(a|b){5,6}d', 'javascript', 'javascript'],
  ['c(a|b){4,6}d', 're2', 're2'],
  ['(a|aa|aaa|aaaa){12}b', 're2', 're2'],
  ['(a?){9}b', 'javascript', 're2'],
  // JavaScript does not repeat nothing, and would find another text.
  ['x(|a)?y', 'javascript', 're2'],
  ['x(\\b|a)?y', 'javascript', 're2'],
  ['x(a|b(c?d?){2})y', 'javascript', 're2'],
  ['x(a|bc?)?y', 'javascript', 'javascript'],
  ['x([ab]|.){0,2}y', 'javascript', 'javascript'],
  // What only the library reads.
  ['(?i)alpha', 're2', 're2'],
  ['\\p{L}+x', 're2', 're2'],
]

describe('the engine that is asked', () => {
  it.each(engines)('about %s is %s, and for the place %s', (source, tests, finds) => {
    const { plan } = accepted(source)
    const finder = plan.engine === 'javascript' && plan.find !== undefined ? 'javascript' : 're2'
    expect([plan.engine, finder]).toEqual([tests, finds])
  })

  it.each([
    ['[ab]{999}', '[ab]{1000}'],
    ['^[ab]{999}$', '^[ab]{1000}$'],
    ['\\b[ab]{999}\\b', '\\b[ab]{1000}\\b'],
    ['.{999}', '.{1000}'],
    ['[ab]{499}|[cd]{499}', '[ab]{499}|[cd]{500}'],
    ['c(|[ab]{497})d', 'c(|[ab]{498})d'],
    ['c([ef]{9}|[ab]{497})d', 'c([ef]{9}|[ab]{498})d'],
    ['c(x[ab]{496}|y)d', 'c(x[ab]{497}|y)d'],
    ['c([ab]{2}){498}', 'c([ab]{2}){500}'],
    ['c[ab]{499}d{499}', 'c[ab]{499}d{500}'],
    ['^a{500,}b{498,}c', '^a{500,}b{499,}c'],
  ])('takes %s, but %s is too large for both', (small, large) => {
    expect(accepted(small).plan.engine).toBe('javascript')
    expect(compilePattern(large)).toMatchObject({
      ok: false,
      problem: { code: 'pattern-too-large', offset: 0 },
    })
  })
})

describe('the test of a pattern', () => {
  it.each([
    ['.*deploy( now)*', 'deploy'],
    ['x?y*deploy', 'deploy'],
    ['x+deploy', 'xdeploy'],
    ['deploy[ab]{2,}', 'deploy[\\u{61}-\\u{62}]{2}'],
    ['[ab]{2,5}deploy', '[\\u{61}-\\u{62}]{2}deploy'],
    ['x{2}deployy{3}', 'x{2}deployy{3}'],
    ['(a|b)+c', '(?:a|b)c'],
    ['a+|b*c', 'a|c'],
    ['.*', '(?:)'],
    ['a*b?(c|d*)', '(?:)'],
    ['^a+', '^a'],
    ['^x*', '^'],
    ['a+$', 'a$'],
    ['foo.*bar', null],
    ['(\\b)?a', '(?:\\b)?a'],
    ['(ab){1}c?', 'ab'],
    ['(\\bx){1,2}y', '(?:\\bx){1,2}y'],
    ['(x|y\\b)?y', '(?:x|y\\b)?y'],
    ['(xy\\b)?y', '(?:xy\\b)?y'],
    ['(x$)?y', '(?:x$)?y'],
    ['(|^)y', '(?:(?:)|^)y'],
    ['a(b|\\B)', 'a(?:b|\\B)'],
  ])('%s leaves out what decides nothing: %s', (source, expression) => {
    const { plan } = accepted(source)
    expect(plan.engine === 'javascript' ? plan.test : null).toBe(expression)
  })
})

describe('the expression of a pattern', () => {
  it.each([
    ['^a*b', '^a*b'],
    ['^a+b', '^a+b'],
    ['^a?b', '^a?b'],
    ['^a{2}b', '^a{2}b'],
    ['^a{2,}b', '^a{2,}b'],
    ['^a{2,3}b', '^a{2,3}b'],
    ['^a{0,2}b', '^a{0,2}b'],
    ['^a{0,}b', '^a*b'],
    ['^a*?b', '^a*?b'],
    ['^.*b', '^[^\\n]*b'],
    ['^😀?b', '^😀?b'],
    ['^(ab)?c', '^(?:ab)?c'],
    ['^(a|b)?c', '^(?:a|b)?c'],
    ['[a]b', '[\\u{61}]b'],
    ['[a-c]b', '[\\u{61}-\\u{63}]b'],
    ['[^a]b', '[^\\u{61}]b'],
    ['\\bx\\B', '\\bx\\B'],
    ['a[.]b\\.c', 'a[\\u{2e}]b\\.c'],
  ])('%s is %s', (source, expression) => {
    const { plan } = accepted(source)
    expect(plan.engine === 'javascript' ? [plan.test, plan.find] : []).toEqual([
      expression,
      expression,
    ])
  })
})

describe('what a prompt must contain', () => {
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
  ])('for %s: %j', (source, required) => {
    const { plan } = accepted(source)
    expect(plan.engine === 'text' ? plan.text : plan.required).toEqual(required)
  })
})

describe('a plan that was kept', () => {
  it('of a pattern that is refused matches nothing', () => {
    const plan: PatternPlan = { engine: 're2', source: '[ab]{1000}(c|d)*', required: [] }
    expect(testerOf(plan)('ab'.repeat(500))).toBe(false)
  })

  it('may be asked again and again', () => {
    for (const source of ['alpha', '[Aa]lpha', '(?i)alpha']) {
      const test = testerOf(accepted(source).plan)
      expect(['alpha', 'beta', 'alpha', ''].map(test)).toEqual([true, false, true, false])
    }
  })
})

it('a pattern that neither engine may look for is shown by what must be there', () => {
  const { find, test } = accepted('x*[ab]{200}y*')
  const line = `!xx${'ab'.repeat(100)}y!`
  expect(test(line)).toBe(true)
  expect(find(line)).toEqual({ start: 3, end: 203 })
  expect(find('xx')).toBeUndefined()
})

it('a line of all characters there are takes no more memory than a short one', () => {
  const line = Array.from({ length: 3000 }, (_, code) => String.fromCodePoint(0x100 + code)).join(
    '',
  )
  const { test, find } = accepted('(?i)[α-ω]ALPHA')
  expect(test(`${line}ωalpha`)).toBe(true)
  expect(find(`${line}ωalpha`)).toEqual({ start: 3000, end: 3006 })
  expect(test(line)).toBe(false)
})
