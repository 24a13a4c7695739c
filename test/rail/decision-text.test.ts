import { expect, it } from 'vitest'
import { decisionText } from '../../src/rail/texts.ts'

it.each([
  ['not after all', 'The user rejected: not after all.'],
  ['not after all.', 'The user rejected: not after all.'],
  ['why now?', 'The user rejected: why now?'],
])('ends the reason of a rejection as a sentence: %s', (why, text) => {
  expect(decisionText(false, why)).toBe(text)
})
