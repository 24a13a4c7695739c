import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { objectOf, parseJson } from '../../src/core/json.ts'
import { openTerminal, type TerminalSession } from '../cli/_terminal-session.ts'
import type { ModelRequest } from '../model-server/protocol.ts'
import { startModelServer } from '../model-server/server.ts'
import type { ModelTurn } from '../model-server/turn.ts'
import type { InstalledClient } from './cache.ts'
import { recipes } from './clients.ts'
import { write } from './home.ts'
import { isAgent } from './rail-session.ts'

/** Something that a new user types, and what it shows. */
export interface FirstStep {
  typed: string
  /** From the key to the result on the screen. */
  seconds: number
  /** The lines that the terminal got meanwhile, as long as it is wide. */
  lines: readonly string[]
}

export interface FirstMinutes {
  steps: readonly FirstStep[]
  /** The version on the remote, before the approval and at the end. */
  published: readonly [before: string, after: string]
  /** Whether the model was told that its push is denied, and that its step is not done. */
  denied: boolean
  kept: boolean
}

interface Machine {
  base: string
  home: string
  project: string
  remote: string
}

/** What differs between the clients for somebody at the keyboard. */
const habits = {
  claude: {
    call: '/release 1.2.0',
    /** What the client itself has after its first start: a theme, a login and a folder that it trusts. */
    files: (_url: string, project: string) => ({
      '.claude.json': JSON.stringify({
        hasCompletedOnboarding: true,
        theme: 'dark',
        customApiKeyResponses: { approved: ['sk-ant-dummy'], rejected: [] },
        projects: { [project]: { hasTrustDialogAccepted: true } },
      }),
      // Auto mode asks a server of Anthropic about each command.
      '.claude/settings.json': JSON.stringify({ permissions: { defaultMode: 'default' } }),
    }),
    isReady: '❯',
    /** Questions at the start, and the keys that answer them. */
    questions: {},
  },
  codex: {
    call: '$release 1.2.0',
    /** In its sandbox a model has to ask before it may push: the scripted one does not. */
    files: (url: string, project: string) => ({
      '.codex/config.toml': `sandbox_mode = "danger-full-access"\n${recipes.codex.files(url, project)['.codex/config.toml']}`,
    }),
    isReady: 'mock default',
    questions: { 'Hooks need review': '2\r' },
  },
} as const

export type FirstClient = keyof typeof habits

/** Questions whether the agent may run a command. */
const permissions = {
  'Do you want to proceed?': '\r',
  'Would you like to run the following command?': '\r',
} as const

const prompt = 'shop$ '

/** What the agent is told when the check of its step fails. */
const failedCheck = 'is not done: the check'

/**
 * Plays the first minutes of a new user, in a terminal of 80 columns and 24 rows: from the packed package to
 * a version that the agent publishes after an approval. Everything is real but the model, which publishes first,
 * forgets the changelog and claims success.
 *
 * @param tarball the package as npm packs it
 * @param npmCache a folder; with an empty one npm downloads everything
 */
export async function playFirstMinutes(
  client: FirstClient,
  { program }: InstalledClient,
  { tarball, npmCache }: { tarball: string; npmCache: string },
): Promise<FirstMinutes> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'first-minutes-')))
  const project = join(base, 'web-shop')
  const machine = { base, home: join(base, 'home'), project, remote: join(base, 'web-shop.git') }
  const { call, files, isReady, questions } = habits[client]
  const model = await startModelServer(scriptOf(client, project))
  for (const [file, text] of Object.entries(files(model.url, project))) {
    write(join(machine.home, file), text)
  }
  const path = makeMachine(machine, client, program)
  const terminal = openTerminal({
    file: '/bin/bash',
    args: ['--norc', '--noprofile', '-i'],
    cwd: project,
    columns: 80,
    rows: 24,
    env: {
      HOME: machine.home,
      PATH: path,
      PS1: prompt,
      LANG: 'C.UTF-8',
      npm_config_prefix: join(machine.home, '.npm-global'),
      npm_config_cache: npmCache,
      npm_config_userconfig: userConfig(),
      NODE_EXTRA_CA_CERTS: process.env['NODE_EXTRA_CA_CERTS'],
      npm_config_update_notifier: 'false',
      ...recipes[client].environment(model.url),
    },
  })
  try {
    await terminal.until(prompt)
    const person = new Person(terminal)
    await person.runs(`npm install -g ${tarball}`)
    await person.runs(`skillrail hooks install ${client}`)
    await person.runs('skillrail new --rail release', ['published?', ''])
    await person.runs('skillrail trust', ['[y/N]', 'y'])
    await person.types(client, isReady, questions)
    await person.types(call, 'waits for your approval', permissions)
    const before = versionOn(machine)
    await person.types('rail approve', 'has ended: success', permissions)
    const told = model.requests.map(({ body }) => body).join('\n')
    return {
      steps: person.steps,
      published: [before, versionOn(machine)],
      denied: told.includes('belongs to the step'),
      kept: told.includes(failedCheck),
    }
  } finally {
    terminal.kill()
    endServices(machine)
    await model.close()
    rmSync(base, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Codex leaves the service of its window running, which notes its processes. */
function endServices({ home }: Machine): void {
  const directory = join(home, '.codex/app-server-daemon')
  if (!existsSync(directory)) return
  for (const name of readdirSync(directory).filter((file) => file.endsWith('.pid'))) {
    const { pid } = objectOf(parseJson(readFileSync(join(directory, name), 'utf8')))
    try {
      if (typeof pid === 'number') process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended.
    }
  }
}

/** Somebody who types a line and reads the terminal until its result is there. */
class Person {
  readonly steps: FirstStep[] = []
  readonly #terminal: TerminalSession

  constructor(terminal: TerminalSession) {
    this.#terminal = terminal
  }

  /** Runs a command of the shell. @param question what it asks, and the answer */
  async runs(line: string, question?: readonly [text: string, answer: string]): Promise<void> {
    await this.#timed(line, async () => {
      this.#terminal.type(`${line}\r`)
      if (question) {
        await this.#terminal.until(question[0])
        this.#terminal.type(`${question[1]}\r`)
      }
      await this.#terminal.until(prompt)
    })
  }

  /** Types a line for a program that draws the screen, and answers its questions until a text is there. */
  async types(
    line: string,
    expected: string,
    questions: Readonly<Record<string, string>>,
  ): Promise<void> {
    await this.#timed(line, async () => {
      this.#terminal.type(line)
      // A key that follows at once belongs to a paste.
      await sleep(200)
      this.#terminal.type('\r')
      while (!(await this.#sees(expected))) {
        const question = await this.#questionOf(questions)
        if (question === undefined) await sleep(50)
        else {
          this.#terminal.type(questions[question] ?? '')
          // A program that is still busy loses a key.
          for (let turn = 0; turn < 40 && (await this.#sees(question)); turn++) await sleep(50)
        }
      }
    })
  }

  async #questionOf(questions: Readonly<Record<string, string>>): Promise<string | undefined> {
    for (const question of Object.keys(questions)) {
      if (await this.#sees(question)) return question
    }
    return undefined
  }

  /** Whether the screen has a text now, wherever its lines are wrapped. */
  async #sees(text: string): Promise<boolean> {
    const lines = (await this.#terminal.screen()).slice(-22)
    return withoutBlanks(lines.join('')).includes(withoutBlanks(text))
  }

  async #timed(typed: string, work: () => Promise<void>): Promise<void> {
    const earlier = (await this.#terminal.screen()).length
    const started = performance.now()
    await Promise.race([work(), this.#tooLong(typed)])
    const seconds = (performance.now() - started) / 1000
    const lines = (await this.#terminal.screen()).slice(earlier - 1)
    this.steps.push({ typed, seconds, lines })
  }

  async #tooLong(typed: string): Promise<never> {
    await sleep(240_000, undefined, { ref: false })
    const lines = await this.#terminal.screen()
    throw new Error(`nothing more after ${typed}:\n${lines.slice(-60).join('\n')}`)
  }
}

function withoutBlanks(text: string): string {
  return text.replaceAll(/\s+/g, '')
}

/** The project of the user, with a test and a remote, and a PATH with Node, npm and the client alone. */
function makeMachine(
  { home, project, remote }: Machine,
  client: FirstClient,
  program: string,
): string {
  const bin = join(home, 'bin')
  mkdirSync(bin, { recursive: true })
  symlinkSync(process.execPath, join(bin, 'node'))
  symlinkSync(realpathSync(program), join(bin, client))
  const manifest = { name: 'web-shop', version: '1.0.0', scripts: { test: 'node --test' } }
  write(join(project, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
  write(join(project, 'CHANGELOG.md'), '# Changelog\n\n## 1.0.0\n\nThe first version.\n')
  write(join(project, 'test/changelog.test.cjs'), changelogTest)
  const git = (...args: readonly string[]): void =>
    void execFileSync('git', args, { cwd: project, env: { HOME: home, PATH: '/usr/bin:/bin' } })
  git('init', '-q', '-b', 'main')
  git('init', '-q', '--bare', '-b', 'main', remote)
  git('config', '--global', 'user.name', 'Ann')
  git('config', '--global', 'user.email', 'ann@example.com')
  git('remote', 'add', 'origin', remote)
  git('add', '-A')
  git('commit', '-q', '-m', 'Start the shop')
  git('push', '-q', '-u', 'origin', 'main')
  return `${join(home, '.npm-global/bin')}:${bin}:/usr/local/bin:/usr/bin:/bin`
}

const changelogTest = `const { test } = require('node:test')
const { ok } = require('node:assert')
const { readFileSync } = require('node:fs')

test('the changelog has the version', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  ok(readFileSync('CHANGELOG.md', 'utf8').includes(version), 'CHANGELOG.md has no ' + version)
})
`

/**
 * Publishes first, sets the version and claims success; writes the changelog when it reads that the check failed, and
 * publishes when it may. On a busy machine it gets its step at the end of its first turn, and claims twice.
 */
function scriptOf(client: FirstClient, project: string) {
  const shell = (command: string): ModelTurn => ({
    calls: [recipes[client].shell(project, command)],
  })
  const commit = (message: string): string => `git commit -qam '${message}'`
  const push = shell('git push')
  const first = [
    push,
    shell(`sed -i.old s/1.0.0/1.2.0/ package.json && ${commit('Release 1.2.0')}`),
  ]
  const changelog = [
    shell(`echo '## 1.2.0' >> CHANGELOG.md && ${commit('Name 1.2.0 in the changelog')}`),
  ]
  function next(body: string): ModelTurn | string {
    if (body.includes('The user approved'))
      return body.includes('main -> main') ? 'I am done.' : push
    if (!body.includes(failedCheck)) return 'Version 1.2.0 is ready.'
    return changelog.shift() ?? 'The changelog has the version now.'
  }
  return (request: ModelRequest): ModelTurn | string =>
    isAgent(request) ? (first.shift() ?? next(request.body)) : 'ok'
}

/** How npm reaches its registry from here. */
function userConfig(): string {
  return execFileSync('npm', ['config', 'get', 'userconfig'], { encoding: 'utf8' }).trim()
}

function versionOn({ remote }: Machine): string {
  const text = execFileSync('git', ['-C', remote, 'show', 'main:package.json'], {
    encoding: 'utf8',
  })
  return /"version": "([^"]*)"/.exec(text)?.[1] ?? 'none'
}
