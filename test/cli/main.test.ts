import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { commands } from '../../src/cli/registry.ts'
import { type CliResult, runInProcess } from '../run-in-process.ts'
import { runCli } from './run-cli.ts'

let root: string

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'skillrail-cli-'))
  mkdirSync(join(root, 'home'))
  mkdirSync(join(root, 'project/.git'), { recursive: true })
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

function skillrail(...args: string[]): Promise<CliResult> {
  return runInProcess(args, { cwd: join(root, 'project'), home: join(root, 'home') })
}

it('lists every command with its summary', async () => {
  const { code, stdout } = await skillrail('help', '--all')
  expect(code).toBe(0)
  const lines = stdout.split('\n')
  const isListed = ({ name, summary }: (typeof commands)[number]): boolean =>
    lines.some((line) => line.startsWith(`  ${name} `) && line.endsWith(` ${summary}`))
  expect(commands.filter((command) => !isListed(command))).toEqual([])
})

it('prints the version of the package', async () => {
  expect(await skillrail('--version')).toEqual({
    code: 0,
    stdout: `${manifest.version}\n`,
    stderr: '',
  })
})

describe.each(commands.map(({ name }) => name))('skillrail %s --help', (name) => {
  it('shows its usage and an example', async () => {
    const { code, stdout, stderr } = await skillrail(...name.split(' '), '--help')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain(`Usage: skillrail ${name}`)
    expect(stdout).toMatch(/Examples?:?\n\s+\$ .*skillrail /)
    expect(stdout).toContain('--json')
  })
})

describe('wrong use ends with 2 and one sentence', () => {
  it.each([
    [['lsit'], 'unknown command lsit', 'Did you mean skillrail list?'],
    [['--nonsense'], "unknown option '--nonsense'", '--help'],
    [['list', '--nonsense'], "unknown option '--nonsense'", 'skillrail list --help'],
    [['runs', 'lst'], 'unknown command runs lst', 'runs list'],
    [['-C', 'no-such-directory', 'list'], 'no such directory', ''],
  ])('is reported for skillrail %j', async (args, message, hint) => {
    const { code, stdout, stderr } = await skillrail(...args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
    expect(stderr).toContain(hint)
    expect(stderr).not.toMatch(/\n\s+at /)
  })
})

it('prints a failure as JSON with --json', async () => {
  const { code, stdout, stderr } = await skillrail('show', 'no-such-skill', '--json')
  expect({ code, stderr }).toEqual({ code: 3, stderr: '' })
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: expect.stringMatching(/^[a-z-]+$/) } })
})

it('reports a broken configuration file with its line and continues', async () => {
  mkdirSync(join(root, 'project/.skillrail'), { recursive: true })
  writeFileSync(join(root, 'project/.skillrail/config.json'), '{\n  "run": { "timeout": "x" }\n}')
  const { code, stderr } = await skillrail('list')
  rmSync(join(root, 'project/.skillrail'), { recursive: true })
  expect(code).toBe(0)
  expect(stderr).toContain('config.json:2:23: error: run.timeout must be a whole number')
})

it('works in the directory of -C, before or after the command', async () => {
  const away = { cwd: root, home: join(root, 'home') }
  const before = await runInProcess(['-C', 'project', 'list', '--json'], away)
  const after = await runInProcess(['list', '--json', '-C', 'project'], away)
  expect(before.code).toBe(0)
  expect(after.stdout).toBe(before.stdout)
})

it.each([
  [[], false],
  [['--verbose'], true],
])('prints warnings of Node and libraries on stderr with %j: %j', async (more, said) => {
  const remark = `setTimeout(() => process.emitWarning('a remark about our own code'), 0)`
  const { stderr } = await runCli(['new', '--schema', ...more], {
    cwd: join(root, 'project'),
    home: join(root, 'home'),
    env: { NODE_OPTIONS: `--import "data:text/javascript,${remark.replaceAll(' ', '%20')}"` },
  })
  expect(stderr.includes('a remark about our own code')).toBe(said)
})
