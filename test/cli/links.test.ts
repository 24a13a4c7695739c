import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { runInProcess } from '../run-in-process.ts'

const broken = '---\nname: a\ndescription: Does a. Use when asked.\r\n---\nDo it.\n'
const withTrigger =
  '---\nname: a\ndescription: Does a. Use when asked.\ntriggers:\n  - match: "\\\\d+ ships"\n    inject: a.md\n---\nDo it.\n'

function place() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-links-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const project = join(root, 'project')
  const home = join(root, 'home')
  const outside = join(root, 'outside')
  mkdirSync(join(project, '.git'), { recursive: true })
  mkdirSync(home)
  mkdirSync(outside)
  const write = (path: string, text: string): string => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
    return join(root, path)
  }
  /** A link in the project, and the file outside that it leads to. */
  const link = (path: string, target: string): void => {
    mkdirSync(dirname(join(project, path)), { recursive: true })
    symlinkSync(target, join(project, path))
  }
  const run = (...words: string[]) => runInProcess(words, { cwd: project, home, env: {} })
  return { project, outside, write, link, run }
}

const skill = '.agents/skills/a/SKILL.md'

it.each([
  ['AGENTS.md', 'Mine.\n', ['triggers', 'index', '--write']],
  ['AGENTS.md', 'Mine.\n', ['triggers', 'index', '--write', 'AGENTS.md']],
  [skill, broken, ['validate', '--fix', '.agents/skills']],
  [skill, withTrigger, ['triggers', 'check', '--fix']],
  [skill, withTrigger, ['triggers', 'export', 'a']],
  ['.claude/settings.json', '{"theme":"dark"}\n', ['hooks', 'install', 'claude', '--project']],
  [
    '.skillrail/workflows.json',
    '{}\n',
    ['tools', 'workflow', 'add', 'x', '--template', 'database'],
  ],
])('a link %s that leaves the project keeps its target from %j %j', async (path, text, words) => {
  const { outside, write, link, run } = place()
  const target = write('outside/file', text)
  link(path, target)
  const { code, stdout, stderr } = await run(...words)
  expect(readFileSync(target, 'utf8')).toBe(text)
  expect(code).not.toBe(0)
  expect(`${stdout}${stderr}`).toContain(outside)
})

it.each([
  ['.agents', ['new', 'tool', '--description', 'Does it. Use when asked to do it.']],
  ['.claude', ['hooks', 'install', 'claude', '--project']],
  ['.skillrail', ['tools', 'workflow', 'add', 'x', '--template', 'database']],
])(
  'a folder %s that is a link out of the project receives nothing from %j',
  async (folder, words) => {
    const { outside, link, run } = place()
    link(folder, outside)
    const { code, stderr } = await run(...words)
    expect(code).not.toBe(0)
    expect(stderr).toContain('a link leads out of')
    expect(() => readFileSync(join(outside, 'settings.json'))).toThrow('ENOENT')
  },
)

it.each([
  ['.skillrail', '.skillrail', ''],
  ['.opencode', '.opencode', ''],
  ['.skillrail/tools.json', '.skillrail/tools.json', 'tools.json'],
])('a link %s that leaves the project receives no tool cache', async (_, from, to) => {
  const { outside, write, link, run } = place()
  const program = new URL('../fixtures/programs/tool-lister.mjs', import.meta.url).pathname
  const tools = JSON.stringify([{ name: 'list_notes', inputSchema: { type: 'object' } }])
  const entry = { command: process.execPath, args: [program], env: { TOOLS: tools } }
  write('project/.mcp.json', JSON.stringify({ mcpServers: { pad: entry } }))
  if (to !== '') write(`outside/${to}`, 'mine')
  link(from, join(outside, to))
  const { code, stderr } = await run('tools', 'refresh', '--trust-workspace')
  expect(stderr).toContain('a link leads out of')
  expect(code).not.toBe(0)
  const left = readdirSync(outside).map((name) => readFileSync(join(outside, name), 'utf8'))
  expect(left).toEqual(to === '' ? [] : ['mine'])
})

it('a link to a missing file outside creates no file there', async () => {
  const { project, outside, link, run } = place()
  link('AGENTS.md', join(outside, 'new.md'))
  const { code } = await run('triggers', 'index', '--write', 'AGENTS.md')
  expect(code).not.toBe(0)
  expect(() => readFileSync(join(outside, 'new.md'))).toThrow('ENOENT')
  expect(project).not.toBe(outside)
})

it('a link that stays inside, and an explicit file elsewhere, are written', async () => {
  const { project, outside, write, link, run } = place()
  write('project/AGENTS.md', 'Agents.\n')
  link('CLAUDE.md', 'AGENTS.md')
  write('project/.agents/skills/a/SKILL.md', broken.replace('\r', ''))
  expect((await run('triggers', 'index', '--write', 'CLAUDE.md')).code).toBe(0)
  expect(readFileSync(join(project, 'AGENTS.md'), 'utf8')).toContain('Does a.')
  const named = join(outside, 'NOTES.md')
  writeFileSync(named, '')
  expect((await run('triggers', 'index', '--write', named)).code).toBe(0)
  expect(readFileSync(named, 'utf8')).toContain('Does a.')
})
