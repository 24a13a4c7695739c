import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deepestJson, tooDeepAt } from '../../src/core/json.ts'
import { placesIn } from '../../src/core/text.ts'

it('a place equals the line and column counted from the beginning', () => {
  const texts = fc.string({ unit: fc.constantFrom('a', '\n', '\r', 'é', '😀') })
  fc.assert(
    fc.property(texts, (text) => {
      const placeOf = placesIn(text)
      for (let offset = 0; offset <= text.length; offset++) {
        const lines = text.slice(0, offset).split('\n')
        const column = (lines.at(-1)?.length ?? 0) + 1
        expect(placeOf(offset)).toEqual({ line: lines.length, column })
      }
    }),
  )
})

describe('the depth of JSON', () => {
  const nested = (levels: number): string => '[{"a":'.repeat(levels / 2) + '}]'.repeat(levels / 2)

  it('is reported at the place where it goes too far', () => {
    expect(tooDeepAt(nested(deepestJson))).toBeUndefined()
    expect(tooDeepAt(`[${nested(deepestJson)}]`)).toBe(nested(deepestJson).indexOf('}]') - 4)
    expect(tooDeepAt('[[[', 2)).toBe(2)
  })

  it.each([
    ['texts', `["${'['.repeat(500)}\\"${'{'.repeat(500)}"]`],
    ['comments', `[ // ${'['.repeat(500)}\n /* ${'{'.repeat(500)} */ ]`],
    ['a text that is not closed', `"${'['.repeat(500)}`],
    ['a comment that is not closed', `/* ${'['.repeat(500)}`],
    ['lists beside one another', '[]'.repeat(500)],
  ])('does not count %s', (_, text) => {
    expect(tooDeepAt(text)).toBeUndefined()
  })

  it('counts brackets after an unclosed text on an earlier line', () => {
    expect(tooDeepAt(`"a\n${'['.repeat(300)}`)).toBe(3 + deepestJson)
  })
})
