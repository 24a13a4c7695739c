import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { lastErrorLine } from '../../src/exec/output-protocol.ts'

it.each([
  ['', ''],
  ['one\ntwo\n\n', 'two'],
  ['make: *** [all] Error 1\nmake: left\n', 'make: left'],
])('takes the last line of %j as the error line', (stderr, errorLine) => {
  expect(lastErrorLine(stderr)).toBe(errorLine)
})

it.each([
  [`throw new Error('no such order')`, 'Error: no such order'],
  [`require('node:fs').readdirSync('/no/such')`, /^Error: ENOENT.*'\/no\/such'$/],
  [`require('node:assert').equal(1, 2)`, /^AssertionError \[ERR_ASSERTION\]/],
  [`class Odd extends Error { name = 'Oddity' }; throw new Odd('so odd')`, 'Oddity: so odd'],
  [`throw 'a plain text'`, 'a plain text'],
  [`throw new TypeError('outer', { cause: new Error('inner') })`, 'TypeError: outer'],
  [`Promise.reject(new RangeError('late'))`, 'RangeError: late'],
])(
  "takes the error's message as the error line of a Node program that ends with %s",
  (program, errorLine) => {
    const { stderr } = spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' })
    expect(stderr).toMatch(/\nNode\.js v\d/)
    expect(lastErrorLine(stderr)).toMatch(errorLine)
  },
)
