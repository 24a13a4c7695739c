import fc from 'fast-check'
import { expect, it } from 'vitest'
import { cutText, cutWithCount } from '../../src/core/text.ts'

it.each([
  ['short', 10, 'short'],
  ['  around  ', 20, 'around'],
  ['one two three', 9, 'one two…'],
  ['one two three', 8, 'one two…'],
])('cuts %j to %i characters as %j', (text, length, expected) => {
  expect(cutText(text, length)).toBe(expected)
})

it('keeps the limit and whole characters', () => {
  const texts = fc.string({ unit: 'grapheme', maxLength: 60 })
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 40 }), (text, length) => {
      const cut = cutText(text, length)
      expect(cut.length).toBeLessThanOrEqual(length)
      expect(cut.isWellFormed()).toBe(true)
    }),
  )
})

it('leaves a text that is short enough, and else says how many characters are missing', () => {
  expect(cutWithCount('exactly so', 10)).toBe('exactly so')
  const texts = fc.string({ unit: 'grapheme', minLength: 41, maxLength: 60 })
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 40 }), (text, length) => {
      const cut = cutWithCount(text, length, ' of it')
      const [, start = '', left] = /^(.*)… \((\d+) more characters of it\)$/su.exec(cut) ?? []
      expect(cut.isWellFormed()).toBe(true)
      expect(start.length).toBeLessThanOrEqual(length)
      expect(text.startsWith(start)).toBe(true)
      expect(start.length + Number(left)).toBe(text.length)
    }),
  )
})
