import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { expect, it } from 'vitest'
import { parseCommandLine } from '../../src/cli/command-line.ts'
import { commands } from '../../src/cli/registry.ts'
import { runInProcess } from '../run-in-process.ts'

const server = 'http://127.0.0.1:1'
const trusting = ['--trust-workspace']

it.each([
  ['--url requires --engine restate', ['run', 'hello', '--url', server]],
  [
    '--admin-url requires --engine restate',
    ['run', 'hello', '--engine', 'journal', '--admin-url', server],
  ],
  ['--url requires --engine restate', ['run', 'hello', '--dry-run', '--url', server]],
  ['--url requires --engine restate', ['doctor', '--url', server]],
  [
    '--grant and --unsafe-no-sandbox cannot be used together',
    ['run', 'hello', '--grant', 'net:*', '--unsafe-no-sandbox'],
  ],
  [
    '--engine other is invalid; allowed: journal, restate',
    ['run', 'hello', '--dry-run', '--engine', 'other'],
  ],
  ['--body and --raw cannot be used together', ['show', 'hello', '--body', '--raw']],
  [
    '--format mermaid is invalid; allowed with --json: json',
    ['chain', 'plan', 'hello', '--format', 'mermaid', '--json'],
  ],
  ['--from and --only cannot be used together', ['run', 'hello', '--from', 'a', '--only', 'b']],
  [
    '--from and --only cannot be used together',
    ['chain', 'plan', 'hello', '--only', 'b', '--from', 'a'],
  ],
  ['--only is given twice', ['run', 'hello', '--only', 'a', '--only', 'b']],
  ['--from is given twice', ['chain', 'plan', 'hello', '--from', 'a', '--from', 'b', '--json']],
  [
    '--report json and --report html both go into',
    ['run', 'hello', '--report', 'json=r', '--report', 'html=./r', ...trusting],
  ],
  [
    '--report json and --events both go into',
    ['run', 'hello', '--report', 'json=r', '--events=r', ...trusting],
  ],
  [
    '--from is given twice, as a and as b',
    ['runs', 'fork', '0mh2k9x0ab12cd', '--from', 'a', '--from', 'b'],
  ],
  ['--directory is given twice', ['list', '-C', '.', '--directory', '.']],
  ['--events is given twice', ['run', 'hello', '--events', '--events=e', ...trusting]],
  ['--report junit= names no file', ['run', 'hello', '--report', 'junit=', ...trusting]],
  ['--report html=x/ names no file', ['run', 'hello', '--report', 'html=x/', ...trusting]],
  ['--events= names no file', ['run', 'hello', '--events=', ...trusting]],
  [
    'only one of --json, --events and --report',
    ['run', 'hello', '--events=-', '--report', 'html=-', ...trusting],
  ],
  [
    '--user and --project cannot be used together',
    ['hooks', 'install', 'claude', '--user', '--project'],
  ],
  [
    '--user and --project cannot be used together',
    ['hooks', 'uninstall', 'claude', '--project', '--user'],
  ],
  ['--status and --stop cannot be used together', ['tools', 'serve', '--status', '--stop']],
  ['--detach and --status cannot be used together', ['tools', 'serve', '--status', '--detach']],
  ['--template needs a name', ['tools', 'workflow', 'add', 'mine', '--template']],
  ['--quiet and --verbose cannot be used together', ['list', '-q', '-v']],
])('reports that options contradict each other: %s, %j', async (sentence, args) => {
  const { home, project } = fixture()
  const { code, stdout, stderr } = await runInProcess(args, { cwd: project, home })
  expect(stdout + stderr).toContain(sentence)
  expect(code).toBe(2)
  expect(readdirSync(home)).toEqual([])
  expect(readdirSync(join(project, '.skillrail'))).toEqual(['skills'])
})

it.each(commands.map((entry) => [entry.name, entry] as const))(
  'refuses in %s every option with one value that occurs twice',
  async (name, entry) => {
    const command = await entry.load()
    const declared = new Command()
    for (const { kind, flags } of Object.values(command.options)) {
      if (kind !== 'flag' && kind !== 'list') declared.option(flags)
    }
    const single = declared.options.filter(
      ({ required, optional, variadic, parseArg }) =>
        (required || optional) && !variadic && parseArg === undefined,
    )
    for (const { long } of single) {
      const words = [...name.split(' '), `${long}=1`, `${long}=2`]
      expect(() => parseCommandLine(entry, command, words)).toThrow(
        `${long} is given twice, as 1 and as 2`,
      )
    }
  },
)

it('accepts combinations that have a meaning, and reports options without an effect', async () => {
  const { home, project } = fixture()
  const run = ['run', 'hello', '--dry-run', '--engine', 'restate', '--url', server, ...trusting]
  expect(await runInProcess(run, { cwd: project, home })).toMatchObject({ code: 0 })
  const plan = ['chain', 'plan', 'hello', '--format', 'text', '--json', ...trusting]
  expect(await runInProcess(plan, { cwd: project, home })).toMatchObject({ code: 0 })
  const free = ['run', 'hello', '--unsafe-no-sandbox', ...trusting]
  const { code, stderr } = await runInProcess(free, { cwd: project, home })
  expect(stderr).toContain('--unsafe-no-sandbox changes nothing: no script runs in a sandbox')
  expect(code).toBe(0)
  const templates = ['tools', 'workflow', 'add', '--template', '--json']
  expect(await runInProcess(templates, { cwd: project, home })).toMatchObject({ code: 0 })
})

function fixture(): { home: string; project: string } {
  const base = mkdtempSync(join(tmpdir(), 'skillrail-contradiction-'))
  const home = join(base, 'home')
  const project = join(base, 'project')
  const skill = join(project, '.skillrail/skills/hello')
  mkdirSync(home)
  mkdirSync(join(skill, 'scripts'), { recursive: true })
  const head = 'name: hello\ndescription: Says hello. Use when asked.'
  writeFileSync(join(skill, 'SKILL.md'), `---\n${head}\n---\nSay hello.\n`)
  writeFileSync(join(skill, 'scripts/run.mjs'), 'console.log("done")\n')
  return { home, project }
}
