import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Context, defineCommand, option, type Screen, Serving } from '#core/command'
import { settingsOfCall } from '#core/configuration'
import { contradiction, exitCode, SkillrailError } from '#core/errors'
import { poll } from '#core/poll'
import { readRegularFile } from '#core/read-files'
import { userDirectories } from '#core/runtime'
import { safeLine } from '#core/text'
import { makePrivateDirectory } from '#core/write-files'
import { requireServers } from '#tools/server/errors'
import { serveProject } from '#tools/server/serve-project'
import { type KeptStatus, keptStatus, stopKept, type StopResult } from '#tools/server/kept-client'
import { serverConfiguration } from '#tools/project-tools'

type ServeResult =
  | { project: string; pid: number; port: number }
  | { project: string; pid: number; started: boolean }
  | StatusResult
  | { result: StopResult }

type StatusResult = { running: false } | ({ running: true } & KeptStatus)

export const command = defineCommand<ServeResult>()({
  options: {
    detach: option.flag('--detach', 'run in the background'),
    status: option.flag('--status', 'show the running servers of this project'),
    stop: option.flag('--stop', 'stop it and its servers'),
  },
  details: `Keeps a browser page or a database connection open between commands. Listens on 127.0.0.1, accepts clients that can read your state directory, and exits after tools.idleExit seconds without a request.`,
  examples: ['tools serve --detach'],
  async run(context, values) {
    const [one, other] = (['detach', 'status', 'stop'] as const).filter((name) => values[name])
    if (other) {
      throw contradiction(`--${one}`, `--${other}`, 'Give one of them.')
    }
    const place = { project: context.runtime.cwd, runtime: context.runtime }
    if (one === 'stop') return { result: await stopKept(place) }
    if (one === 'detach') return await detach(context)
    if (!one) return await serve(context)
    const status = await keptStatus(place)
    return status ? { running: true, ...status } : { running: false }
  },
  exitCode(result) {
    if ('running' in result) return result.running ? exitCode.done : exitCode.notFound
    const isLeft = 'result' in result && result.result === 'still-running'
    return isLeft ? exitCode.failed : exitCode.done
  },
  render(result, screen) {
    if ('running' in result) return statusText(result, screen)
    if ('result' in result) return `${stopTexts[result.result]}\n`
    const subject = `The servers of ${safeLine(result.project)} are kept`
    if ('port' in result) return `${subject} on 127.0.0.1:${result.port}. Ctrl-C ends it.\n`
    return `${subject}${result.started ? '' : ' already'}, by process ${result.pid}.\n`
  },
})

const stopTexts: Record<StopResult, string> = {
  stopped: 'The servers have ended.',
  'not-running': 'No servers are kept for this project.',
  'still-running': 'The process has not ended within 10 seconds.',
}

function statusText(status: StatusResult, screen: Screen) {
  if (!status.running) return `${stopTexts['not-running']}\n`
  const { project, pid, startedAt, servers } = status
  const head = `The servers of ${safeLine(project)} have been kept by process ${pid} since ${startedAt}.\n`
  if (servers.length === 0) return head
  const rows = servers.map(({ name, state, instance = '' }) => [safeLine(name), state, instance])
  return head + screen.table([['SERVER', 'STATE', 'INSTANCE'], ...rows])
}

async function serve(context: Context): Promise<Serving<ServeResult>> {
  const { runtime, settings, globals, signal } = context
  requireServers(serverConfiguration(context))
  const served = await serveProject({
    project: runtime.cwd,
    runtime,
    settings: () => settingsOfCall(runtime, globals).settings,
    idleExitMs: settings.tools.idleExit * 1000,
    onLog: (line) => context.note(line),
    signal,
  })
  const { project, port } = served.record
  const ended = served.ended.then((reason) => {
    if (reason === 'idle') context.note('Stopped after a time without requests.')
    return exitCode.done
  })
  return new Serving({ project, pid: process.pid, port }, ended)
}

async function detach(context: Context): Promise<ServeResult> {
  const { runtime, globals, signal } = context
  const place = { project: runtime.cwd, runtime }
  const running = await keptStatus(place)
  if (!running) {
    requireServers(serverConfiguration(context))
    // A setting is read again for each request; only the user's option holds for the whole process.
    const trust = globals.trustWorkspace ? ['--trust-workspace'] : []
    const log = join(userDirectories(runtime).state, 'servers', 'serve.log')
    const hasEnded = startInBackground(['tools', 'serve', ...trust], runtime.cwd, log)
    await untilServed(place, { hasEnded, log }, signal)
  }
  const { pid, project } = (await keptStatus(place)) ?? { pid: 0, project: runtime.cwd }
  return { project, pid, started: running === undefined }
}

function startInBackground(args: readonly string[], cwd: string, log: string): () => boolean {
  const [, entry = ''] = process.argv
  makePrivateDirectory(dirname(log))
  const descriptor = openSync(log, 'w', 0o600)
  try {
    const child = spawn(process.execPath, [...process.execArgv, entry, ...args], {
      cwd,
      detached: true,
      stdio: ['ignore', descriptor, descriptor],
      windowsHide: true,
    })
    let ended = false
    child.on('error', () => (ended = true))
    child.on('exit', () => (ended = true))
    child.unref()
    return () => ended
  } finally {
    closeSync(descriptor)
  }
}

/** @throws {SkillrailError} with the output of a process that ended instead */
async function untilServed(
  place: Parameters<typeof keptStatus>[0],
  child: { hasEnded: () => boolean; log: string },
  signal: AbortSignal,
) {
  const standing = async (): Promise<'served' | 'ended' | false> =>
    (await keptStatus(place)) === undefined ? child.hasEnded() && 'ended' : 'served'
  if ((await poll(standing, { everyMs: 50, patienceMs: 15_000, signal })) === 'served') return
  const words = readRegularFile(child.log, { maxBytes: 1_048_576 })
  const output = words.ok ? words.text.trim() : ''
  throw new SkillrailError({
    code: 'servers-not-kept',
    message: `The process that keeps the servers did not start: ${output || 'it said nothing'}`,
    hint: 'Run skillrail tools serve without --detach to see more.',
  })
}
