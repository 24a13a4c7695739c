import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { commands, home as alone } from '../../src/cli/registry.ts'
import { runCli } from './run-cli.ts'
import { type CliResult, runInProcess } from '../run-in-process.ts'

let root: string
let home: string
let project: string

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-refused-')))
  home = join(root, 'home')
  project = join(root, 'project')
  mkdirSync(join(project, '.git'), { recursive: true })
  mkdirSync(home)
  put(join(home, '.cursor/mcp.json'), JSON.stringify({ mcpServers: { p: server } }))
  put(join(home, '.agents/skills/writer/SKILL.md'), skill)
  put(join(home, '.agents/skills/writer/scripts/run.sh'), `touch ${join(root, 'written')}\n`)
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const server = {
  command: process.execPath,
  args: [new URL('../fixtures/programs/tool-lister.mjs', import.meta.url).pathname],
  env: { TOOLS: JSON.stringify([{ name: 'get_time', inputSchema: { type: 'object' } }]) },
}
const skill = '---\nname: writer\ndescription: Writes a file.\nrun: scripts/run.sh\n---\n'
const valid = '{"tools": {"deny": ["p__*"]}, "run": {"sandbox": "refuse"}}'

function put(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}

const places = {
  user: () => ({ path: join(home, '.config/skillrail/config.json'), options: [] }),
  project: () => ({ path: join(project, '.skillrail/config.json'), options: [] }),
  named: () => ({ path: join(root, 'named.json'), options: ['--config', '../named.json'] }),
}

const skillrail = (args: readonly string[], env?: Record<string, string>): Promise<CliResult> =>
  runInProcess(args, { cwd: project, home, env })

const broken: [string, string | Uint8Array][] = [
  ['without its last brace', valid.slice(0, -1)],
  ['in UTF-16', Buffer.from(`\ufeff${valid}`, 'utf16le')],
  ['without any text', ''],
  ['with a text for a list', '{"tools": {"deny": "p__*"}}'],
  ['with a choice in capitals', '{"run": {"sandbox": "All"}}'],
  ['with a misspelled key', '{"tools": {"dney": ["p__*"]}}'],
  ['with a key twice', '{"tools": {"deny": ["p__*"]}, "tools": {}}'],
  ['with a key outside of its group', '{"deny": ["p__*"]}'],
]

describe.each(Object.entries(places))('settings of the %s file', (_, place) => {
  it.each(broken)('refuse a tool and a script with their place: %s', async (_case, content) => {
    const { path, options } = place()
    put(path, content)
    for (const words of [
      ['tools', 'call', 'p__get_time'],
      ['run', 'writer'],
    ]) {
      const { code, stdout, stderr } = await skillrail([...options, ...words])
      expect(stderr).toMatch(new RegExp(`${escaped(path)}:1(:\\d+)?: error:`))
      expect(stdout).toBe('')
      expect(code).toBe(4)
    }
    expect(existsSync(join(root, 'written'))).toBe(false)
  })
})

describe('settings that have errors', () => {
  it('refuse in a separate process, and as JSON with a code', async () => {
    const { path } = places.user()
    put(path, valid.slice(0, -1))
    const options = { cwd: project, home }
    const call = await runCli(['tools', 'call', 'p__get_time', '--json'], options)
    expect(call.code).toBe(4)
    expect(JSON.parse(call.stdout)).toMatchObject({
      error: { code: 'settings-invalid' },
      diagnostics: [{ code: 'configuration-syntax', path, line: 1 }],
    })
    const serve = await runCli(['mcp', 'serve'], options)
    expect(serve).toMatchObject({ code: 4, stdout: '' })
    expect(serve.stderr).toContain(path)
  })

  it('refuse a wrong and a misspelled variable', async () => {
    const denied = await skillrail(['tools', 'call', 'p__get_time'], {
      SKILLRAIL_TOOL_DENY: 'p__*',
    })
    expect(denied).toMatchObject({ code: 4, stdout: '' })
    expect(denied.stderr).toContain('Did you mean SKILLRAIL_TOOLS_DENY?')
    const run = await skillrail(['run', 'writer'], { SKILLRAIL_RUN_SANDBOX: 'All' })
    expect(run.code).toBe(4)
    expect(existsSync(join(root, 'written'))).toBe(false)
  })

  const repairing = [
    [['list'], 0],
    [['validate', '.'], 0],
    [['hooks', 'status'], 0],
    [['hooks', 'log'], 0],
    [['runs', 'list'], 0],
    [['completion', 'bash'], 0],
    [['doctor'], 1],
    [[], 1],
  ] as const
  it.each(repairing)('are reported by %j, which still runs', async (words, code) => {
    const { path } = places.user()
    put(path, valid.slice(0, -1))
    put(join(project, 'SKILL.md'), skill.replace('writer', 'project'))
    rmSync(join(home, '.cursor'), { recursive: true })
    const result = await skillrail(words)
    expect(result.stderr).toContain(`${path}:1:`)
    expect(result.code).toBe(code)
    for (const help of [['--version'], ['--help'], ['run', '--help'], ['help']]) {
      expect(await skillrail(help)).toMatchObject({ code: 0, stderr: '' })
    }
  })

  it('do not stop the commands that help to fix them', async () => {
    const declared = await Promise.all(
      [alone, ...commands].map(async ({ name, load }) =>
        (await load()).helpsToRepair === true ? name : [],
      ),
    )
    expect(declared.flat().toSorted()).toEqual([
      '',
      'completion',
      'doctor',
      'hooks log',
      'hooks run',
      'hooks status',
      'list',
      'runs list',
      'runs show',
      'validate',
    ])
  })
})

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
}
