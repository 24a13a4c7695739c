import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { systemRuntime } from '../../src/core/runtime.ts'
import { installHook } from '../../src/hooks/install.ts'
import { platformStatuses } from '../../src/hooks/status.ts'
import { startModelServer } from '../model-server/server.ts'
import { installClients, type TestedClient } from './cache.ts'
import { type ClientRecipe, recipes } from './clients.ts'
import { makeHome, shortReference, write } from './home.ts'
import { runClient } from './run-client.ts'
import { isTried } from './short.ts'

type Edit = (text: string) => string
/** Files below the home, and how a user changes them after the installation. */
type Edits = Readonly<Record<string, Edit>>

function set(value: object): Edit {
  return (text) => JSON.stringify({ ...JSON.parse(text || '{}'), ...value }, undefined, 2)
}

const add =
  (more: string): Edit =>
  (text) =>
    `${text}\n${more}\n`
const commented: Edit = (text) => `// mine\n${text || '{}'}`
const withComma: Edit = (text) => text.replace(/\n\}\s*$/, ',\n}\n')
const marked: Edit = (text) => `\ufeff${text}`
const off = set({ disableAllHooks: true })
const on = set({ disableAllHooks: false })
const offAndCommented: Edit = (text) => commented(off(text))

const anotherHook = JSON.stringify({
  version: 1,
  hooks: {
    userPromptSubmitted: [
      { type: 'command', bash: `cat >/dev/null; echo '{"additionalContext":"ANOTHER"}'` },
    ],
  },
})

const local = 'project/.claude/settings.local.json'

const cases: Partial<Record<TestedClient, readonly Edits[]>> = {
  claude: [
    {},
    { '.claude/settings.json': off },
    { 'project/.claude/settings.json': off },
    { [local]: off },
    { '.claude/settings.json': off, [local]: on },
    { 'project/.claude/settings.json': off, [local]: on },
    { 'project/.claude/settings.json': offAndCommented },
    { '.claude/settings.json': set({ disableAllHooks: 'true' }) },
    { '.claude/settings.json': commented },
    { '.claude/settings.json': withComma },
    { '.claude/settings.json': marked },
  ],
  codex: [
    {},
    { '.codex/config.toml': add('[features]\nhooks = false') },
    { '.codex/config.toml': add('[features]\ncodex_hooks = false') },
    { '.codex/config.toml': add('[features]\nhooks = true\ncodex_hooks = false') },
    { 'project/.codex/config.toml': add('[features]\nhooks = false') },
    {
      '.codex/config.toml': add('[features]\nhooks = false'),
      'project/.codex/config.toml': add('[features]\nhooks = true'),
    },
    { '.codex/hooks.json': commented },
    { '.codex/hooks.json': withComma },
    { '.codex/hooks.json': marked },
  ],
  copilot: [
    {},
    { '.copilot/settings.json': off },
    { 'project/.github/copilot/settings.json': off },
    { 'project/.claude/settings.json': off },
    { 'project/.claude/settings.json': off, 'project/.github/copilot/settings.json': on },
    // It keeps the context of one file.
    { '.copilot/hooks/00-another.json': () => anotherHook },
    { '.copilot/hooks/another.json': () => anotherHook },
  ],
  gemini: [
    {},
    { '.gemini/settings.json': set({ hooksConfig: { enabled: false } }) },
    { 'project/.gemini/settings.json': set({ hooksConfig: { disabled: ['skillrail'] } }) },
    {
      '.gemini/settings.json': set({ hooksConfig: { enabled: false } }),
      'project/.gemini/settings.json': set({ hooksConfig: { enabled: true } }),
    },
    { '.gemini/settings.json': commented },
    { '.gemini/settings.json': withComma },
    { '.gemini/settings.json': marked },
  ],
  qwen: [
    {},
    { '.qwen/settings.json': off },
    { '.qwen/settings.json': set({ hooksConfig: { enabled: false } }) },
    { '.qwen/settings.json': commented },
    { '.qwen/settings.json': withComma },
  ],
}

const clients = Object.keys(recipes).filter((name): name is TestedClient => name in cases)
const rows = clients.flatMap((name) =>
  (cases[name] ?? []).map((edits, at) => ({ name, edits, case: at + 1 })),
)

it.concurrent.each(rows.filter(({ name }) => isTried(name)))(
  'reports whether the hook of $name runs, case $case',
  async ({ name, edits }) => {
    const client = installClients([name], { latest: false }).get(name)
    if (client === undefined) throw new Error(`${name} is not installed`)
    const recipe: ClientRecipe = recipes[name]
    const model = await startModelServer()
    const home = makeHome(recipe, model.url)
    const runtime = systemRuntime({ cwd: home.project, env: { HOME: home.home } })
    try {
      await installHook(runtime, name, { scope: 'user' })
      for (const [path, edit] of Object.entries(edits)) {
        const file = join(home.home, path)
        write(file, edit(existsSync(file) ? readFileSync(file, 'utf8') : ''))
      }
      const before = platformStatuses(runtime, [name])[0]?.runs.user
      const args = recipe.call('program execute caching')
      const { output } = await runClient(client, args, home, recipe.environment(model.url))
      const [reference = ''] = shortReference
      const hasFired = model.prompts().some(({ body }) => body.includes(reference))
      // Only the client knows which hooks it trusts, until the log of the hook proves it.
      expect({ answer: before?.answer === 'no', output }).toMatchObject({ answer: !hasFired })
      const after = platformStatuses(runtime, [name])[0]
      expect(after?.runs.user?.answer).toBe(hasFired ? 'yes' : 'no')
      expect(after?.lastFired !== undefined).toBe(hasFired)
    } finally {
      await model.close()
      rmSync(home.home, { recursive: true, force: true, maxRetries: 3 })
    }
  },
)
