import { describe, expect, it } from 'vitest'
import { compilePattern, type Pattern } from '../../src/trigger/pattern.ts'

function accepted(source: string): Pattern {
  const reading = compilePattern(source)
  if (!reading.ok) throw new Error(`${source}: ${reading.problem.message}`)
  return reading.pattern
}

describe('a pattern', () => {
  it.each([
    ['foo(?=bar)', 'pattern-unsupported', 3, 'RE2 refuses it', undefined],
    ['foo(?!bar)', 'pattern-unsupported', 3, 'RE2 refuses it', undefined],
    ['(?<=x)y', 'pattern-unsupported', 0, 'RE2 refuses it', undefined],
    ['(?<!x)y', 'pattern-unsupported', 0, 'RE2 refuses it', undefined],
    ['(a)\\1', 'pattern-unsupported', 3, 'RE2 refuses it', undefined],
    ['[a\\9]', 'pattern-unsupported', 2, 'RE2 refuses it', undefined],
    ['(alpha', 'pattern-invalid', 0, 'RE2 refuses it', undefined],
    ['x(a|b', 'pattern-invalid', 0, 'RE2 refuses it', undefined],
    ['alpha)', 'pattern-invalid', 0, 'RE2 refuses it', undefined],
    ['a|b)c', 'pattern-invalid', 0, 'RE2 refuses it', undefined],
    ['x[abc', 'pattern-invalid', 1, 'RE2 refuses it', undefined],
    ['x[', 'pattern-invalid', 1, 'RE2 refuses it', undefined],
    ['x[]', 'pattern-invalid', 1, 'RE2 refuses it', undefined],
    ['x[^]', 'pattern-invalid', 1, 'RE2 refuses it', undefined],
    ['x[a-', 'pattern-invalid', 1, 'RE2 refuses it', undefined],
    ['[z-a]', 'pattern-invalid', 1, 'RE2 refuses it', undefined],
    ['[a-\\d]', 'pattern-invalid', 3, 'RE2 refuses it', undefined],
    ['alpha\\', 'pattern-invalid', 5, 'RE2 refuses it', undefined],
    ['[a\\', 'pattern-invalid', 2, 'RE2 refuses it', undefined],
    ['*alpha', 'pattern-invalid', 0, 'RE2 refuses it', undefined],
    ['a|+b', 'pattern-invalid', 2, 'RE2 refuses it', undefined],
    ['a(?b)', 'pattern-invalid', 1, 'RE2 refuses it', undefined],
    ['(a|?)', 'pattern-invalid', 3, 'RE2 refuses it', undefined],
    ['{2}a', 'pattern-invalid', 0, 'RE2 refuses it', undefined],
    ['a**', 'pattern-invalid', 1, 'RE2 refuses it', undefined],
    ['a?+', 'pattern-invalid', 1, 'RE2 refuses it', undefined],
    ['a+??', 'pattern-invalid', 1, 'RE2 refuses it', undefined],
    ['a*{2}', 'pattern-invalid', 1, 'RE2 refuses it', undefined],
    ['a{99999}', 'pattern-invalid', 1, 'RE2 refuses it', undefined],
    ['a{1001}', 'pattern-invalid', 1, 'RE2 refuses it', undefined],
    ['a{2,1001}', 'pattern-invalid', 1, 'RE2 refuses it', undefined],
    ['a{3,2}', 'pattern-invalid', 1, 'RE2 refuses it', undefined],
    ['((a{100}){100})', 'pattern-invalid', 3, 'RE2 refuses it', undefined],
    ['(a{501}){2}', 'pattern-invalid', 8, 'RE2 refuses it', undefined],
    ['x[[:nope:]]', 'pattern-invalid', 2, 'RE2 refuses it', undefined],
    ['a\\y', 'pattern-invalid', 1, 'RE2 refuses it', undefined],
    ['a\\é', 'pattern-invalid', 1, 'RE2 refuses it', undefined],
    ['a\\xyz', 'pattern-invalid', 1, 'RE2 refuses it', undefined],
    ['a\\x4', 'pattern-invalid', 1, 'RE2 refuses it', undefined],
    ['a\\x{}', 'pattern-invalid', 1, 'RE2 refuses it', undefined],
    ['a\\x{41', 'pattern-invalid', 1, 'RE2 refuses it', undefined],
    ['a\\x{110000}', 'pattern-invalid', 1, 'RE2 refuses it', undefined],
    ['(?i)a(b', 'pattern-invalid', 0, 'RE2 refuses it', undefined],
    ['(?i)(x)\\2', 'pattern-unsupported', 7, 'RE2 refuses it', undefined],
    ['x'.repeat(1001), 'pattern-too-long', 1000, '1001 characters; 1000', 'several triggers'],
    [
      `^${'x'.repeat(100 * 1024)}`,
      'pattern-too-long',
      1000,
      '102401 characters; 1000',
      'several triggers',
    ],
    ['a{1000}', 'pattern-too-large', 0, '500 are allowed', 'several triggers'],
    ['(a{500}){2}', 'pattern-too-large', 0, '500 are allowed', 'several triggers'],
    ['(ab?c|de?f){200}(x|yz*)*', 'pattern-too-large', 0, '500 are allowed', 'several triggers'],
  ])(
    'is refused with its place and a hint: %s as %s',
    (source, code, offset, said, hint = 'without a hint') => {
      const reading = compilePattern(source)
      const problem = reading.ok ? undefined : reading.problem
      expect(problem).toMatchObject({ code, offset, message: expect.stringContaining(said) })
      expect(problem?.hint ?? 'without a hint').toContain(hint)
    },
  )

  it('can have 1,000 characters and a line end', () => {
    expect(accepted(`${'x'.repeat(1000)}\n`).test('x'.repeat(1001))).toBe(true)
  })

  it('is portable exactly if it stays in the subset', () => {
    const portable = [
      '^/t a',
      'a.b',
      'a\\.b',
      '[Aa]lpha',
      '(a|b)+',
      '^x|y$',
      '(^x|y$)',
      '^(a|b)$',
      '',
      '^',
      'a\\|b\\(c\\)',
      '[a^-]',
      '\\^\\$\\.\\?\\*\\+\\{\\}\\\\',
      'a*b?c+',
      '\\[x\\]',
      '[^a-z]',
      'café',
      '-e',
    ]
    expect(portable.filter((source) => accepted(source).notes.length > 0)).toEqual([])
  })

  it.each([
    ['x\\d+', 'perl-class', '\\d', '[0-9]'],
    ['a\\Db', 'perl-class', '\\D', '[^0-9]'],
    ['a\\wb', 'perl-class', '\\w', '[A-Za-z0-9_]'],
    ['a\\Wb', 'perl-class', '\\W', '[^A-Za-z0-9_]'],
    ['a\\sb', 'perl-class', '\\s', undefined],
    ['a\\bx', 'word-boundary', '\\b', undefined],
    ['a\\Bx', 'word-boundary', '\\B', undefined],
    ['x[[:digit:]]', 'posix-class', '[:digit:]', '0-9'],
    ['x[[:^digit:]]', 'posix-class', '[:^digit:]', undefined],
    ['x[[:space:]]', 'posix-class', '[:space:]', undefined],
    ['x[\\d]', 'class-escape', '\\d', '0-9'],
    ['x[\\D]', 'class-escape', '\\D', undefined],
    ['x[\\s]', 'class-escape', '\\s', undefined],
    ['x[\\]]', 'class-escape', '\\]', undefined],
    ['x[]a]', 'class-bracket', '[]', undefined],
    ['x[^]a]', 'class-bracket', '[^]', undefined],
    ['x[é]', 'class-non-ascii', 'é', undefined],
    ['x[a😀]', 'class-non-ascii', '😀', undefined],
    ['a.*?b', 'lazy', '?', ''],
    ['x(?:a|b)', 'group-syntax', '(?:', '('],
    ['x(?P<n>a)', 'group-syntax', '(?P<', undefined],
    ['x(?<n>a)', 'group-syntax', '(?<', undefined],
    ['x(?i)a', 'flags', '(?i)', undefined],
    ['x(?i-s:a)', 'flags', '(?i-s:', undefined],
    ['ab{2,3}c', 'interval', '{2,3}', undefined],
    ['x{name}', 'literal-brace', '{', '[{]'],
    ['a\\tb[c]', 'control-escape', '\\t', undefined],
    ['a\\x41b', 'control-escape', '\\x41', undefined],
    ['a\\x{41}b', 'control-escape', '\\x{41}', undefined],
    ['x\\07', 'control-escape', '\\0', undefined],
    ['x\\12', 'control-escape', '\\1', undefined],
    ['x\\Qa\\E', 'control-escape', '\\Q', undefined],
    ['x\\p{L}', 'unicode-class', '\\p', undefined],
    ['x\\P{L}', 'unicode-class', '\\P', undefined],
    ['\\Aabc', 'text-anchor', '\\A', '^'],
    ['abc\\z', 'text-anchor', '\\z', '$'],
    ['^\\/t', 'needless-escape', '\\/', '/'],
    ['a\\`b', 'gnu-anchor', '\\`', '`'],
    ["a\\'b", 'gnu-anchor', "\\'", "'"],
    ['a\\<b', 'gnu-anchor', '\\<', '<'],
    ['a\\>b', 'gnu-anchor', '\\>', '>'],
    ['alpha|', 'empty-branch', '', undefined],
    ['|alpha', 'empty-branch', '', undefined],
    ['x(|a)', 'empty-branch', '', undefined],
    ['()', 'empty-branch', '', undefined],
    ['a^b', 'anchor-inside', '^', undefined],
    ['a$b', 'anchor-inside', '$', undefined],
    ['x(a$b)', 'anchor-inside', '$', undefined],
    ['x*^a', 'anchor-inside', '^', undefined],
    ['^*a', 'anchor-inside', '^*', undefined],
    ['a$?', 'anchor-inside', '$?', undefined],
  ])('has a note about portability: %s as %s at %j', (source, construct, noted, rewrite) => {
    const { notes } = accepted(source)
    expect(notes).toMatchObject([{ construct, text: noted, rewrite }])
    expect(notes[0]?.start).toBe(source.indexOf(noted, noted === '' ? notes[0]?.start : 0))
  })

  it('has one note for each place', () => {
    const found = (source: string): string[] =>
      accepted(source).notes.map(({ construct, start, end }) => `${construct} ${start}-${end}`)
    expect(found('\\d{2}\\d')).toEqual(['perl-class 0-2', 'interval 2-5', 'perl-class 5-7'])
    expect(found('a||b')).toEqual(['empty-branch 2-2'])
    expect(found('[]é\\d]')).toEqual([
      'class-bracket 0-2',
      'class-non-ascii 2-3',
      'class-escape 3-5',
    ])
    expect(found('(?:a*?)\\t(?i)b')).toEqual([
      'group-syntax 0-3',
      'lazy 5-6',
      'control-escape 7-9',
      'flags 9-13',
    ])
  })
})
