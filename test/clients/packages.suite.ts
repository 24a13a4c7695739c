import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { systemRuntime } from '../../src/core/runtime.ts'
import { installHook } from '../../src/hooks/install.ts'
import { platformStatuses } from '../../src/hooks/status.ts'
import { startModelServer } from '../model-server/server.ts'
import { installClients, type TestedClient } from './cache.ts'
import { type ClientRecipe, recipes } from './clients.ts'
import { makeHome, shortReference, type TestHome, write } from './home.ts'
import { runInProcess } from '../run-in-process.ts'
import { addProgram, commandLine, railSession, type Script } from './rail-session.ts'
import { type ClientRun, runClient } from './run-client.ts'

type Run = (...args: readonly string[]) => Promise<ClientRun>

/** How a user installs the package in a directory, with the client's own command if there is one. */
const installations: Partial<
  Record<TestedClient, (directory: string, run: Run, home: TestHome) => Promise<unknown>>
> = {
  claude: fromMarketplace,
  copilot: fromMarketplace,
  async gemini(directory, run, { home, project }) {
    // Otherwise it asks, at a terminal, whether it may install from this folder.
    const trusted = { [project]: 'TRUST_FOLDER', [directory]: 'TRUST_FOLDER' }
    write(join(home, '.gemini/trustedFolders.json'), JSON.stringify(trusted))
    await run('extensions', 'install', directory, '--consent')
  },
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

/** A client in an empty home, and the context that a prompt adds for its model. */
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
  'the package for %s provides the reference, and does no harm without its hook',
  async (name) => {
    await withClient(name, async ({ home, install, times }) => {
      const [reference = ''] = shortReference
      const { call } = recipes[name]
      await install(copyPackage(name, home))
      expect(await times(reference, call('program execute caching'))).toBe(1)
      removeHooks(home.home)
      expect(await times(reference, call('program execute without'))).toBe(0)
    })
  },
)

it.each(clients)(
  'a plugin that is packed for %s matches its own triggers once, beside the hook of the user',
  async (name) => {
    await withClient(name, async ({ home: { home, project }, install, times }) => {
      const head = '---\nname: plan\ndescription: Plans work. Use when work is to be planned.\n'
      const triggers = 'metadata:\n  triggers: "^please plan => rules.md"\n---\n# Plan\n'
      // A plugin in the project itself could be brought by a repository, and is not believed.
      const made = join(home, 'made')
      write(join(made, 'plan/SKILL.md'), head + triggers)
      write(join(made, 'plan/rules.md'), 'RULES FOR PLANS 4713\n')
      const args = ['plugin', 'pack', 'plan', '--client', name]
      expect(await runInProcess(args, { cwd: made, home })).toMatchObject({ code: 0 })
      await install(join(made, 'plan-plugin', name))
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

/** The package in a separate folder. */
function copyPackage(name: TestedClient, { home }: TestHome): string {
  const directory = join(home, 'package')
  const source = fileURLToPath(new URL(`../../plugins/${name}`, import.meta.url))
  cpSync(source, directory, { recursive: true })
  return directory
}

it.each(clients)(
  'a chain is a rail with the package for %s alone, and its skill `rail` opens the gate',
  async (name) => {
    const client = installClients([name], { latest: false }).get(name)
    if (client === undefined) throw new Error(`${name} is not installed`)
    // Some clients let the agent say that the chain waits, which needs one more request.
    const whenApproved: Script[number] = (tools, body) =>
      body.includes('The user approved') ? { calls: [tools.publish()] } : 'It waits.'
    const script: Script = [
      (tools) => ({ calls: [tools.publish()] }),
      (tools) => ({ calls: [tools.work()] }),
      () => 'I wrote the file.',
      whenApproved,
      whenApproved,
    ]
    const result = await railSession(name, client, recipes[name], script, {
      later: [{ decide: 'approve' }],
      install: async (home, run) => {
        // The package brings no command line. `npx` here replaces the one that a registry provides.
        rmSync(join(home.home, 'bin/skillrail'))
        addProgram(home, 'npx', `shift; exec node "${commandLine}" "$@"`)
        await installations[name]?.(copyPackage(name, home), run, home)
        const runtime = systemRuntime({ cwd: home.project, env: { HOME: home.home } })
        const [status] = platformStatuses(runtime, [name])
        expect(status).toMatchObject({ package: { path: expect.any(String) } })
        expect(status?.rail).toEqual({ state: 'ready' })
      },
    })
    expect(result.requests.join('\n')).toContain('belongs to the step')
    expect(result.steps).toEqual({
      implement: 'success (verified)',
      'publish-it': 'success (verified)',
    })
    expect(result).toMatchObject({ publishedBefore: 0, rail: undefined })
    expect(result.published).toBeGreaterThan(0)
  },
)

/** Removes the hook from every copy of the package; the launcher stays. */
function removeHooks(home: string): void {
  for (const path of readdirSync(home, { recursive: true, encoding: 'utf8' })) {
    if (path.endsWith('/hook/hook.cjs')) rmSync(join(home, path))
  }
}
