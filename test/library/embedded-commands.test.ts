import fc from 'fast-check'
import { expect, it } from 'vitest'
import { findEmbeddedCommands } from '../../src/library/activation.ts'

it.each([
  ['at the start of a line', '!`ls`', [{ command: 'ls', line: 1 }]],
  [
    'after a blank',
    'a\nsee !`ls -l` and\t!`pwd`',
    [
      { command: 'ls -l', line: 2 },
      { command: 'pwd', line: 2 },
    ],
  ],
  ['inside a word', 'wow!`ls`', []],
  ['code without the mark', '`ls`', []],
  ['empty code', '!``', []],
  ['a block', 'x\n```!\nls\npwd\n```\n', [{ command: 'ls\npwd', line: 2 }]],
  ['an ordinary block that shows one', '```sh\n!`ls`\n```\n', []],
  ['a block with a longer fence', '````!\n```\n````', [{ command: '```', line: 1 }]],
  ['a block that is not closed', '```!\nls', []],
])('finds embedded commands: %s', (_case, body, commands) => {
  expect(findEmbeddedCommands(body)).toEqual(commands)
})

it('reads any text without an error', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('!', '`', '```', '```!', '\n', ' ', 'x', '~~~')),
      (parts) => {
        const body = parts.join('')
        const lines = body.split('\n').length
        for (const { line } of findEmbeddedCommands(body)) {
          expect(line).toBeGreaterThanOrEqual(1)
          expect(line).toBeLessThanOrEqual(lines)
        }
      },
    ),
  )
})
