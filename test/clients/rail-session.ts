import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemRuntime } from '../../src/core/runtime.ts'
import { adapters, type Platform } from '../../src/hooks/adapters.ts'
import { installHook } from '../../src/hooks/install.ts'
import type { ModelRequest } from '../model-server/protocol.ts'
import { startModelServer } from '../model-server/server.ts'
import type { ModelToolCall, ModelTurn } from '../model-server/turn.ts'
import type { InstalledClient } from './cache.ts'
import type { ClientRecipe } from './clients.ts'
import { makeHome, type TestHome, write } from './home.ts'
import { type ClientRun, runClient } from './run-client.ts'

/** The actions of a scripted model; each entry answers one request. Then the model reports that it is done. */
export type Script = readonly ((tools: RailTools, body: string) => ModelTurn | string)[]

export interface RailTools {
  /** The call that publishes, which only the last step may make. */
  publish(): ModelToolCall
  shell(command: string): ModelToolCall
  /** Writes the file that the check of the first step looks for. */
  work(): ModelToolCall
  write(path: string, text: string): ModelToolCall
  /** Starts a subagent with a tool that the request offers; undefined if it offers no such tool. */
  subagent(prompt: string): ModelToolCall | undefined
  /** Reports about a step with the command line. */
  report(step: string, ...words: readonly string[]): ModelToolCall
  /** Starts another process of the client in the same session, and waits for its end before it answers. */
  second(prompt: string): ModelTurn
  /** Sends a signal to the client and everything that it started, while it waits for the model. */
  signal(signal: NodeJS.Signals): ModelTurn
}

/** A further prompt in the same session; with `decide` a call of the skill `rail` with these words. */
export type LaterPrompt = string | { decide: string }

/** A project with a chain, and the prompt that starts the chain. */
export interface Scene {
  chain: string
  words: string
  make(home: TestHome, recipe: ClientRecipe): void
}

export interface SessionOptions {
  later?: readonly LaterPrompt[] | undefined
  /** Default: the chain `ship`. */
  scene?: Scene
  /** How Skillrail comes into the client; default: `hooks install`. */
  install?: (home: TestHome, run: (...args: readonly string[]) => Promise<ClientRun>) => unknown
  /** How long the client may take for a prompt; default: two minutes. */
  timeoutMs?: number
  /** Called with each event of the session, as it happens. */
  onEvent?: (event: SessionEvent) => void
}

export type SessionEvent =
  | { kind: 'start'; home: TestHome }
  | { kind: 'you'; prompt: string }
  | { kind: 'model'; turn: ModelTurn }
  /** All prompts are answered; the home still exists. */
  | { kind: 'end' }

export interface RailSessionResult {
  /** How often the guarded program ran. */
  published: number
  /** The same before the last prompt, if there was a second one. */
  publishedBefore: number
  /** The step of the rail before the last prompt; undefined if there was only one prompt. */
  standingBefore: string | undefined
  /** How often the check of the first step ran. */
  checked: number
  /** Only the requests of the last prompt, if there was a second one. */
  requestsOfLastPrompt: number
  /** Whether the client reported that it compacted the context. */
  wasCompacted: boolean
  /** The requests that the client sent to the model, in order. */
  requests: readonly string[]
  /** Status and evidence of each step, from the run's journal. */
  steps: Readonly<Record<string, string>>
  /** The state that the hook keeps; undefined once the chain has ended. */
  rail: RailState | undefined
  output: string
  code: number | null
}

interface RailState {
  standing: string
  reason: string
  runId: string
  step?: { step: string }
}

/** A session of a real client in which a user invokes a chain, and a scripted model works. */
export async function railSession(
  platform: Platform,
  client: InstalledClient,
  recipe: ClientRecipe,
  script: Script,
  options: SessionOptions = {},
): Promise<RailSessionResult> {
  const { later = [], scene = shipScene, timeoutMs = 120_000, install } = options
  const { onEvent = () => undefined } = options
  const requests: string[] = []
  const left = [...script]
  const home = makeHome(recipe, 'http://127.0.0.1:1')
  const { project } = home
  let signal: (name: NodeJS.Signals) => void = () => undefined
  const toolsFor = (body: string): RailTools => ({
    publish: () => recipe.shell(project, 'publish now'),
    shell: (command) => recipe.shell(project, command),
    work: () => recipe.edit(project, 'done.txt', 'done\n'),
    write: (path, text) => recipe.edit(project, path, text),
    subagent: (prompt) => subagentCall(body, prompt),
    report: (step, ...words) => {
      const run = railOf(home)?.runId ?? 'none'
      return recipe.shell(
        project,
        ['skillrail chain report', run, '--step', step, ...words].join(' '),
      )
    },
    second: (prompt) => ({
      text: 'Another process worked meanwhile.',
      before: async () => void (await run(...recipe.resume(prompt))),
    }),
    signal: (name) => ({
      text: 'This answer is never read.',
      before: async () => {
        signal(name)
        await new Promise((resolve) => setTimeout(resolve, 300))
      },
    }),
  })
  const model = await startModelServer((request) => {
    if (!isAgent(request)) return 'ok'
    requests.push(request.body)
    const answer = left.shift()?.(toolsFor(request.body), request.body) ?? 'I am done.'
    onEvent({ kind: 'model', turn: typeof answer === 'string' ? { text: answer } : answer })
    return answer
  })
  for (const [path, text] of Object.entries(recipe.files(model.url, project))) {
    write(join(home.home, path), text)
  }
  scene.make(home, recipe)
  const environment = recipe.environment(model.url)
  let starts = 0
  const run = async (...args: readonly string[]): Promise<ClientRun> => {
    starts += 1
    return await runClient(client, args, home, environment, timeoutMs, (send) => (signal = send))
  }
  try {
    if (install) {
      await install(home, run)
      starts = 0
    } else {
      const runtime = systemRuntime({ cwd: project, env: { HOME: home.home } })
      await installHook(runtime, platform, { scope: 'user' })
    }
    onEvent({ kind: 'start', home })
    const call = `${scene.chain} ${scene.words}`
    const args = recipe.invoke(scene.chain, scene.words)
    // OpenCode's arguments have the name and the words apart.
    onEvent({ kind: 'you', prompt: args.find((word) => word.includes(call)) ?? `/${call}` })
    let last = await run(...args)
    let before = 0
    let publishedBefore = 0
    let standingBefore: string | undefined
    for (const prompt of later) {
      before = requests.length
      standingBefore = railOf(home)?.standing ?? 'none'
      publishedBefore = linesIn(join(project, 'published.txt'))
      const text = typeof prompt === 'string' ? prompt : recipe.rail(prompt.decide)
      onEvent({ kind: 'you', prompt: text })
      last = await run(...recipe.resume(text))
    }
    onEvent({ kind: 'end' })
    return {
      published: linesIn(join(project, 'published.txt')),
      publishedBefore,
      standingBefore,
      checked: linesIn(join(project, 'checked.txt')),
      requests,
      requestsOfLastPrompt: requests.length - before,
      // Where this event is the start of a session, each further process is one as well.
      wasCompacted: compactions(home) > (isStart(platform) ? starts - 1 : 0),
      steps: stepsOf(home),
      rail: railOf(home),
      output: `${last.output}\n${logOf(home)}`,
      code: last.code,
    }
  } finally {
    await model.close()
    if (process.env['KEEP'] === undefined) {
      rmSync(home.home, { recursive: true, force: true, maxRetries: 3 })
    } else console.log(home.home)
  }
}

function compactions(home: TestHome): number {
  return logOf(home).split('"event":"compact"').length - 1
}

function isStart(platform: Platform): boolean {
  return adapters[platform].events.compact === 'SessionStart'
}

function linesIn(path: string): number {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0
}

/** The tools that clients use to start subagents. */
const subagentTools: Readonly<Record<string, (prompt: string) => object>> = {
  Agent: taskInput,
  Task: taskInput,
  agent: taskInput,
  task: (prompt) => ({ ...taskInput(prompt), subagent_type: 'general', agent_type: 'task' }),
  spawn_agent: (message) => ({ task_name: 'helper', message }),
}

function taskInput(prompt: string): object {
  return { description: 'Help', prompt, subagent_type: 'general-purpose', name: 'helper' }
}

function subagentCall(body: string, prompt: string): ModelToolCall | undefined {
  const name = Object.keys(subagentTools).find((tool) => body.includes(`"name":"${tool}"`))
  return name === undefined ? undefined : { name, input: subagentTools[name]?.(prompt) ?? {} }
}

/**
 * Not a request for a title or a summary, which has no tools, and not the agent with which Qwen Code looks for
 * something to remember after a turn.
 */
export function isAgent({ body }: ModelRequest): boolean {
  const hasTools = /"(?:tools|functionDeclarations)"\s*:\s*\[\s*\{/.test(body)
  const last = body.slice(body.lastIndexOf('"role":"user"'))
  return hasTools && !last.includes('How to save memories')
}

/** The chain `ship`: `implement` has a check, `publish-it` a gate and a guard. */
export const shipScene: Scene = {
  chain: 'ship',
  words: '1.2',
  make: (home, recipe) => makeShip(home, recipe, ''),
}

/** The same chain; a rejection of `publish-it` leads back to `implement`. */
export const reworkScene: Scene = {
  ...shipScene,
  make: (home, recipe) => makeShip(home, recipe, '', ' rework=implement'),
}

/**
 * @param options further options of the first step
 * @param gateOptions further options of the step with the gate
 */
export function makeShip(
  home: TestHome,
  recipe: ClientRecipe,
  options: string,
  gateOptions = '',
): void {
  const skill = (name: string, body: string, metadata = ''): void => {
    const head = `---\nname: ${name}\ndescription: Does ${name}. Use when asked to ${name}.\n${metadata}---\n`
    const places = new Set([recipe.skills, '.agents/skills', '.claude/skills'])
    for (const place of places) {
      write(join(home.home, place, name, 'SKILL.md'), `${head}\n${body}\n`)
    }
  }
  const chain = [
    `implement check="sh check.sh"${options}`,
    `publish-it gate guard="Bash(publish:*)" max-blocks=1 check=true${gateOptions}`,
  ]
  const lines = chain.map((line) => `    ${line}\n`).join('')
  skill('ship', 'OVERVIEW OF SHIP.', `metadata:\n  chain: |\n${lines}`)
  skill('implement', 'IMPLEMENT: write done.txt.')
  skill('publish-it', 'PUBLISH: run publish.')
  write(join(home.project, 'check.sh'), 'echo checked >> checked.txt\ntest -f done.txt\n')
  addProgram(home, 'publish', `echo "$@" >> '${join(home.project, 'published.txt')}'`)
  addProgram(home, 'skillrail', `exec node "${commandLine}" "$@"`)
}

export const commandLine = fileURLToPath(new URL('../../dist/cli/bin.cjs', import.meta.url))

/** A program that the client's shell finds by its name. */
export function addProgram({ home, path }: TestHome, name: string, line: string): void {
  const [bin = ''] = path.split(':')
  // A login shell, as in Codex, makes its own PATH.
  write(join(home, '.profile'), `PATH="${bin}:$PATH"\n`)
  const program = join(bin, name)
  writeFileSync(program, `#!/bin/sh\n${line}\n`)
  chmodSync(program, 0o755)
}

function railOf({ home }: TestHome): RailState | undefined {
  const directory = join(home, '.local/state/skillrail/rails')
  if (!existsSync(directory)) return undefined
  const [name] = readdirSync(directory).filter((file) => file.endsWith('.json'))
  return name === undefined ? undefined : JSON.parse(readFileSync(join(directory, name), 'utf8'))
}

/** `success (verified)` by step, of every run in the home. */
export function stepsOf({ home }: TestHome): Record<string, string> {
  const steps: Record<string, string> = {}
  const state = join(home, '.local/state/skillrail')
  if (!existsSync(state)) return steps
  const files = readdirSync(state, { recursive: true, encoding: 'utf8' })
  for (const file of files.filter((name) => /runs\/[^/]+\.jsonl$/.test(name))) {
    for (const line of readFileSync(join(state, file), 'utf8').split('\n')) {
      const match = /"key":"[^"]*:([^":]+)".*?"status":"(\w+)".*?"evidence":"([\w-]+)"/.exec(line)
      if (match && line.includes('"type":"done"'))
        steps[match[1] ?? ''] = `${match[2]} (${match[3]})`
    }
  }
  return steps
}

function logOf({ home }: TestHome): string {
  const path = join(home, '.local/state/skillrail/hooks/log.jsonl')
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}
