import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { chainProblems } from '../../src/chain/plan.ts'
import { commandsIn } from './_command.ts'
import { makeProject, type TestProject } from './_project.ts'

let project: TestProject
beforeEach(() => {
  project = makeProject()
})
afterEach(() => project.remove())

const { command, skills } = commandsIn(() => project)
const script = { run: 'true' }

/** A chain of these lines, with scripts for the steps that are named by one letter. */
function chainOf(steps: readonly string[], policy: readonly string[] = []): void {
  skills({
    main: { metadata: ['chain: |', ...steps.map((step) => `  ${step}`), ...policy] },
    ...Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, script])),
  })
}

const stops = "continue_on_error: 'false'"
const problems = () =>
  chainProblems(`${project.directory}/.skillrail/skills/main`, project.directory)

describe('a step that can never run', () => {
  it.each<[string, string[], string[], number, string]>([
    [
      'a condition on a failure behind a stop',
      ['a', 'b when=a.failure'],
      [stops],
      7,
      'b always when=a.failure',
    ],
    [
      'a condition on what is skipped after a stop',
      ['a', 'b when=!a.success'],
      [stops],
      7,
      'always',
    ],
    ['a condition in an async chain', ['a', 'b when=a.success'], ["async: 'true'"], 7, 'async'],
    ['a state that its step never has', ['a', 'b when=a.skipped'], [], 7, 'Correct'],
    [
      'a condition on a step that never fails',
      ['a', 'b when=a.skipped', 'c when=b.failure'],
      [],
      7,
      'Correct',
    ],
    [
      'a step behind the first result',
      ['a', 'b'],
      [stops, 'early_exit_on: success'],
      7,
      'b always',
    ],
    [
      'a failure that stops by early_exit_on',
      ['a', 'b when=a.failure'],
      ['early_exit_on: failure'],
      7,
      'always',
    ],
    [
      'a failure that skips the rest',
      ['a', 'b when=a.failure'],
      ["continue_on_success: 'true'"],
      7,
      'always',
    ],
    ['a condition on a member of a group', ['a & b', 'c when=b.failure'], [stops], 7, 'always'],
  ])('is an error with its line and a remedy: %s', async (_what, steps, policy, line, hint) => {
    chainOf(steps, policy)
    const expected = {
      code: 'step-unreachable',
      severity: 'error',
      line,
      path: '.skillrail/skills/main/SKILL.md',
      hint: expect.stringContaining(hint),
    }
    expect(problems()[0]).toMatchObject(expected)
    const planned = await command('chain plan main --json')
    expect([planned.code, planned.json.diagnostics[0]]).toMatchObject([3, expected])
    for (const line of ['run main', 'run main --engine restate --url http://127.0.0.1:9']) {
      const { error } = await command(line)
      expect([error?.exitCode, error?.diagnostics?.[0]]).toMatchObject([3, expected])
    }
    expect((await command('runs list --json')).json.runs).toEqual([])
  })

  it.each<[string[], string[]]>([
    [['a', 'b always when=a.failure'], [stops]],
    [['a allow-failure', 'b when=a.failure'], [stops]],
    [['a', 'b when=a.failure'], []],
    [['a gate', 'b always when=a.failure'], [stops]],
    [['a', 'b when=a.success'], [stops]],
    [['a', 'b when=a.failure', 'c when=b.skipped'], []],
    [['a & b', 'c always when=b.failure'], [stops]],
  ])('is not reported if an outcome runs it: %j with %j', (steps, policy) => {
    chainOf(steps, policy)
    expect(problems()).toEqual([])
  })

  it('is reported in a nested chain, and about the end of a nested chain', () => {
    skills({
      a: script,
      b: script,
      inner: { metadata: ['chain: |', '  a allow-failure'] },
      main: { metadata: ['chain: |', '  inner retry=2', '  b when=inner.failure'] },
    })
    expect(problems()).toMatchObject([
      { code: 'retry-without-effect', severity: 'warning', line: 6 },
      { code: 'step-unreachable', line: 7 },
    ])
    skills({
      inner: { metadata: ['chain: |', '  a', '  b when=a.failure', stops] },
      main: { metadata: ['chain: inner'] },
    })
    expect(problems()).toMatchObject([
      { code: 'step-unreachable', path: '.skillrail/skills/inner/SKILL.md', line: 7 },
    ])
  })

  it('is an error for --set, and for --only and --from if the rest makes it impossible', async () => {
    chainOf(['a', 'b when=a.failure', 'c'])
    const codeOf = async (options: string) => (await command(`run main ${options}`)).error?.code
    expect(await codeOf('--set continue_on_error=false')).toBe('step-unreachable')
    expect(await codeOf('--only b')).toBe('step-unreachable')
    expect(await codeOf('--from b')).toBe('step-unreachable')
    expect(await codeOf('--only c')).toBeUndefined()
    expect(await codeOf('--from a')).toBeUndefined()
  })
})

it('warns of a nested chain that is ended before a step in it is repeated', () => {
  skills({
    a: script,
    inner: { metadata: ['chain: |', '  a retry=2 backoff=30'] },
    main: { metadata: ['chain: |', '  inner timeout=10'] },
  })
  expect(problems()).toMatchObject([{ code: 'retry-after-timeout', severity: 'warning', line: 6 }])
})
