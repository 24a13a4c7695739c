import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { systemRuntime } from '../../src/core/runtime.ts'
import { discoverSkills } from '../../src/library/discover.ts'
import { startModelServer } from '../model-server/server.ts'
import { installClients, type TestedClient } from './cache.ts'
import { type ClientRecipe, recipes } from './clients.ts'
import { makeHome, write } from './home.ts'
import { runClient } from './run-client.ts'
import { isTried } from './short.ts'

type Row = readonly [client: TestedClient, path: string, settings: object | string]

const claude = (settings: object): Row => ['claude', '.claude/settings.json', settings]
const codex = (entry: string): Row => [
  'codex',
  '.codex/config.toml',
  `[[skills.config]]\n${entry}\nenabled = false\n`,
]
const openCode = (settings: object): Row => ['opencode', '.config/opencode/opencode.json', settings]

const rows: readonly Row[] = [
  claude({ skillOverrides: { kelp: 'off' } }),
  claude({ permissions: { deny: ['Skill(kelp)'] } }),
  claude({ permissions: { deny: ['Skill'] } }),
  ['claude', 'project/.claude/settings.json', { skillOverrides: { kelp: 'off' } }],
  codex('name = "kelp"'),
  codex('path = "HOME/.agents/skills/kelp/SKILL.md"'),
  codex('path = "HOME/.agents/skills/kelp"'),
  ['copilot', '.copilot/settings.json', { disabledSkills: ['kelp'] }],
  ['copilot', '.copilot/settings.json', { disabledSkills: ['KELP'] }],
  ['copilot', 'project/.github/copilot/settings.json', { disabledSkills: ['kelp'] }],
  ['gemini', '.gemini/settings.json', { skills: { disabled: ['KELP'] } }],
  ['gemini', '.gemini/settings.json', { skills: { enabled: false } }],
  ['gemini', 'project/.gemini/settings.json', { skills: { disabled: ['kelp'] } }],
  ['qwen', '.qwen/settings.json', { skills: { disabled: ['KELP'] } }],
  ['qwen', '.qwen/settings.json', { skills: { enabled: false } }],
  ['qwen', 'project/.qwen/settings.json', { skills: { disabled: ['kelp'] } }],
  openCode({ permission: { skill: { 'k*': 'deny' } } }),
  openCode({ permission: { skill: { '*': 'deny', reef: 'allow' } } }),
  openCode({ tools: { skill: false } }),
  ['opencode', 'project/opencode.json', { permission: { skill: { kelp: 'deny' } } }],
]

it.concurrent.each(rows.filter(([name]) => isTried(name)))(
  'lists the skills that %s sends to its model, with %s %j',
  async (...row) => {
    const [name, path, settings] = row
    const client = installClients([name], { latest: false }).get(name)
    if (client === undefined) throw new Error(`${name} is not installed`)
    const recipe: ClientRecipe = recipes[name]
    const model = await startModelServer()
    const home = makeHome(recipe, model.url)
    try {
      for (const skill of ['kelp', 'reef']) {
        const head = `---\nname: ${skill}\ndescription: ABOUT-${skill} for tests.\n---\nDo it.\n`
        write(join(home.home, recipe.skills, skill, 'SKILL.md'), head)
      }
      const file = join(home.home, path)
      const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
      const text =
        typeof settings === 'string'
          ? `${before}\n${settings.replace('HOME', home.home)}`
          : JSON.stringify({ ...JSON.parse(before || '{}'), ...settings })
      write(file, text)
      const environment = recipe.environment(model.url)
      const { output } = await runClient(client, recipe.prompt('hello'), home, environment)
      const bodies = model.prompts().map(({ body }) => body)
      expect({ requests: bodies.length, output }).not.toMatchObject({ requests: 0 })
      const sent = bodies.join('\n').match(/ABOUT-(?:kelp|reef)/g) ?? []
      const runtime = systemRuntime({ cwd: home.project, env: { HOME: home.home } })
      const listed = discoverSkills({ runtime, useIndex: false }).skills.filter(
        (skill) => skill.clients.includes(name) && ['kelp', 'reef'].includes(skill.name),
      )
      const marks = listed.map((skill) => `ABOUT-${skill.name}`)
      expect(marks.toSorted()).toEqual([...new Set(sent)].toSorted())
    } finally {
      await model.close()
      rmSync(home.home, { recursive: true, force: true, maxRetries: 3 })
    }
  },
)
