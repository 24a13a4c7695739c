import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runInProcess } from '../run-in-process.ts'
import { startModelServer } from '../model-server/server.ts'
import { installClients, type TestedClient } from './cache.ts'
import { type ClientRecipe, recipes } from './clients.ts'
import { makeHome, type TestHome, write } from './home.ts'
import { runClient } from './run-client.ts'
import { isShort, isTried } from './short.ts'

interface PluginSession {
  home: TestHome
  /** Runs a command of the client. */
  run(...args: readonly string[]): Promise<void>
  /** The marks that the client sends to its model, which are those of the skills that Skillrail lists. */
  marks(): Promise<string[]>
}

/** A mark in the description of a skill, so that it is in the catalogue that a client sends. */
const markOf = /PLUGIN-SKILL-[a-z0-9-]+/g

/** Uses a client in an empty home. Each call of `marks` compares the client with `skillrail list`. */
async function withClient(
  name: TestedClient,
  use: (session: PluginSession) => Promise<void>,
): Promise<void> {
  const client = installClients([name], { latest: false }).get(name)
  if (client === undefined) throw new Error(`${name} is not installed`)
  const recipe: ClientRecipe = recipes[name]
  const model = await startModelServer()
  const home = makeHome(recipe, model.url)
  const environment = recipe.environment(model.url)
  let output = ''
  try {
    await use({
      home,
      async run(...args) {
        const { code, output: printed } = await runClient(client, args, home, environment)
        output += printed
        expect({ args, code, printed }).toMatchObject({ args, code: 0 })
      },
      async marks() {
        model.clear()
        const { output: printed } = await runClient(
          client,
          recipe.prompt('hello'),
          home,
          environment,
        )
        const bodies = model.prompts().map(({ body }) => body)
        expect({ requests: bodies.length, printed, output }).not.toMatchObject({ requests: 0 })
        const sent = [...new Set(bodies.join('\n').match(markOf))].toSorted()
        expect(await listedMarks(home, name)).toEqual(sent)
        return sent.map((mark) => mark.slice('PLUGIN-SKILL-'.length))
      },
    })
  } finally {
    await model.close()
    rmSync(home.home, { recursive: true, force: true, maxRetries: 3 })
  }
}

async function listedMarks({ home, project }: TestHome, client: TestedClient): Promise<string[]> {
  const { stdout } = await runInProcess(['list', '--all', '--json'], { cwd: project, home })
  const { skills }: { skills: { description: string; clients: string[] }[] } = JSON.parse(stdout)
  const read = skills.filter(({ clients }) => clients.includes(client))
  return [...new Set(read.flatMap(({ description }) => description.match(markOf) ?? []))].toSorted()
}

function skill(directory: string, path: string, mark: string): void {
  const name = path.split('/').at(-1)
  const head = `---\nname: ${name}\ndescription: PLUGIN-SKILL-${mark} for tests. Use when testing.\n---\n`
  write(join(directory, path, 'SKILL.md'), `${head}Do it.\n`)
}

/** A marketplace with plugins of every form, whose manifests are in `folder`. */
function makeMarketplace(directory: string, folder: string): void {
  const manifest = (name: string, more: object = {}): void =>
    write(
      join(directory, name, folder, 'plugin.json'),
      JSON.stringify({ name, version: '1.9.0', description: 'For tests.', ...more }),
    )
  const names = ['plain', 'extra', 'whole', 'listed']
  const entry = (name: string) => ({ name, source: `./${name}`, description: 'For tests.' })
  write(
    join(directory, '.claude-plugin/marketplace.json'),
    JSON.stringify({ name: 'market', owner: { name: 'Tests' }, plugins: names.map(entry) }),
  )
  write(
    join(directory, '.agents/plugins/marketplace.json'),
    JSON.stringify({
      name: 'market',
      plugins: names.map((name) => ({
        name,
        source: { source: 'local', path: `./${name}` },
        policy: { installation: 'AVAILABLE', authentication: 'ON_INSTALL' },
        category: 'Productivity',
      })),
    }),
  )
  manifest('plain')
  skill(directory, 'plain/skills/plain-one', 'plain')
  skill(directory, 'plain/skills/group/plain-deep', 'plain-deep')
  manifest('extra', { skills: './more' })
  skill(directory, 'extra/skills/extra-usual', 'extra-usual')
  skill(directory, 'extra/more/extra-more', 'extra-more')
  manifest('whole')
  skill(directory, 'whole', 'whole')
  manifest('listed', { skills: ['./a', './b/listed-direct'] })
  skill(directory, 'listed/a/listed-below', 'listed-below')
  skill(directory, 'listed/b/listed-direct', 'listed-direct')
}

/** The next version of the plugin `plain`; as text, `1.10.0` is before `1.9.0`. */
function updatePlain(directory: string, folder: string): void {
  write(
    join(directory, 'plain', folder, 'plugin.json'),
    JSON.stringify({ name: 'plain', version: '1.10.0', description: 'For tests.' }),
  )
  skill(directory, 'plain/skills/plain-one', 'plain-new')
}

function commit(directory: string): void {
  const identity = ['-c', 'user.name=Tests', '-c', 'user.email=tests@example.com']
  for (const args of [
    ['init', '-q'],
    ['add', '-A'],
    [...identity, 'commit', '-qm', 'Change'],
  ]) {
    execFileSync('git', ['-C', directory, ...args], { stdio: 'ignore' })
  }
}

/** The address of the marketplace for the client. Git reads the address from the folder. */
function placeOf(kind: Marketplace, { home }: TestHome, directory: string): string {
  if (kind === 'folder') return directory
  const url = 'https://market.example/market.git'
  write(join(home, '.gitconfig'), `[url "file://${directory}/.git"]\n\tinsteadOf = ${url}\n`)
  commit(directory)
  return url
}

const plugins = ['plain', 'extra', 'whole', 'listed'] as const

type Marketplace = 'folder' | 'repository'

/** In a short run, one kind for clients that treat both alike. */
const alikeKinds: readonly Marketplace[] = isShort ? ['folder'] : ['folder', 'repository']

it.concurrent.each(alikeKinds)(
  'lists the skills that Claude Code takes from plugins of a marketplace in a %s',
  async (kind) => {
    await withClient('claude', async ({ home, run, marks }) => {
      const directory = join(home.home, 'market')
      makeMarketplace(directory, '.claude-plugin')
      expect(await marks()).toEqual([])
      await run('plugin', 'marketplace', 'add', placeOf(kind, home, directory))
      expect(await marks()).toEqual([])
      for (const name of plugins) await run('plugin', 'install', `${name}@market`)
      const all = ['extra-more', 'extra-usual', 'listed-below', 'listed-direct', 'plain', 'whole']
      expect(await marks()).toEqual(all)
      await run('plugin', 'disable', 'extra@market')
      expect(await marks()).toEqual(all.filter((mark) => !mark.startsWith('extra')))
      updatePlain(directory, '.claude-plugin')
      if (kind === 'repository') commit(directory)
      await run('plugin', 'marketplace', 'update', 'market')
      await run('plugin', 'update', 'plain@market')
      expect(await marks()).toEqual(['listed-below', 'listed-direct', 'plain-new', 'whole'])
      await run('plugin', 'uninstall', 'whole@market')
      await run('plugin', 'enable', 'extra@market')
      const last = ['extra-more', 'extra-usual', 'listed-below', 'listed-direct', 'plain-new']
      expect(await marks()).toEqual(last)
      await run('plugin', 'marketplace', 'remove', 'market')
      expect(await marks()).toEqual([])
    })
  },
)

it.concurrent.each(alikeKinds.filter(() => isTried('copilot')))(
  'lists the skills that Copilot CLI takes from plugins of a marketplace in a %s',
  async (kind) => {
    await withClient('copilot', async ({ home, run, marks }) => {
      const directory = join(home.home, 'market')
      makeMarketplace(directory, '.claude-plugin')
      await run('plugin', 'marketplace', 'add', placeOf(kind, home, directory))
      expect(await marks()).toEqual([])
      for (const name of plugins) await run('plugin', 'install', `${name}@market`)
      const all = ['extra-more', 'listed-below', 'listed-direct', 'plain', 'plain-deep', 'whole']
      expect(await marks()).toEqual(all)
      await run('plugin', 'disable', 'extra@market')
      expect(await marks()).toEqual(all.filter((mark) => !mark.startsWith('extra')))
      updatePlain(directory, '.claude-plugin')
      if (kind === 'repository') commit(directory)
      await run('plugin', 'marketplace', 'update', 'market')
      await run('plugin', 'update', 'plain@market')
      await run('plugin', 'uninstall', 'whole@market')
      expect(await marks()).toEqual(['listed-below', 'listed-direct', 'plain-deep', 'plain-new'])
      await run('plugin', 'install', join(directory, 'extra'))
      expect(await marks()).toContain('extra-more')
    })
  },
)

it.concurrent.each(['folder', 'repository'] as const)(
  'lists the skills that Codex takes from plugins of a marketplace in a %s',
  async (kind) => {
    await withClient('codex', async ({ home, run, marks }) => {
      const directory = join(home.home, 'market')
      makeMarketplace(directory, '.codex-plugin')
      await run('plugin', 'marketplace', 'add', placeOf(kind, home, directory))
      expect(await marks()).toEqual([])
      for (const name of plugins) await run('plugin', 'add', `${name}@market`)
      const all = ['extra-more', 'listed-below', 'listed-direct', 'plain', 'plain-deep']
      expect(await marks()).toEqual(all)
      await run('plugin', 'remove', 'extra@market')
      expect(await marks()).toEqual(all.filter((mark) => !mark.startsWith('extra')))
      if (kind === 'folder') return
      updatePlain(directory, '.codex-plugin')
      commit(directory)
      await run('plugin', 'marketplace', 'upgrade', 'market')
      // The client updates its plugins at the next start.
      expect(await marks()).toEqual(['listed-below', 'listed-direct', 'plain-deep', 'plain-new'])
    })
  },
)

/** Each test starts its client fifteen times. */
const withExtensions = (['gemini', 'qwen'] as const).filter(isTried)

it.concurrent.each(withExtensions)(
  'lists the skills that %s takes from extensions',
  async (name) => {
    await withClient(name, async ({ home, run, marks }) => {
      const source = join(home.project, 'source')
      const extension = (folder: string, mark: string, version = '1.9.0'): string => {
        const manifest = { name: folder, version, skills: './more' }
        write(join(source, folder, `${name}-extension.json`), JSON.stringify(manifest))
        skill(source, `${folder}/skills/${folder}-one`, mark)
        skill(source, `${folder}/skills/group/${folder}-deep`, `${mark}-deep`)
        skill(source, `${folder}/more/${folder}-more`, `${mark}-more`)
        return join(source, folder)
      }
      expect(await marks()).toEqual([])
      for (const folder of ['first', 'second', 'third']) {
        await run('extensions', 'install', extension(folder, folder), '--consent')
      }
      expect(await marks()).toEqual(['first', 'second', 'third'])
      await run('extensions', 'disable', 'second')
      expect(await marks()).toEqual(['first', 'third'])
      await run('extensions', 'disable', 'third', '--scope', 'workspace')
      expect(await marks()).toEqual(['first'])
      // An update asks again about skills, which needs a terminal.
      await run('extensions', 'uninstall', 'first')
      await run('extensions', 'install', extension('first', 'first-new', '1.10.0'), '--consent')
      await run('extensions', 'enable', 'second')
      expect(await marks()).toEqual(['first-new', 'second'])
      if (name === 'gemini') {
        await run('extensions', 'link', extension('linked', 'linked'), '--consent')
        extension('linked', 'linked-new')
      }
      const live = name === 'gemini' ? ['linked-new'] : []
      expect(await marks()).toEqual(['first-new', ...live, 'second'])
      await run('extensions', 'uninstall', 'second')
      expect(await marks()).not.toContain('second')
    })
  },
)
