import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commands } from '../../src/cli/registry.ts'
import { formerNames } from '../../src/core/former-names.ts'
import { type CliResult, runInProcess } from '../run-in-process.ts'

let root: string

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'skillrail-former-'))
  const folder = join(root, '.agents/skills/pdf')
  mkdirSync(folder, { recursive: true })
  mkdirSync(join(root, '.git'))
  const head = 'name: pdf\ndescription: Reads PDF. Use when asked.\n'
  const trigger = 'triggers:\n  - match: ^/pdf\n    inject: flow.md\n'
  writeFileSync(join(folder, 'SKILL.md'), `---\n${head}${trigger}---\nDo.\n`)
  writeFileSync(join(folder, 'flow.md'), 'The flow.\n')
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

function skillrail(...args: readonly string[]): Promise<CliResult> {
  return runInProcess(args, { cwd: root, home: root })
}

const names = Object.entries(formerNames)
const noteOf = (former: string): RegExp =>
  new RegExp(`^skillrail: the command "${former}" is now .*; the next version drops the old name\n`)

describe.each(names)('the former name `%s`', (former, present) => {
  const [old, now] = [former, present].map((name) => name.split(' ').filter(Boolean))

  it('is no present name, and leads to one', () => {
    const all = commands.map(({ name }) => name)
    expect(all.filter((name) => `${name} `.startsWith(`${former} `))).toEqual([])
    expect(all.some((name) => present === '' || `${name} `.startsWith(`${present} `))).toBe(true)
  })

  it('does the same, with one line on stderr', async () => {
    // `runs worker` without arguments serves until it is ended, and a word after `skillrail` is a command.
    const usual = [
      ['pdf', '--json'],
      ['pdf', 'pdf', '--json'],
    ]
    const lines = [...(present === '' ? [['--json']] : usual), ['--bogus', '--json']]
    for (const more of lines) {
      const result = await skillrail(...(now ?? []), ...more)
      const { stderr, ...rest } = await skillrail(...(old ?? []), ...more)
      expect(rest).toEqual({ code: result.code, stdout: result.stdout })
      expect(stderr).toMatch(noteOf(former))
      expect(stderr.replace(noteOf(former), '')).toBe(result.stderr)
    }
  })

  it('says nothing with --quiet', async () => {
    const { stderr } = await skillrail(...(old ?? []), 'pdf', '--quiet', '--json')
    expect(stderr).not.toContain('is now')
  })

  it('has the help of the present name', async () => {
    const commandsBelow = commands.filter(({ name }) => name.startsWith(`${present} `))
    const usage = `Usage: skillrail ${present} `.replace('  ', ' ')
    for (const line of [
      [...(old ?? []), '--help'],
      ['help', ...(old ?? [])],
    ]) {
      const { code, stdout } = await skillrail(...line)
      expect({ line, code, usage: stdout.startsWith(usage) }).toEqual({
        line,
        code: 0,
        usage: true,
      })
      for (const { name } of commandsBelow) expect(stdout).toContain(name)
    }
  })
})

it('is read wherever global options are', async () => {
  const { stdout } = await skillrail('triggers', 'match', '/pdf now')
  for (const line of [
    ['-C', '.', 'match', '/pdf now'],
    ['--directory', '.', 'match', '/pdf now'],
    ['-v', 'match', '/pdf now', '-C', '.'],
  ]) {
    expect(await skillrail(...line)).toMatchObject({ code: 0, stdout })
  }
})

it('counts only where the name of a command is', async () => {
  for (const task of ['delegate it', 'subagents list', 'list them']) {
    const { code, stderr } = await skillrail('agent', task)
    expect({ code, isModel: stderr.includes('model') }).toEqual({ code: 2, isModel: true })
  }
  expect((await skillrail('hook log')).stderr).toContain('unknown command hook log')
  const { stdout, stderr } = await skillrail('triggers', 'inject', 'match', 'the prompt')
  expect({ stdout, stderr }).toEqual({ stdout: '', stderr: '' })
  expect((await skillrail('show', 'schema')).stderr).not.toContain('is now')
})

it.each([
  [['workfow', 'list'], 'tools workflow list'],
  [['workfow'], 'tools workflow'],
  [['proprties', 'pdf'], 'show --properties'],
  [['tools', 'workflow', 'lst'], 'tools workflow list'],
  [['agent', 'subagents', 'lst'], 'agent subagents list'],
])('suggests a present name for %j', async (line, suggestion) => {
  const { code, stderr } = await skillrail(...line)
  expect({ code, hint: stderr.trimEnd().split('\n').at(-1) }).toEqual({
    code: 2,
    hint: `Did you mean skillrail ${suggestion}?`,
  })
})
