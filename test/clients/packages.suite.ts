import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { startModelServer } from '../model-server/server.ts'
import { installClients, type TestedClient } from './cache.ts'
import { recipes } from './clients.ts'
import { makeHome, shortReference, type TestHome, write } from './home.ts'
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
  await run('plugin', 'marketplace', 'add', directory)
  await run('plugin', 'install', 'skillrail@skillrail')
}

const clients = Object.keys(recipes).filter((name): name is TestedClient => name in installations)

it.each(clients)(
  'the package for %s brings the reference, and no harm without its hook',
  async (name) => {
    const client = installClients([name], { latest: false }).get(name)
    if (client === undefined) throw new Error(`${name} is not installed`)
    const recipe = recipes[name]
    const model = await startModelServer()
    const home = makeHome(recipe, model.url)
    const said: string[] = []
    const run: Run = async (...args) => {
      const result = await runClient(client, args, home, recipe.environment(model.url))
      said.push(`${args.join(' ')}: ${result.code}\n${result.output.slice(-1500)}`)
      return result
    }
    /** How often the reference was in a request, the highest number. */
    const asked = async (words: string): Promise<number> => {
      model.clear()
      await run(...recipe.call(words))
      const bodies = model.prompts().map(({ body }) => body)
      expect(bodies.join('\n')).toContain(words.split(' ').at(-1))
      return Math.max(...bodies.map((body) => body.split(shortReference[0] ?? '').length - 1))
    }
    try {
      // Gemini CLI asks whether it may install from a folder that is not trusted; the project is.
      const directory = join(home.project, 'package')
      cpSync(fileURLToPath(new URL(`../../plugins/${name}`, import.meta.url)), directory, {
        recursive: true,
      })
      await installations[name]?.(directory, run, home)
      expect(await asked('program execute caching')).toBe(1)
      removeHooks(home.home)
      expect(await asked('program execute without')).toBe(0)
    } finally {
      await model.close()
      rmSync(home.home, { recursive: true, force: true, maxRetries: 3 })
    }
  },
)

/** Removes the hook from every copy of the package; the launcher stays. */
function removeHooks(home: string): void {
  for (const path of readdirSync(home, { recursive: true, encoding: 'utf8' })) {
    if (path.endsWith('/hook/hook.cjs')) rmSync(join(home, path))
  }
}
