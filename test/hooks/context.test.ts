import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type ContextLimit, partsNeeded, shareContext } from '../../src/hooks/context.ts'

const limits: ContextLimit[] = [
  { unit: 'characters', amount: 10_000, parts: 4 },
  { unit: 'bytes', amount: 40_000, parts: 1 },
  { unit: 'characters', amount: 1500, parts: 2 },
]

const reference = fc.record({
  text: fc.oneof(
    fc
      .array(fc.string({ unit: 'grapheme', maxLength: 120 }), { maxLength: 60 })
      .map((lines) => lines.join('\n')),
    fc.nat({ max: 60_000 }).map((length) => 'é'.repeat(length)),
  ),
  path: fc.stringMatching(/^[a-z]{1,12}\.md$/),
})

it('never exceeds a limit, and includes every reference as a whole or by name', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...limits),
      fc.array(reference, { maxLength: 6 }),
      (limit, items) => {
        const references = items.map(({ text, path }, index) => ({
          skill: 'saw',
          path: `${index}-${path}`,
          file: `/skills/saw/${index}-${path}`,
          tokens: 0,
          text,
        }))
        const { shares, rest } = shareContext(references, limit)
        const measure = limit.unit === 'bytes' ? Buffer.byteLength : (text: string) => text.length
        expect(shares.length).toBeLessThanOrEqual(limit.parts)
        for (const share of shares) expect(measure(share)).toBeLessThanOrEqual(limit.amount)
        const whole = shares
          .map((share) => share.replace(/^\[Skillrail, part \d of \d\]\n/, ''))
          .join('')
        for (const { text, file, path } of references) {
          const isNamed = rest.some((other) => other.path === path)
          expect(whole).toContain(isNamed ? `${file}\n` : `-->\n${text.replace(/\n+$/, '')}\n\n`)
        }
      },
    ),
    { numRuns: 200 },
  )
})

it('keeps a text that fits as one piece, without a label', () => {
  const text = 'short'
  const { shares } = shareContext(
    [{ skill: 'a', path: 'b.md', file: '/a/b.md', tokens: 0, text }],
    { unit: 'characters', amount: Infinity, parts: 1 },
  )
  expect(shares).toEqual([
    'Skillrail put these references here for this prompt. They are complete, so do not load them again: a/b.md\n\n<!-- injected: b.md -->\nshort\n\n',
  ])
})

it.each([
  [0, 1],
  [8000, 1],
  [12_000, 2],
  [20_000, 3],
  [500_000, 4],
])('needs for %i characters %i parts of Claude Code', (size, parts) => {
  expect(partsNeeded(size, { unit: 'characters', amount: 10_000, parts: 4 })).toBe(parts)
})
