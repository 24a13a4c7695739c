import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { systemRuntime } from '../../src/core/runtime.ts'
import type { Platform } from '../../src/hooks/adapters.ts'
import { installHook } from '../../src/hooks/install.ts'
import { startModelServer } from '../model-server/server.ts'
import type { ModelRequest } from '../model-server/protocol.ts'
import type { ModelToolCall, ModelTurn } from '../model-server/turn.ts'
import type { InstalledClient } from './cache.ts'
import type { ClientRecipe } from './clients.ts'
import { makeHome, type TestHome, write } from './home.ts'
import { runClient } from './run-client.ts'

/** The result of a session with a model that edits files. */
export interface ToolSession {
  /** First edits that were made before the reference was in a request. */
  unguarded: number
  /** Calls that were denied although the reference had been sent before. */
  falseDenials: number
  /** First edits, two at a time. */
  firstEdits: number
  /** Whether the reference of a trigger without `require` came with the result of an edit. */
  isAdded: boolean
  /** Whether a shell command was denied with its reference, and ran when it was repeated. */
  isCommandGuarded: boolean
  output: string
}

const reference = (name: string): string => `RULES 4711 OF ${name}.`
/** Longer than the window in which parallel calls are denied. */
const thinkingMs = 1800
const task = 'please edit the files'

/**
 * A real client with a model that makes two first edits at a time in each of `rounds` folders, repeats
 * what was denied, and then runs a command.
 */
export async function toolSession(
  platform: Platform,
  client: InstalledClient,
  recipe: ClientRecipe,
  rounds: number,
): Promise<ToolSession> {
  const steps: ((body: string) => ModelTurn)[] = []
  const model = await startModelServer((request) => {
    if (!isTask(request)) return 'ok'
    return steps.shift()?.(request.body) ?? 'done'
  })
  const home = makeHome(recipe, model.url)
  const session = { unguarded: 0, falseDenials: 0, firstEdits: 0 }
  let isAdded = false
  let isCommandGuarded = false
  const exists = (path: string): boolean => existsSync(join(home.project, path))
  const edits = (paths: readonly string[]): ModelToolCall[] =>
    paths.map((path) => recipe.edit(home.project, path, `text of ${path}\n`))
  for (let round = 0; round < rounds; round++) {
    const paths = [`d${round}/a.txt`, `d${round}/b.txt`]
    steps.push(() => ({ calls: edits(paths) }))
    steps.push((body) => {
      const isTold = body.includes(reference(`d${round}`))
      session.firstEdits += 2
      session.unguarded += paths.filter((path) => exists(path) || !isTold).length
      return { delayMs: thinkingMs, calls: edits(paths.filter((path) => !exists(path))) }
    })
    steps.push(() => {
      session.falseDenials += paths.filter((path) => !exists(path)).length
      return { calls: edits([`after/${round}.txt`]) }
    })
  }
  const command = recipe.shell(home.project, 'echo ran > ran.txt; publish')
  steps.push((body) => {
    isAdded = exists('after/0.txt') && body.includes(reference('after'))
    return { calls: [command] }
  })
  steps.push((body) => {
    isCommandGuarded = body.includes(reference('publish')) && !exists('ran.txt')
    return { delayMs: thinkingMs, calls: [command] }
  })
  writeSkill(home, rounds)
  const runtime = systemRuntime({ cwd: home.project, env: { HOME: home.home } })
  try {
    await installHook(runtime, platform, { scope: 'user' })
    const args = recipe.prompt(task, true)
    const time = 60_000 + rounds * 15_000
    const { output } = await runClient(client, args, home, recipe.environment(model.url), time)
    isCommandGuarded &&= exists('ran.txt')
    return { ...session, isAdded, isCommandGuarded, output: `${output}\n${logOf(home)}` }
  } finally {
    await model.close()
    if (process.env['KEEP'] === undefined) {
      rmSync(home.home, { recursive: true, force: true, maxRetries: 3 })
    } else console.log(home.home)
  }
}

/** Not the request for a title, which has no tools. */
function isTask({ body }: ModelRequest): boolean {
  return body.includes(task) && /"(?:tools|functionDeclarations)"/.test(body)
}

function logOf({ home }: TestHome): string {
  const path = join(home, '.local/state/skillrail/hooks/log.jsonl')
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

function writeSkill({ home, project }: TestHome, rounds: number): void {
  const skill = join(home, '.agents/skills/rules')
  const names = Array.from({ length: rounds }, (_, round) => `d${round}`)
  const triggers = [
    ...names.map((name) => `paths: ${name}/** => ${name}.md !require`),
    'paths: after/** => after.md',
    'command: ^publish => publish.md',
  ]
  const head = '---\nname: rules\ndescription: Rules for files.\nmetadata:\n  triggers: |\n'
  const lines = triggers.map((line) => `    ${line}\n`).join('')
  write(join(skill, 'SKILL.md'), `${head}${lines}---\n\n# Rules\n`)
  for (const name of [...names, 'after', 'publish']) {
    write(join(skill, `${name}.md`), `${reference(name)}\n`)
    write(join(project, name, '.keep'), '')
  }
}
