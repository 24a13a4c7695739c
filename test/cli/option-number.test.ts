import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { exitCode } from '../../src/core/errors.ts'
import { milliseconds, wholeNumber } from '../../src/core/option-values.ts'
import { runInProcess } from '../run-in-process.ts'

const huge = '9'.repeat(400)

it.each([
  ['0', 0],
  ['7', 7],
  ['007', 7],
  ['65535', 65_535],
])('accepts a whole number in digits: %s', (text, number) => {
  expect(wholeNumber('--port', text, { least: 0, most: 65_535 })).toBe(number)
})

it.each([
  '-1',
  '+1',
  '1e3',
  '1.5',
  '1.0',
  '0x10',
  ' 1',
  '1 ',
  '',
  '1_000',
  'x',
  '٣',
  '65536',
  huge,
])('refuses another form of a whole number: %j', (text) => {
  expect(() => wholeNumber('--port', text, { least: 0, most: 65_535 })).toThrow(
    /^--port is .{1,40}; expected a whole number from 0 to 65535$/,
  )
})

it('has no number for a missing option, and reports an empty one', () => {
  expect(() => wholeNumber('--keep', '', { least: 1, most: 9 })).toThrow('--keep is empty;')
  expect(() => wholeNumber('--keep', '0', { least: 1, most: 9 })).toThrow('from 1 to 9')
})

it.each([
  ['2', 2000],
  ['0.5', 500],
  ['1.001', 1001],
  ['20.0015', 20_002],
  ['0.0005', 1],
  ['0.0000001', 1],
  ['2147483', 2_147_483_000],
])('accepts seconds with decimals: %s', (text, number) => {
  expect(milliseconds('--timeout', text)).toBe(number)
})

it.each(['1.001', '0.005'])('accepts a time for a run: %s', async (time) => {
  const home = mkdtempSync(join(tmpdir(), 'option-number-'))
  const skill = join(home, '.agents/skills/wait')
  mkdirSync(join(skill, 'scripts'), { recursive: true })
  writeFileSync(join(skill, 'SKILL.md'), '---\nname: wait\ndescription: Waits.\n---\n')
  writeFileSync(join(skill, 'scripts/run.sh'), '#!/bin/sh\nexec sleep 30\n', { mode: 0o755 })
  const args = ['run', 'wait', '--max-time', time]
  const { code, stderr } = await runInProcess(args, { cwd: home, home })
  expect(stderr).toContain(`The run was ended after ${time} s (--max-time).`)
  expect(code).toBe(exitCode.budget)
})

it.each(['0', '0.0', '-1', '1e3', '.5', '5.', '0x10', '', ' ', 'soon', '2147484', huge])(
  'refuses another form of a time: %j',
  (text) => {
    expect(() => milliseconds('--timeout', text)).toThrow(
      /^--timeout is .{1,40}; expected a number of seconds above 0, at most 2147483$/,
    )
  },
)

it.each([
  [['agent', 'Go.', '--model', 'ollama:x', '--max-turns'], 'a whole number from 1 to 9999'],
  [['agent', 'Go.', '--model', 'ollama:x', '--concurrency'], 'a whole number from 1 to 1000'],
  [
    ['agent', 'delegate', 'a', 'Go.', '--model', 'ollama:x', '--max-turns'],
    'a whole number from 1 to',
  ],
  [
    ['agent', 'delegate', 'a', 'Go.', '--model', 'ollama:x', '--timeout'],
    'a number of seconds above 0',
  ],
  [['runs', 'worker', '--port'], 'a whole number from 0 to 65535'],
  [['runs', 'prune', '--keep'], 'a whole number from 0 to'],
  [['runs', 'prune', '--older-than'], 'a whole number from 0 to'],
  [['hooks', 'log', '--limit'], 'a whole number from 1 to'],
  [['tools', 'search', 'x', '--limit'], 'a whole number from 1 to 1000'],
  [['triggers', 'inject', 'x', '--budget'], 'a whole number from 0 to'],
  [['triggers', 'match', 'x', '--budget'], 'a whole number from 0 to'],
  [['list', '--prompt', '--budget'], 'a whole number from 0 to'],
])('refuses 1e3 in %j', async (args, wanted) => {
  const home = mkdtempSync(join(tmpdir(), 'option-number-'))
  const { code, stdout, stderr } = await runInProcess([...args, '1e3'], { cwd: home, home })
  expect(stderr).toContain(`${args.at(-1)} is 1e3; expected ${wanted}`)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
})
