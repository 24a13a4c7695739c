import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { systemRuntime } from '../../src/core/runtime.ts'
import { installHook } from '../../src/hooks/install.ts'
import type { PackagedClient } from '../../src/hooks/pack-plugin.ts'
import { type PlatformStatus, platformStatuses } from '../../src/hooks/status.ts'
import { startModelServer } from '../model-server/server.ts'
import { installClients, type InstalledClient, type TestedClient } from './cache.ts'
import { type ClientRecipe, recipes } from './clients.ts'
import { startGitServer } from './git-server.ts'
import { makeHome, shortReference, type TestHome, write } from './home.ts'
import { runInProcess } from '../run-in-process.ts'
import { railSession, type Script } from './rail-session.ts'
import { type ClientRun, runClient } from './run-client.ts'
import { isShort } from './short.ts'

type Run = (...args: readonly string[]) => Promise<ClientRun>

const repository = fileURLToPath(new URL('../..', import.meta.url))
const address = 'https://github.com/skillrail/skillrail'
const clients = Object.keys(recipes).filter((name): name is TestedClient => name in recipes)

/** The branch with the packages, as a server gives it. */
let branch: { url: string; publish(): string; close(): Promise<void> }

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'skillrail-branch-'))
  const work = join(folder, 'work')
  const git = (...args: readonly string[]): void =>
    void execFileSync('git', [...args], { cwd: work, stdio: 'ignore' })
  execFileSync(process.execPath, ['dev/release-branch.mjs', work], { cwd: repository })
  const identity = ['-c', 'user.name=Tests', '-c', 'user.email=tests@example.com']
  execFileSync('git', ['init', '--quiet', '--bare', '-b', 'release', join(folder, 'skillrail.git')])
  git('init', '--quiet', '-b', 'release')
  const server = await startGitServer(folder)
  let major = 90
  branch = {
    url: `${server.url}/skillrail.git`,
    publish() {
      major += 1
      const version = `${major}.0.0`
      for (const path of manifestsIn(work)) {
        const text = readFileSync(join(work, path), 'utf8')
        writeFileSync(
          join(work, path),
          text.replace(/"version": "[^"]*"/g, `"version": "${version}"`),
        )
      }
      git('add', '--all', '--force', '.')
      git(...identity, 'commit', '--quiet', '-m', version)
      git('push', '--quiet', join(folder, 'skillrail.git'), 'HEAD:release')
      return version
    },
    async close() {
      await server.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
})

afterAll(async () => await branch?.close())

function installedClient(name: TestedClient): InstalledClient {
  const client = installClients([name], { latest: false }).get(name)
  if (client === undefined) throw new Error(`${name} is not installed`)
  return client
}

/** The manifests of the clients, which are not in folders for skills of others. */
function manifestsIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (path) =>
      /(?:^|\/)(?:plugin|package|marketplace|\w+-extension)\.json$/.test(path) &&
      !/^(?:\.git|plugins)\//.test(path),
  )
}

/** The lines of the table in the guide, by client. */
const columns = ['install', 'update', 'remove'] as const

function linesOf(name: TestedClient): Record<(typeof columns)[number], string[][]> {
  const guide = readFileSync(join(repository, 'docs/for-agent-users.md'), 'utf8')
  const title = titles[name]
  const row = guide.split('\n').find((line) => line.startsWith(`| ${title} `) && line.includes('`'))
  const cells = (row ?? '').split('|').slice(2, 5)
  const commands = cells.map((cell) => {
    const [, text = ''] = /`([^`]*)`/.exec(cell) ?? []
    const parts = text.split(' && ').map((line) => line.trim().split(' '))
    return parts.filter(([program]) => program === name).map((words) => words.slice(1))
  })
  const [install = [], update = [], remove = []] = commands
  return { install, update, remove }
}

const titles: Readonly<Record<TestedClient, string>> = {
  claude: 'Claude Code',
  codex: 'Codex',
  copilot: 'Copilot CLI',
  gemini: 'Gemini CLI',
  opencode: 'OpenCode',
  pi: 'pi',
  qwen: 'Qwen Code',
}

/** Git of the client takes the branch from the server on the loopback. */
function redirectGit({ home }: TestHome): void {
  const lines = [`${address}.git`, address].map((from) => `\tinsteadOf = ${from}`)
  write(join(home, '.gitconfig'), `[url "${branch.url}"]\n${lines.join('\n')}\n`)
}

/** These two do not use the user's settings of Git for their downloads. */
const withOwnGit: readonly TestedClient[] = ['gemini', 'opencode']

async function inClient(name: TestedClient, lines: readonly string[][], run: Run): Promise<string> {
  const outputs: string[] = []
  for (const line of lines) {
    const args = line.map((word) =>
      withOwnGit.includes(name) && word === address ? branch.url : word,
    )
    const { code, output } = await run(...args)
    expect({ line, code, output }).toMatchObject({ code: 0 })
    outputs.push(output)
  }
  return outputs.join('\n')
}

async function install(name: TestedClient, home: TestHome, run: Run): Promise<void> {
  redirectGit(home)
  if (name !== 'opencode') return void (await inClient(name, linesOf(name).install, run))
  const path = join(home.home, '.config/opencode/opencode.json')
  const configuration: object = JSON.parse(readFileSync(path, 'utf8'))
  const plugin = [`skillrail@git+${branch.url}#release`]
  write(path, JSON.stringify({ ...configuration, plugin }))
}

function statusIn({ home, project }: TestHome, name: TestedClient): PlatformStatus {
  const runtime = systemRuntime({ cwd: project, env: { HOME: home } })
  const [status] = platformStatuses(runtime, [name])
  if (status === undefined) throw new Error('there is no status')
  return status
}

/** Gemini CLI asks a question before it updates, and OpenCode does not update; pi is offline in these tests. */
const updating: readonly TestedClient[] = ['claude', 'codex', 'copilot', 'qwen']

it.each(clients)(
  'the branch is a package for %s: reference, own command line, update and removal',
  async (name) => {
    const client = installedClient(name)
    const version = branch.publish()
    const recipe: ClientRecipe = recipes[name]
    const model = await startModelServer()
    const home = makeHome(recipe, model.url)
    // OpenCode installs packages of its own when it starts the first time.
    const run: Run = (...args) =>
      runClient(client, args, home, recipe.environment(model.url), 240_000)
    try {
      await install(name, home, run)
      await run(...recipe.call('program execute caching'))
      const [reference = ''] = shortReference
      const bodies = model.prompts().map(({ body }) => body)
      expect(Math.max(...bodies.map((body) => body.split(reference).length - 1))).toBe(1)
      const status = statusIn(home, name)
      expect(status.package).toMatchObject({ version, update: undefined })
      expect(status.rail).toMatchObject({ state: 'ready' })
      checkCommandLine(join(status.package?.path ?? '', 'bin/skillrail'), home)
      const newer = updating.includes(name) ? branch.publish() : version
      if (newer !== version) await inClient(name, linesOf(name).update, run)
      expect(statusIn(home, name).package?.version).toBe(newer)
      if (name === 'opencode') return
      await inClient(name, linesOf(name).remove, run)
      expect(statusIn(home, name)).toMatchObject({
        package: undefined,
        disabledPackage: undefined,
        rail: { state: 'absent' },
      })
    } finally {
      await model.close()
      rmSync(home.home, { recursive: true, force: true, maxRetries: 3 })
    }
  },
)

/** The search path has no command line of Skillrail, and the package brings one. */
function checkCommandLine(program: string, home: TestHome): void {
  const head = '---\nname: tidy\ndescription: Tidies. Use when asked to.\n'
  const chain = 'metadata:\n  chain: |\n    clean check="true"\n---\n'
  write(join(home.project, '.agents/skills/tidy/SKILL.md'), `${head}${chain}Tidy up.\n`)
  skillrail(program, home, 'trust', '--yes')
  expect(skillrail(program, home, 'trust', '--list')).toContain(home.project)
  expect(skillrail(program, home, 'list', '--json')).toContain('"tidy"')
}

it.each(isShort ? (['claude'] as const) : clients)(
  'a rail runs in %s from the package alone',
  async (name) => {
    branch.publish()
    let isPublished = false
    // Some clients let the agent say that the chain waits, which needs one more request.
    const whenApproved: Script[number] = (tools, body) => {
      if (isPublished || !body.includes('The user approved')) return 'It waits.'
      isPublished = true
      return { calls: [tools.publish()] }
    }
    const script: Script = [
      (tools) => ({ calls: [tools.publish()] }),
      (tools) => ({ calls: [tools.work()] }),
      () => 'I wrote the file.',
      ...Array.from({ length: 6 }, () => whenApproved),
    ]
    const result = await railSession(name, installedClient(name), recipes[name], script, {
      timeoutMs: 240_000,
      later: [{ decide: 'approve' }],
      install: async (home, run) => {
        rmSync(join(home.home, 'bin/skillrail'))
        await install(name, home, run)
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
  600_000,
)

function skillrail(program: string, { home, project, path }: TestHome, ...args: string[]): string {
  return execFileSync(program, args, {
    cwd: project,
    env: { HOME: home, PATH: path },
    encoding: 'utf8',
  })
}

/** How a user installs a folder in a client. */
const installations: Readonly<
  Record<PackagedClient, (directory: string, run: Run, home: TestHome) => Promise<unknown>>
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

const packing = Object.keys(installations).filter(
  (name): name is PackagedClient => name in installations,
)

it.each(packing.filter((name) => !isShort || name === 'claude'))(
  'a plugin that is packed for %s matches its own triggers once, beside the hook of the user',
  async (name) => {
    const client = installedClient(name)
    const recipe: ClientRecipe = recipes[name]
    const model = await startModelServer()
    const place = makeHome(recipe, model.url)
    const { home, project } = place
    const run: Run = (...args) => runClient(client, args, place, recipe.environment(model.url))
    const times = async (text: string, words: string): Promise<number> => {
      model.clear()
      await run(...recipe.prompt(words))
      const bodies = model.prompts().map(({ body }) => body)
      expect(bodies.join('\n')).toContain(words.split(' ').at(-1))
      return Math.max(...bodies.map((body) => body.split(text).length - 1))
    }
    try {
      const head = '---\nname: plan\ndescription: Plans work. Use when work is to be planned.\n'
      const triggers = 'metadata:\n  triggers: "^please plan => rules.md"\n---\n# Plan\n'
      // A plugin in the project itself could be brought by a repository, and is not believed.
      const made = join(home, 'made')
      write(join(made, 'plan/SKILL.md'), head + triggers)
      write(join(made, 'plan/rules.md'), 'RULES FOR PLANS 4713\n')
      const args = ['hooks', 'pack', 'plan', '--client', name]
      expect(await runInProcess(args, { cwd: made, home })).toMatchObject({ code: 0 })
      const plugin = join(made, 'plan-plugin', name)
      await installations[name](plugin, run, place)
      const rules = 'RULES FOR PLANS 4713'
      expect(await times(rules, 'please plan this')).toBe(1)
      expect(await times(rules, 'what is the weather')).toBe(0)
      const runtime = systemRuntime({ cwd: project, env: { HOME: home } })
      await installHook(runtime, name, { scope: 'user' })
      expect(await times(rules, 'please plan again')).toBe(1)
    } finally {
      await model.close()
      rmSync(home, { recursive: true, force: true, maxRetries: 3 })
    }
  },
)
