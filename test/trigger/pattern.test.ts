import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { RE2JS } from 're2js'
import { describe, expect, it } from 'vitest'
import { compilePattern, type Pattern, testerOf } from '../../src/trigger/index.ts'

function accepted(source: string): Pattern {
  const reading = compilePattern(source)
  if (!reading.ok) throw new Error(`${source}: ${reading.problem.message}`)
  return reading.pattern
}

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

describe('a pattern', () => {
  it('means what RE2 says, whichever engine tests it', () => {
    fc.assert(
      fc.property(
        patterns,
        fc.array(lines, { minLength: 1, maxLength: 8 }),
        (source, candidates) => {
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
            const { find } = reading.pattern
            const place =
              found && expected ? { start: expected.start(), end: expected.end() } : undefined
            expect([source, line, find(line)]).toEqual([source, line, place])
          }
        },
      ),
      { numRuns: 500 },
    )
  })

  it.each([
    ['^/saw program', 'text'],
    ['deploy', 'text'],
    ['^exactly this$', 'text'],
    ['^/saw (program|amend)( --[a-z-]+)*', 'javascript'],
    ['[Aa]lpha', 'javascript'],
    ['.*alpha.*', 'javascript'],
    ['^/saw .*program', 'javascript'],
    ['^[a-z]+ +[0-9]+$', 'javascript'],
    ['foo +bar', 'javascript'],
    ['^(a+)+$', 're2'],
    ['foo.*bar', 're2'],
    ['^.*a.*b', 're2'],
    ['(a|aa|aaa|aaaa){12}b', 're2'],
    ['(?i)alpha', 're2'],
    ['\\p{L}+x', 're2'],
  ])('%s is tested by %s', (source, engine) => {
    expect(accepted(source).plan.engine).toBe(engine)
  })

  it.each([
    ['foo(?=bar)', 'pattern-unsupported', 3, 'lookahead'],
    ['foo(?!bar)', 'pattern-unsupported', 3, 'lookahead'],
    ['(?<=x)y', 'pattern-unsupported', 0, 'lookbehind'],
    ['(?<!x)y', 'pattern-unsupported', 0, 'lookbehind'],
    ['(a)\\1', 'pattern-unsupported', 3, 'back-reference'],
    ['(alpha', 'pattern-invalid', 0, 'not closed'],
    ['alpha)', 'pattern-invalid', 5, 'closes no group'],
    ['x[abc', 'pattern-invalid', 1, 'not closed'],
    ['[z-a]', 'pattern-invalid', 1, 'backwards'],
    ['alpha\\', 'pattern-invalid', 5, 'backslash ends'],
    ['*alpha', 'pattern-invalid', 0, 'repeats nothing'],
    ['a**', 'pattern-invalid', 1, 'repetition is repeated'],
    ['a{99999}', 'pattern-invalid', 1, 'too large'],
    ['a{3,2}', 'pattern-invalid', 1, 'wrong order'],
    ['((a{100}){100})', 'pattern-invalid', 0, '1000 times'],
    ['[[:nope:]]', 'pattern-invalid', 1, '[:nope:]'],
    ['a\\y', 'pattern-invalid', 1, 'no escape'],
    ['(?i)a(b', 'pattern-invalid', 0, 'RE2 refuses'],
    ['(?i)(x)\\2', 'pattern-invalid', 7, 'RE2 refuses'],
    [`^${'x'.repeat(100 * 1024)}`, 'pattern-too-long', 1000, '102401 characters'],
    ['(ab?c|de?f){200}(x|yz*)*', 'pattern-too-large', 0, '180 are allowed'],
  ])('%s is refused with its place', (source, code, offset, words) => {
    const reading = compilePattern(source)
    expect(reading.ok ? 'accepted' : reading.problem).toMatchObject({
      code,
      offset,
      message: expect.stringContaining(words),
    })
  })

  it('is portable exactly when it stays in the subset', () => {
    const portable = [
      '^/t a',
      'a.b',
      'a\\.b',
      '[Aa]lpha',
      '(a|b)+',
      '^x|y$',
      'a*b?c+',
      '\\[x\\]',
      '[^a-z]',
      'café',
      '-e',
    ]
    expect(portable.filter((source) => accepted(source).notes.length > 0)).toEqual([])
  })

  it.each([
    ['\\d+', 'perl-class', '[0-9]'],
    ['a\\Wb', 'perl-class', '[^A-Za-z0-9_]'],
    ['a\\sb', 'perl-class', undefined],
    ['\\bx', 'word-boundary', undefined],
    ['x[[:digit:]]', 'posix-class', '0-9'],
    ['x[[:space:]]', 'posix-class', undefined],
    ['[\\d]', 'class-escape', '0-9'],
    ['[]a]', 'class-bracket', undefined],
    ['[é]', 'class-non-ascii', undefined],
    ['a.*?b', 'lazy', ''],
    ['(?:a|b)', 'group-syntax', '('],
    ['(?i)a', 'flags', undefined],
    ['ab{2,3}', 'interval', undefined],
    ['{name}', 'literal-brace', '[{]'],
    ['a\\tb', 'control-escape', undefined],
    ['\\x41', 'control-escape', undefined],
    ['\\p{L}', 'unicode-class', undefined],
    ['\\Aabc', 'text-anchor', '^'],
    ['^\\/t', 'needless-escape', '/'],
    ['\\`abc', 'gnu-anchor', '`'],
    ['alpha|', 'empty-branch', undefined],
    ['()', 'empty-branch', undefined],
    ['a^b', 'anchor-inside', undefined],
    ['a$b', 'anchor-inside', undefined],
  ])('%s is noted as %s', (source, construct, rewrite) => {
    expect(accepted(source).notes).toMatchObject([{ construct, rewrite }])
  })
})

const bench = new URL('../fixtures/programs/pattern-steps.ts', import.meta.url).pathname

it('comes to an end on long lines that are made for backtracking', () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', bench],
    {
      encoding: 'utf8',
      timeout: 15_000,
    },
  )
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(JSON.parse(stdout)).toEqual({ finished: true })
})

function compileReference(source: string): RE2JS | undefined {
  try {
    return RE2JS.compile(source)
  } catch {
    return undefined
  }
}
