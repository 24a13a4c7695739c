import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { prepareRouter } from '../../../src/tools/route/router.ts'
import type { ToolSummary } from '../../../src/tools/model.ts'
import { tools } from './_tools.ts'

const router = prepareRouter(tools)

const vocabulary = tools.flatMap(({ name, description }) => [
  name,
  ...name.split('_'),
  ...description.split(' '),
])

const request = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.array(fc.constantFrom(...vocabulary), { maxLength: 20 }).map((words) => words.join(' ')),
)

describe('routing', () => {
  it('is a pure function', () => {
    fc.assert(
      fc.property(request, (text) => {
        const first = router.route(text)
        router.explain(text)
        expect(router.route(text)).toEqual(first)
      }),
    )
  })

  it('does not depend on the order of the tools', () => {
    fc.assert(
      fc.property(
        request,
        fc.shuffledSubarray([...tools], { minLength: tools.length }),
        (text, shuffled) => {
          expect(prepareRouter(shuffled).route(text)).toEqual(router.route(text))
        },
      ),
      { numRuns: 30 },
    )
  })

  it('orders candidates by score', () => {
    fc.assert(
      fc.property(request, (text) => {
        const { candidates, margin, decision, tool } = router.route(text, { limit: 50 })
        const sorted = candidates.toSorted(
          (one, other) => other.score - one.score || (one.tool < other.tool ? -1 : 1),
        )
        expect(candidates.map(({ score }) => score)).toEqual(sorted.map(({ score }) => score))
        expect(new Set(candidates.map((one) => one.tool)).size).toBe(candidates.length)
        expect(candidates.every(({ score }) => score >= 0)).toBe(true)
        expect(margin).toBeGreaterThanOrEqual(0)
        expect(margin).toBeLessThanOrEqual(1)
        expect(tool).toBe(decision === 'ask' ? undefined : candidates[0]?.tool)
      }),
    )
  })

  it('accepts any tools', () => {
    const text = fc.string({ unit: 'binary', maxLength: 60 })
    const anyTool: fc.Arbitrary<ToolSummary> = fc.record({
      id: text,
      server: text,
      name: text,
      description: text,
      parameters: fc.array(text, { maxLength: 3 }),
      required: fc.constant([]),
      category: fc.option(text, { nil: undefined }),
      examples: fc.option(fc.array(text, { maxLength: 3 }), { nil: undefined }),
    })
    fc.assert(
      fc.property(fc.array(anyTool, { maxLength: 8 }), request, (any, asked) => {
        const { candidates } = prepareRouter(any).route(asked)
        for (const { tool, score } of candidates) {
          expect(any.some(({ id }) => id === tool)).toBe(true)
          expect(Number.isFinite(score)).toBe(true)
        }
      }),
      { numRuns: 50 },
    )
  })
})

describe('a hostile request', () => {
  const mebibyte = 1024 * 1024

  it.each([
    ['nothing', ''],
    ['spaces', ' '.repeat(mebibyte)],
    ['one letter', 'a'.repeat(mebibyte)],
    ['one word', 'click '.repeat(mebibyte / 6)],
    ['unknown words', Array.from({ length: 150_000 }, (_, n) => `w${n}x`).join(' ')],
    ['underscores', '_'.repeat(mebibyte)],
    ['humps', 'aB'.repeat(mebibyte / 2)],
    ['identifiers', 'a_b-c.d/e:f__g '.repeat(mebibyte / 16)],
    ['control characters', '\u0000\u0007\u001b[2J'.repeat(mebibyte / 8)],
    ['half a character', '\ud800'.repeat(1000)],
    ['marks on marks', `e${'\u0301'.repeat(mebibyte / 2)}`],
    ['no spaces between words', '截图页面'.repeat(mebibyte / 8)],
    ['quotes', '"\''.repeat(mebibyte / 2)],
    ['slashes', '/a'.repeat(mebibyte / 2)],
    ['only grammar', 'the of and to '.repeat(1000)],
    ['the words of objects', '__proto__ constructor toString hasOwnProperty'],
  ])('with %s gets a route', (_name, text) => {
    const { decision, intent, candidates } = router.route(text)
    expect(['answer', 'shortlist', 'ask']).toContain(decision)
    expect(intent.length).toBeLessThanOrEqual(16)
    expect(candidates.length).toBeLessThanOrEqual(5)
  })

  it('is read up to a limit, so that ten times the length changes nothing', () => {
    const text = 'take a screenshot of the page and click submit '
    const long = text.repeat(500)
    expect(router.route(long.repeat(10))).toEqual(router.route(long))
  })
})

describe('many tools', () => {
  it('with one word each are distinguished', () => {
    const many: ToolSummary[] = Array.from({ length: 2000 }, (_, n) => ({
      id: `s__tool${n}`,
      server: 's',
      name: `tool${n}`,
      description: `Does thing${n}.`,
      parameters: [],
      required: [],
    }))
    const big = prepareRouter(many)
    expect(big.route('please do thing1234')).toMatchObject({ tool: 's__tool1234' })
    expect(big.route('tool77')).toMatchObject({ decision: 'answer', tool: 's__tool77' })
  })
})
