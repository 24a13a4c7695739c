import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type CliResult, runInProcess } from '../run-in-process.ts'

let root: string

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'skillrail-completion-'))
  const folder = join(root, 'project/.agents/skills/pdf')
  mkdirSync(folder, { recursive: true })
  mkdirSync(join(root, 'project/.git'))
  const head = 'name: pdf\ndescription: Reads PDF. Use when asked.\n'
  const trigger = 'triggers:\n  - match: ^/pdf\n    inject: flow.md\n'
  writeFileSync(join(folder, 'SKILL.md'), `---\n${head}${trigger}---\nDo.\n`)
  writeFileSync(join(folder, 'flow.md'), 'The flow.\n')
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

function skillrail(...args: string[]): Promise<CliResult> {
  return runInProcess(args, { cwd: join(root, 'project'), home: root })
}

async function completed(...words: string[]): Promise<string[]> {
  const { stdout } = await skillrail('completion', 'bash', '--', ...words)
  return stdout.split('\n').slice(0, -1)
}

it('completes the words of commands', async () => {
  expect(await completed('run')).toEqual(['run', 'runs'])
  expect(await completed('tools', 'session', '')).toEqual(['show', 'clear', 'list'])
  expect(await completed('-C', '.', 'tools', 'workflow', 'pl')).toEqual(['plan'])
})

it('completes options, their choices, and arguments', async () => {
  expect(await completed('list', '--al')).toEqual(['--all'])
  expect(await completed('list', '--qu')).toEqual(['--quiet'])
  expect(await completed('validate', '--profile', '')).toEqual(['spec', 'reference'])
  expect(await completed('run', 'p')).toEqual(['pdf'])
  expect(await completed('hooks', 'install', 'claude', 'co')).toEqual(['codex', 'copilot'])
  expect(await completed('runs', 'show', 'la')).toEqual(['latest'])
  expect(await completed('rail', 'st')).toEqual(['status', 'stop'])
  expect(await completed('validate', 'x')).toEqual([])
})

it('completes tools, servers and categories of the last refresh without starting a server', async () => {
  const tools = ['get_issue', 'list_issues'].map((name) => ({
    id: `github__${name}`,
    description: '',
    prefix: 'github__',
  }))
  const category = { description: '', keywords: [], tools }
  const refreshed = {
    refreshed_at: '2026-01-01T00:00:00.000Z',
    mcp_servers: ['github'],
    tool_count: 2,
  }
  const cache = { version: '4.0.0', ...refreshed, categories: { github: category } }
  mkdirSync(join(root, 'project/.skillrail'))
  writeFileSync(join(root, 'project/.skillrail/tools.json'), JSON.stringify(cache))
  expect(await completed('triggers', 'match', '--tool', 'mcp__github__g')).toEqual([
    'mcp__github__get_issue',
  ])
  expect(await completed('tools', 'call', 'github__')).toEqual([
    'github__get_issue',
    'github__list_issues',
  ])
  expect(await completed('tools', 'list', '--server', '')).toEqual(['github'])
  expect(await completed('tools', 'list', '--category', 'g')).toEqual(['github'])
  expect(await completed('triggers', 'match', '--skill', 'p')).toEqual(['pdf'])
  expect(await completed('triggers', 'match', '--command', '')).toEqual([])
})

it('completes commands with three words, and those whose name ends with an option', async () => {
  expect(await completed('tools', 'work')).toEqual(['workflow'])
  expect(await completed('agent', '')).toEqual(['list', 'delegate', 'subagents'])
  expect(await completed('show', '--pr')).toEqual(['--properties'])
  expect(await completed('show', '--activate', 'p')).toEqual(['pdf'])
  expect(await completed('show', '--activate', '--so')).toEqual(['--source'])
  expect(await completed('show', 'pdf', '--activate', '--source', 'm')).toEqual(['model'])
})

it('prints a script for each shell, and says where to put it', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout, stderr } = await skillrail('completion', shell)
    expect({ code, isScript: stdout.includes(`completion ${shell} --`) }).toEqual({
      code: 0,
      isScript: true,
    })
    expect(stderr).toMatch(/^(?:Add|Save)/)
  }
  expect(await skillrail('completion', 'tcsh')).toMatchObject({ code: 2 })
})

it('accepts ls for list', async () => {
  expect(await skillrail('ls')).toEqual(await skillrail('list'))
  expect(await skillrail('runs', 'ls')).toEqual(await skillrail('runs', 'list'))
})

it('shows 18 commands at the root, and all with --all', async () => {
  const commandsIn = ({ stdout }: CliResult): number =>
    (stdout.split('\nOptions\n')[0] ?? '').match(/^ {2}[a-z]/gm)?.length ?? 0
  expect(commandsIn(await skillrail('--help'))).toBe(18)
  expect(commandsIn(await skillrail('help', '--all'))).toBeGreaterThan(70)
})

it('reads a prompt after --skill', async () => {
  expect(await skillrail('triggers', 'inject', '--skill', 'pdf', '/pdf now')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('The flow.'),
  })
})

it('suggests the command that has an unknown option', async () => {
  const run = await skillrail('run', 'pdf', '--month', '1', '--quiet')
  expect(run).toMatchObject({ code: 2 })
  expect(run.stderr).toContain('skillrail run pdf --quiet -- --month 1\n')
  const call = await skillrail('tools', 'call', 'issues', '--owner', 'octo')
  expect(call.stderr).toContain('name=value: owner=octo')
})

it('shows the hook of one client', async () => {
  const { stdout } = await skillrail('hooks', 'status', 'claude', '--json')
  const { platforms } = JSON.parse(stdout)
  expect(platforms.map(({ platform }: { platform: string }) => platform)).toEqual(['claude'])
  expect(await skillrail('hooks', 'status', 'clode')).toMatchObject({ code: 2 })
})

it('names the clients of an invalid skill in list --clients', async () => {
  const folder = join(root, 'project/.claude/skills/broken-trigger')
  mkdirSync(folder, { recursive: true })
  const trigger = 'triggers:\n  - match: ^/x\n    inject: gone.md\n'
  writeFileSync(
    join(folder, 'SKILL.md'),
    `---\nname: broken-trigger\ndescription: Does. Use it.\n${trigger}---\nDo.\n`,
  )
  const { stdout } = await skillrail('list', '--clients')
  expect(stdout).toMatch(/ CLIENTS\n/)
  expect(stdout).toMatch(/broken-trigger .* \[invalid\] claude copilot cursor opencode\n/)
})

it('names the options of a step if one is unknown', async () => {
  const folder = join(root, 'project/.claude/skills/odd')
  mkdirSync(folder, { recursive: true })
  const chain = 'metadata:\n  chain: |\n    pdf retries=2\n'
  writeFileSync(
    join(folder, 'SKILL.md'),
    `---\nname: odd\ndescription: Does. Use it.\n${chain}---\nDo.\n`,
  )
  const { stdout } = await skillrail('validate', '.claude/skills/odd')
  expect(stdout).toContain('`retries` is not an option of a step.')
  expect(stdout).toContain('Allowed: id, retry, backoff')
})
