import { expect, it } from 'vitest'
import { quickRequiredText } from '../../src/trigger/_quick-scan.ts'

it.each([
  ['^/name (amend|fix)( --[a-z-]+)*', '/name '],
  ['abcd*e', 'abc'],
  ['abc|def', undefined],
  ['ab', undefined],
  ['abc\\d', undefined],
  ['abc(', undefined],
  ['abc[z-a]', undefined],
  ['a'.repeat(150), 'a'.repeat(150)],
  ['a'.repeat(151), undefined],
])('%s: %s', (source, text) => expect(quickRequiredText(source)).toBe(text))
