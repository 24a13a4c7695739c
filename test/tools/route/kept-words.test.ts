import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keptWords, readKeptWords } from '../../../src/tools/route/kept-words.ts'
import { gatherWords } from '../../../src/tools/route/word-table.ts'
import { scoredWords } from '../../../src/tools/route/words.ts'

const width = 2
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom('lists list Listing', '__proto__ constructor 2024 2024', 'naïve Pläne 東京 𝒜bc'),
)

describe('kept words', () => {
  it('are found where they were gathered', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text), { maxLength: 8 }), (documents) => {
        const gathered = gatherWords(
          documents.map((fields) => fields.map((one) => [{ text: one }])),
          width,
        )
        const stored: unknown = JSON.parse(JSON.stringify(keptWords(gathered)))
        const kept = readKeptWords(stored, gathered.size, gathered.lengths)
        for (const word of [...documents.flat().flatMap(scoredWords), 'toString', 'absent']) {
          expect(kept.forms(word)).toEqual(gathered.forms(word))
        }
      }),
    )
  })

  it.each([
    ['no object', 7],
    ['null', null],
    ['no list of places', { list: '1,2' }],
    ['no numbers', { list: ['1,x'] }],
    ['a place beyond the last', { list: ['1,400'] }],
    ['another number of counts', { list: ['1,2*1'] }],
    ['something else than text', { list: [{}] }],
  ])('give nothing of %s', (_name, stored) => {
    const places = readKeptWords(stored, 2, new Float64Array(4))
      .forms('list')
      .flatMap((found) => found.places)
    expect(places).toEqual([])
  })
})
