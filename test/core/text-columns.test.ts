import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { columnsOf, cutToColumns, padToColumns } from '../../src/core/text.ts'

const family = '👩‍👩‍👧‍👦'

describe('columnsOf', () => {
  it.each([
    ['', 0],
    ['plain text', 10],
    ['Grüße', 5],
    ['e\u0301', 1],
    ['検証', 4],
    ['한글', 4],
    ['ｆｕｌｌ', 8],
    ['🎉', 2],
    [family, 2],
    ['🇩🇪', 2],
    ['❤️', 2],
    ['✓ ✗ … █ ⊘', 9],
  ])('counts for %j %i columns', (text, columns) => {
    expect(columnsOf(text)).toBe(columns)
  })
})

describe('cutToColumns', () => {
  it.each([
    ['plain text', 10, 'plain text'],
    ['plain text', 9, 'plain te…'],
    ['plain text', 7, 'plain…'],
    ['検証検証', 8, '検証検証'],
    ['検証検証', 7, '検証検…'],
    ['検証検証', 6, '検証…'],
    [`${family}${family}`, 3, `${family}…`],
    ['abc', 1, '…'],
    ['abc', 0, ''],
    ['検', 1, '…'],
    ['検', -1, ''],
  ])('cuts %j in %i columns to %j', (text, columns, cut) => {
    expect(cutToColumns(text, columns)).toBe(cut)
  })

  it('never uses more columns than allowed, and never leaves half a character', () => {
    const texts = fc.string({ unit: 'grapheme', maxLength: 40 })
    fc.assert(
      fc.property(texts, fc.nat(50), (text, columns) => {
        const cut = cutToColumns(text, columns)
        expect(columnsOf(cut)).toBeLessThanOrEqual(columns)
        expect(cut.isWellFormed()).toBe(true)
        expect(cut).toBe(columnsOf(text) <= columns ? text : cut)
      }),
    )
  })
})

it('padToColumns fills up to a visible width', () => {
  expect(padToColumns('検', 4)).toBe('検  ')
  expect(padToColumns('long', 2)).toBe('long')
})
