import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { systemRuntime } from '../../src/core/runtime.ts'
import { installHook } from '../../src/hooks/install.ts'
import { startModelServer } from '../model-server/server.ts'
import { installClients, type TestedClient } from './cache.ts'
import { type ClientRecipe, recipes } from './clients.ts'
import { makeHome, shortReference, type TestHome, write } from './home.ts'
import { runInProcess } from '../run-in-process.ts'
import { type ClientRun, runClient } from './run-client.ts'

type Run = (...args: readonly string[]) => Promise<ClientRun>

/** How a user installs the package in a directory, with the client's own command where it has one. */
const installations: Partial<
  Record<TestedClient, (directory: string, run: Run, home: TestHome) => Promise<unknown>>
> = {
  claude: fromMarketplace,
  copilot: fromMarketplace,
  gemini: (directory, run) => run('extensions', 'install', directory, '--consent'),
  async opencode(directory, _, { home }) {
    const path = join(home, '.config/opencode/opencode.json')
    const configuration: object = JSON.parse(readFileSync(path, 'utf8'))
    write(path, JSON.stringify({ ...configuration, plugin: [`file://${directory}`] }))
  },
  pi: (directory, run) => run('install', directory),
  qwen: (directory, run) => run('extensions', 'install', directory, '--consent'),
}

async function fromMarketplace(directory: string, run: Run): Promise<void> {
  const { name } = JSON.parse(readFileSync(join(directory, '.claude-plugin/plugin.json'), 'utf8'))
  await run('plugin', 'marketplace', 'add', directory)
  await run('plugin', 'install', `${name}@${name}`)
}

const clients = Object.keys(recipes).filter((name): name is TestedClient => name in installations)

/** A client in an empty home, and what a prompt brings to its model. */
async function withClient(
  name: TestedClient,
  use: (tools: {
    home: TestHome
    install(directory: string): Promise<unknown>
    /** How often a text was in a request, the highest number. */
    times(text: string, args: readonly string[]): Promise<number>
  }) => Promise<void>,
): Promise<void> {
  const client = installClients([name], { latest: false }).get(name)
  if (client === undefined) throw new Error(`${name} is not installed`)
  const recipe = recipes[name]
  const model = await startModelServer()
  const home = makeHome(recipe, model.url)
  const run: Run = (...args) => runClient(client, args, home, recipe.environment(model.url))
  try {
    await use({
      home,
      install: async (directory) => await installations[name]?.(directory, run, home),
      async times(text, args) {
        model.clear()
        await run(...args)
        const bodies = model.prompts().map(({ body }) => body)
        const words = args.filter((word) => !word.startsWith('--')).at(-1) ?? ''
        expect(bodies.join('\n')).toContain(words.split(' ').at(-1))
        return Math.max(...bodies.map((body) => body.split(text).length - 1))
      },
    })
  } finally {
    await model.close()
    rmSync(home.home, { recursive: true, force: true, maxRetries: 3 })
  }
}

it.each(clients)(
  'the package for %s brings the reference, and no harm without its hook',
  async (name) => {
    await withClient(name, async ({ home, install, times }) => {
      const [reference = ''] = shortReference
      const { call } = recipes[name]
      // Gemini CLI asks whether it may install from a folder that is not trusted; the project is.
      const directory = join(home.project, 'package')
      cpSync(fileURLToPath(new URL(`../../plugins/${name}`, import.meta.url)), directory, {
        recursive: true,
      })
      await install(directory)
      expect(await times(reference, call('program execute caching'))).toBe(1)
      removeHooks(home.home)
      expect(await times(reference, call('program execute without'))).toBe(0)
    })
  },
)

it.each(clients)(
  'a plugin that is packed for %s fires its own triggers once, beside the hook of the user',
  async (name) => {
    await withClient(name, async ({ home: { home, project }, install, times }) => {
      const head = '---\nname: plan\ndescription: Plans work. Use when work is to be planned.\n'
      const triggers = 'metadata:\n  triggers: "^please plan => rules.md"\n---\n# Plan\n'
      write(join(project, 'plan/SKILL.md'), head + triggers)
      write(join(project, 'plan/rules.md'), 'RULES FOR PLANS 4713\n')
      const args = ['plugin', 'pack', 'plan', '--client', name]
      expect(await runInProcess(args, { cwd: project, home })).toMatchObject({ code: 0 })
      await install(join(project, 'plan-plugin', name))
      const recipe: ClientRecipe = recipes[name]
      const prompt = (words: string) => recipe.prompt(words)
      const rules = 'RULES FOR PLANS 4713'
      expect(await times(rules, prompt('please plan this'))).toBe(1)
      expect(await times(rules, prompt('what is the weather'))).toBe(0)
      const runtime = systemRuntime({ cwd: project, env: { HOME: home } })
      await installHook(runtime, name, { scope: 'user' })
      expect(await times(rules, prompt('please plan again'))).toBe(1)
    })
  },
)

/** Removes the hook from every copy of the package; the launcher stays. */
function removeHooks(home: string): void {
  for (const path of readdirSync(home, { recursive: true, encoding: 'utf8' })) {
    if (path.endsWith('/hook/hook.cjs')) rmSync(join(home, path))
  }
}
