import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compareDiagnostics, compareText, type Diagnostic } from '../../src/core/errors.ts'

it('orders text by code point, unlike UTF-16', () => {
  const texts = ['b', 'a', '', '\u{1f600}', '\uffff', 'ab', 'B', '\ue000']
  expect(texts.toSorted(compareText)).toEqual([
    '',
    'B',
    'a',
    'ab',
    'b',
    '\ue000',
    '\uffff',
    '\u{1f600}',
  ])
})

it('orders any two texts as their code points', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
      expect(Math.sign(compareText(a, b))).toBe(Math.sign(slowly(a, b)))
      expect(compareText(a, b) === 0).toBe(a === b)
    }),
  )
})

it('orders diagnostics by path, line, column and code', () => {
  const at = (
    path: string,
    line: number | undefined,
    column: number,
    code: string,
  ): Diagnostic => ({
    path,
    line,
    column,
    code,
    severity: 'info',
    message: '',
  })
  const ordered = [
    at('a', undefined, 9, 'z'),
    at('a', 1, 2, 'b'),
    at('a', 1, 3, 'a'),
    at('a', 1, 3, 'b'),
    at('b', 1, 1, 'a'),
  ]
  expect(ordered.toReversed().toSorted(compareDiagnostics)).toEqual(ordered)
})

function slowly(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)]
  for (const [index, character] of left.entries()) {
    const other = right[index]
    if (other === undefined) return 1
    const difference = (character.codePointAt(0) ?? 0) - (other.codePointAt(0) ?? 0)
    if (difference !== 0) return difference
  }
  return left.length - right.length
}
