import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { shellWord } from '../../src/core/text.ts'

it.each([
  [['skillrail', 'run', 'release-check'], 'skillrail run release-check'],
  [
    ['skillrail', 'runs', 'approve', '0a', '--step', 'a/b#2'],
    `skillrail runs approve 0a --step 'a/b#2'`,
  ],
  [['skillrail', 'run', `x'; rm -rf ~ #`], `skillrail run 'x'\\''; rm -rf ~ #'`],
  [['a', ''], `a ''`],
])('writes %j so that it can be pasted', (words, line) => {
  expect(words.map(shellWord).join(' ')).toBe(line)
})

it('a shell reads the same words, whatever they contain', () => {
  const word = fc.string({
    unit: fc.constantFrom(...Array.from(`ab-_=~ '"\\$\`;|&<>(){}[]*?!#%\n\té`)),
    maxLength: 12,
  })
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), (words) => {
      const line = ['printf', '[%s]', ...words].map(shellWord).join(' ')
      const said = execFileSync('/bin/sh', ['-c', line], { encoding: 'utf8' })
      expect(said).toBe(words.map((one) => `[${one}]`).join(''))
    }),
    { numRuns: 60 },
  )
})
