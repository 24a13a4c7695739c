import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { systemRuntime } from '../../src/core/runtime.ts'
import { discoverSkills } from '../../src/library/discover.ts'
import type { ClientName } from '../../src/core/client-folders.ts'

let home: string
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-switches-')))
  mkdirSync(join(home, 'project/.git'), { recursive: true })
  for (const folder of ['.claude', '.agents', '.copilot', '.gemini', '.qwen', '.config/opencode'])
    for (const name of ['kelp', 'reef'])
      write(`${folder}/skills/${folder.replaceAll('/', '-').replace('.', '')}-${name}/SKILL.md`, '')
})
afterEach(() => rmSync(home, { recursive: true }))

function write(path: string, text: string): void {
  const file = join(home, path)
  mkdirSync(dirname(file), { recursive: true })
  const name = dirname(path).split('/').at(-1)
  const head = `---\nname: ${name}\ndescription: For tests. Use when testing.\n---\nDo it.\n`
  writeFileSync(file, path.endsWith('SKILL.md') ? head : text)
}

function shown(client: ClientName): string[] {
  const runtime = systemRuntime({ cwd: join(home, 'project'), env: { HOME: home } })
  const { skills } = discoverSkills({ runtime, useIndex: false })
  return skills.filter(({ clients }) => clients.includes(client)).map(({ name }) => name)
}

const codex = (entry: string): string => `[[skills.config]]\n${entry}\nenabled = false\n`

it.each<[ClientName, string, object | string, hidden: string[]]>([
  [
    'claude',
    '.claude/settings.json',
    { skillOverrides: { 'claude-kelp': 'off' } },
    ['claude-kelp'],
  ],
  [
    'claude',
    'project/.claude/settings.json',
    { skillOverrides: { 'claude-kelp': 'off' } },
    ['claude-kelp'],
  ],
  ['claude', '.claude/settings.json', { skillOverrides: { 'claude-kelp': 'name-only' } }, []],
  ['claude', '.claude/settings.json', { permissions: { deny: ['Skill(claude-kelp)'] } }, []],
  [
    'claude',
    '.claude/settings.json',
    { permissions: { deny: ['Skill'] } },
    ['claude-kelp', 'claude-reef'],
  ],
  ['codex', '.codex/config.toml', codex('name = "agents-kelp"'), ['agents-kelp']],
  [
    'codex',
    '.codex/config.toml',
    codex('path = "HOME/.agents/skills/agents-kelp/SKILL.md"'),
    ['agents-kelp'],
  ],
  ['codex', '.codex/config.toml', codex('path = "HOME/.agents/skills/agents-kelp"'), []],
  ['codex', '.codex/config.toml', '[skills]\nenabled = false\n', []],
  ['copilot', '.copilot/settings.json', { disabledSkills: ['copilot-kelp'] }, ['copilot-kelp']],
  ['copilot', '.copilot/settings.json', { disabledSkills: ['COPILOT-KELP'] }, []],
  ['copilot', 'project/.github/copilot/settings.json', { disabledSkills: ['copilot-kelp'] }, []],
  ['gemini', '.gemini/settings.json', { skills: { disabled: ['GEMINI-kelp'] } }, ['gemini-kelp']],
  [
    'gemini',
    'project/.gemini/settings.json',
    { skills: { disabled: ['gemini-kelp'] } },
    ['gemini-kelp'],
  ],
  [
    'gemini',
    '.gemini/settings.json',
    { skills: { enabled: false } },
    ['agents-kelp', 'agents-reef', 'gemini-kelp', 'gemini-reef'],
  ],
  ['qwen', '.qwen/settings.json', { skills: { disabled: ['QWEN-kelp'] } }, ['qwen-kelp']],
  ['qwen', 'project/.qwen/settings.json', { skills: { disabled: ['qwen-kelp'] } }, ['qwen-kelp']],
  ['qwen', '.qwen/settings.json', { skills: { enabled: false } }, []],
  [
    'opencode',
    '.config/opencode/opencode.json',
    { permission: { skill: { '*-kelp': 'deny' } } },
    ['agents-kelp', 'claude-kelp', 'config-opencode-kelp'],
  ],
  [
    'opencode',
    '.config/opencode/opencode.json',
    { permission: { skill: { '*': 'deny', '*reef': 'allow' } } },
    ['agents-kelp', 'claude-kelp', 'config-opencode-kelp'],
  ],
  ['opencode', '.config/opencode/opencode.json', { permission: { skill: { '*': 'ask' } } }, []],
  [
    'opencode',
    'project/opencode.json',
    { permission: { skill: { 'agents-kelp': 'deny' } } },
    ['agents-kelp'],
  ],
])(
  'does not list %s as a reader of a skill that %s switches off with %j',
  (client, path, settings, hidden) => {
    const before = shown(client)
    expect(before.length).toBeGreaterThan(1)
    const text =
      typeof settings === 'string' ? settings.replace('HOME', home) : JSON.stringify(settings)
    write(path, text)
    expect(shown(client)).toEqual(before.filter((name) => !hidden.includes(name)))
  },
)

it('compares the patterns of a project in linear time', () => {
  const name = 'a'.repeat(64)
  write(`.claude/skills/${name}/SKILL.md`, '')
  const skill = { [`${'*a'.repeat(30)}*b`]: 'deny', [`${'*a'.repeat(30)}*`]: 'deny' }
  write('project/opencode.json', JSON.stringify({ permission: { skill } }))
  expect(shown('opencode')).not.toContain(name)
  expect(shown('claude')).toContain(name)
})

it.each<[ClientName, string]>([
  ['claude', '.claude/settings.json'],
  ['codex', '.codex/config.toml'],
  ['opencode', '.config/opencode/opencode.json'],
])('lists %s as a reader if its settings cannot be read', (client, path) => {
  const before = shown(client)
  write(path, '{ [')
  expect(shown(client)).toEqual(before)
})
