import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemRuntime } from '../../src/core/runtime.ts'
import { clientFolders } from '../../src/core/client-folders.ts'
import { adapters, type Platform } from '../../src/hooks/adapters.ts'
import { installHook, uninstallHook } from '../../src/hooks/install.ts'
import type { InstalledClient } from './cache.ts'
import type { ClientRecipe } from './clients.ts'
import { longReference, makeHome, shortReference, snapshot, type TestHome } from './home.ts'
import { type ModelServer, startModelServer } from '../model-server/server.ts'
import { type ClientRun, runClient } from './run-client.ts'
import { isShort, isTried } from './short.ts'
import { toolSession } from './tool-checks.ts'

export interface CheckResult {
  name: CheckName
  ok: boolean
  /** The observation, if it differs from the expectation. */
  detail: string
}

/** In this order, each on its own run of the client. */
export const checkNames = [
  'injected once',
  'absent otherwise',
  'long one whole',
  'registered twice',
  'hook fails',
  'hook hangs',
  'hook missing',
  'uninstalled',
  'reads before it edits',
  'told with the result',
  'reads before a command',
] as const
export type CheckName = (typeof checkNames)[number]

/** What the launcher does alike in every client: in a short run it is tried in Claude Code alone. */
const alikeChecks: ReadonlySet<CheckName> = new Set([
  'absent otherwise',
  'long one whole',
  'registered twice',
  'hook fails',
])
/** How a client takes a hook that does not answer: in a short run it is tried in those that start fast. */
const brokenHookChecks: ReadonlySet<CheckName> = new Set(['hook hangs', 'hook missing'])

export function checksFor(platform: Platform): readonly CheckName[] {
  if (!isShort || platform === 'claude') return checkNames
  return checkNames.filter(
    (name) => !alikeChecks.has(name) && (isTried(platform) || !brokenHookChecks.has(name)),
  )
}

/** All checks of one client, in a separate home. */
export async function checkClient(
  platform: Platform,
  client: InstalledClient,
  recipe: ClientRecipe,
): Promise<CheckResult[]> {
  const model = await startModelServer()
  const home = makeHome(recipe, model.url)
  const runtime = systemRuntime({ cwd: home.project, env: { HOME: home.home } })
  const ask = async (args: readonly string[]): Promise<ClientRun> => {
    model.clear()
    return await runClient(client, args, home, recipe.environment(model.url))
  }
  const names = checksFor(platform)
  const results: CheckResult[] = []
  const note = (name: CheckName, problem: string | undefined, run: ClientRun): void => {
    const detail =
      problem === undefined ? '' : `${problem}; the client said: ${run.output.slice(-600)}`
    results.push({ name, ok: problem === undefined, detail })
  }
  const check = async (
    name: CheckName,
    args: readonly string[],
    problem: () => string | undefined,
  ): Promise<void> => {
    if (!names.includes(name)) return
    const run = await ask(args)
    note(name, problem(), run)
  }
  try {
    // A client may write into its own settings when it first starts.
    await ask(recipe.prompt('first start'))
    const before = configuration(home, platform)
    await installHook(runtime, platform, { scope: 'user' })
    const isShortWhole = () => notExactlyOnce(model, shortReference)
    await check('injected once', recipe.call('program execute caching'), isShortWhole)
    await check('absent otherwise', recipe.prompt('what is the weather'), () =>
      notAbsent(model, 'weather'),
    )
    await check('long one whole', recipe.call('amend the plan'), () =>
      notExactlyOnce(model, longReference),
    )
    await installHook(runtime, platform, { scope: 'project' })
    await check('registered twice', recipe.call('program execute twice'), isShortWhole)
    await uninstallHook(runtime, platform, { scope: 'project' })
    replaceHook(home, 'process.stderr.write("broken"); process.exit(1)')
    await check('hook fails', recipe.call('program execute failing'), () =>
      notAbsent(model, 'failing'),
    )
    replaceHook(home, 'setInterval(() => {}, 1000)')
    await check('hook hangs', recipe.call('program execute hanging'), () =>
      notAbsent(model, 'hanging'),
    )
    rmSync(join(home.home, '.local/share/skillrail/hook/skillrail-hook'))
    await check('hook missing', recipe.call('program execute missing'), () =>
      notAbsent(model, 'missing'),
    )
    await uninstallHook(runtime, platform, { scope: 'user' })
    const left = differences(before, configuration(home, platform))
    await check(
      'uninstalled',
      recipe.call('program execute uninstalled'),
      () => left ?? notAbsent(model, 'uninstalled'),
    )
  } finally {
    await model.close()
    rmSync(home.home, { recursive: true, force: true, maxRetries: 3 })
  }
  const rounds = isTried(platform) ? 3 : 1
  const session = await toolSession(platform, client, recipe, rounds)
  const { unguarded, falseDenials, firstEdits, isAdded, isCommandGuarded, output } = session
  const isGuarded = firstEdits === 2 * rounds && unguarded + falseDenials === 0
  const counts = `of ${firstEdits} first edits ${unguarded} unguarded, ${falseDenials} denied in vain`
  const seen = { code: 0, output, durationMs: 0 }
  note('reads before it edits', isGuarded ? undefined : counts, seen)
  note('told with the result', isAdded ? undefined : 'the reference did not come', seen)
  note('reads before a command', isCommandGuarded ? undefined : 'it was not held', seen)
  return results
}

/** Every line once in every request that has it, and all of them in one. */
function notExactlyOnce(model: ModelServer, lines: readonly string[]): string | undefined {
  const counts = model.prompts().map(({ body }) => lines.map((line) => body.split(line).length - 1))
  if (counts.length === 0) return 'the model was not asked'
  if (counts.some((each) => each.some((count) => count > 1)))
    return 'a line came twice in one request'
  const whole = counts.some((each) => each.every((count) => count === 1))
  const most = Math.max(...counts.map((each) => each.filter((count) => count === 1).length))
  return whole ? undefined : `${most} of ${lines.length} lines came`
}

function notAbsent(model: ModelServer, prompt: string): string | undefined {
  const bodies = model.prompts().map(({ body }) => body)
  if (!bodies.some((body) => body.includes(prompt))) return 'the prompt did not reach the model'
  const all = [...shortReference, ...longReference]
  return bodies.some((body) => all.some((line) => body.includes(line)))
    ? 'a reference came that nobody asked for'
    : undefined
}

/** Makes every installed version of the hook do something else. */
function replaceHook({ home }: TestHome, program: string): void {
  const directory = join(home, '.local/share/skillrail/hook')
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (entry.isDirectory())
      writeFileSync(join(directory, entry.name, 'dist/hook/hook.cjs'), program)
  }
}

/**
 * The client's configuration, and everything that is named after us, by path; of the project, where a
 * client may write settings of its own into ours, what still calls the hook.
 */
function configuration(
  { home, project }: TestHome,
  platform: Platform,
): ReadonlyMap<string, string> {
  const adapter = adapters[platform]
  const registered = join(home, clientFolders[platform].path, adapter.files.user)
  const shared = join(project, adapter.files.project)
  const isKept = ([path, text]: readonly [string, string]): boolean => {
    if (path === shared) return text.includes('skillrail-hook')
    if (path.startsWith(project)) return false
    return path === registered || path.endsWith('/settings.json') || isOurs(path.slice(home.length))
  }
  return new Map([...snapshot(home)].filter(isKept))
}

/** The log of the hook is the user's, and stays. */
function isOurs(path: string): boolean {
  return path.includes('skillrail') && !path.endsWith('/skillrail/hooks/log.jsonl')
}

function differences(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): string | undefined {
  const paths = [...before.keys(), ...after.keys()].filter(
    (path) => before.get(path) !== after.get(path),
  )
  return paths.length === 0 ? undefined : `left or changed: ${[...new Set(paths)].join(', ')}`
}
