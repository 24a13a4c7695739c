import { join } from 'node:path'
import {
  exitCode,
  type ExitCode,
  readRegularFile,
  safeLine,
  SkillrailError,
  userDirectories,
} from '../../base/index.ts'
import { requireServers, servedStatus, serveProject, stopServed } from '../../tools/index.ts'
import { contradiction } from '../../base/errors.ts'
import { type DetachedSelf, detachedSelf } from '../_detached-self.ts'
import { type CommandContext, defineCommand, type LoadedCommand } from '../command.ts'
import { serverConfiguration } from '../../tools/commands/project-tools.ts'
import { packageVersion } from '../../base/runtime.ts'

interface Options {
  detach?: boolean | undefined
  status?: boolean | undefined
  stop?: boolean | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .option('--detach', 'go on in the background and give the terminal back')
      .option('--status', 'show what is kept for this project')
      .option('--stop', 'end it and its servers')
      .addHelpText(
        'after',
        `
Without it every command starts the servers it needs and ends them again. With it a browser page
or a database connection outlives a command. It listens on 127.0.0.1 for those who can read your
own state directory, and ends after tools.idleExit seconds without a request.

Examples:
  $ skillrail tools serve --detach
  $ skillrail tools serve --status
  $ skillrail tools serve --stop
`,
      )
  },
  async run(context, _positionals, options) {
    refuseTwo(options)
    if (options.stop === true) return await stop(context)
    if (options.status === true) return await showStatus(context)
    if (options.detach === true) return await detach(context)
    return await serve(context)
  },
})

function refuseTwo(options: Options): void {
  const [one, other] = (['detach', 'status', 'stop'] as const).filter((name) => options[name])
  if (other === undefined) return
  throw contradiction(`--${one}`, `--${other}`, 'Give one of them, or call the command twice.')
}

async function serve(context: CommandContext): Promise<ExitCode> {
  const { runtime, settings, output, options, signal } = context
  requireServers(serverConfiguration(context))
  const served = await serveProject({
    project: runtime.cwd,
    runtime,
    trust: settings.workspaceTrust,
    idleExitMs: settings.tools.idleExit * 1000,
    clientInfo: { name: 'skillrail', version: packageVersion() },
    onLog: ({ server, message }) => output.note(`${safeLine(server)}: ${message}`),
    signal,
  })
  const { project, port } = served.record
  if (options.json) output.json({ project, pid: process.pid, port })
  else
    output.line(
      `The servers of ${safeLine(project)} are kept on 127.0.0.1:${port}. Ctrl-C ends it.`,
    )
  const reason = await served.ended
  if (reason === 'idle') output.note('Nobody asked for a while; it has ended.')
  return exitCode.done
}

async function detach(context: CommandContext): Promise<ExitCode> {
  const { runtime, settings, output, options, signal } = context
  const place = { project: runtime.cwd, runtime }
  const running = await servedStatus(place)
  if (running === undefined) {
    requireServers(serverConfiguration(context))
    const trust = settings.workspaceTrust === 'trusted' ? ['--trust-workspace'] : []
    const log = join(userDirectories(runtime).state, 'servers', 'serve.log')
    const child = detachedSelf(['tools', 'serve', ...trust], runtime.cwd, log)
    await untilServed(place, { ...child, log }, signal)
  }
  const status = await servedStatus(place)
  const { pid, project } = status ?? { pid: 0, project: runtime.cwd }
  if (options.json) output.json({ project, pid, started: running === undefined })
  else {
    const already = running === undefined ? '' : ' already'
    output.line(`The servers of ${safeLine(project)} are kept${already}, by process ${pid}.`)
  }
  return exitCode.done
}

/** @throws {SkillrailError} with what it said before it ended. */
async function untilServed(
  place: Parameters<typeof servedStatus>[0],
  child: DetachedSelf & { log: string },
  signal: AbortSignal,
): Promise<void> {
  for (let waited = 0; waited < 15_000; waited += 50) {
    signal.throwIfAborted()
    if ((await servedStatus(place)) !== undefined) return
    if (child.hasEnded()) break
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const words = readRegularFile(child.log, { maxBytes: 1_048_576 })
  const said = words.ok ? words.text.trim() : ''
  throw new SkillrailError({
    code: 'servers-not-kept',
    message: `The process that keeps the servers did not start: ${said === '' ? 'it said nothing' : said}`,
    hint: 'Run skillrail tools serve without --detach to see more.',
  })
}

async function showStatus({ runtime, output, options }: CommandContext): Promise<ExitCode> {
  const status = await servedStatus({ project: runtime.cwd, runtime })
  if (options.json)
    output.json(status === undefined ? { running: false } : { running: true, ...status })
  else if (status === undefined) output.line('No servers are kept for this project.')
  else {
    const { project, pid, startedAt, servers } = status
    output.line(
      `The servers of ${safeLine(project)} are kept by process ${pid} since ${startedAt}.`,
    )
    if (servers.length > 0) {
      output.table([
        ['SERVER', 'STATE', 'INSTANCE'],
        ...servers.map(({ name, state, instance = '' }) => [safeLine(name), state, instance]),
      ])
    }
  }
  return status === undefined ? exitCode.notFound : exitCode.done
}

async function stop({ runtime, output, options }: CommandContext): Promise<ExitCode> {
  const result = await stopServed({ project: runtime.cwd, runtime })
  if (options.json) output.json({ result })
  else output.line(words[result])
  return result === 'still-running' ? exitCode.badAnswer : exitCode.done
}

const words = {
  stopped: 'The servers have ended.',
  'not-running': 'No servers are kept for this project.',
  'still-running': 'The process was told to end, and has not done so for 10 seconds.',
} as const
