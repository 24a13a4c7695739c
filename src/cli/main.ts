import { constants } from 'node:os'
import { resolve } from 'node:path'
import { exitCode, type ExitCode, SkillrailError, UsageError } from '../core/errors.ts'
import { jsonText } from '../core/text.ts'
import { packageVersion, type Runtime, systemRuntime } from '../core/runtime.ts'
import { type Io, processIo } from './terminal.ts'
import { type CommandEntry, commands, inFull } from './registry.ts'
import { failureReport, failureText } from './failure.ts'
import { groupHelp, rootHelp, unknownCommand } from './help.ts'

/**
 * Runs one command line and returns its exit code. The only place that turns an error into words
 * and a code; commands return or throw.
 */
export async function main(argv: readonly string[], io: Io = processIo()): Promise<ExitCode> {
  try {
    return await dispatch(argv, io)
  } catch (error) {
    tellFailure(error, argv, io)
    return error instanceof SkillrailError ? error.exitCode : exitCode.badAnswer
  }
}

function tellFailure(error: unknown, argv: readonly string[], { stdout, stderr }: Io): void {
  try {
    if (argv.includes('--json')) {
      return stdout.write(`${jsonText(failureReport(error), 2)}\n`)
    }
  } catch {}
  stderr.write(failureText(error, argv.includes('--verbose')))
}

async function dispatch(argv: readonly string[], io: Io): Promise<ExitCode> {
  const { stdout } = io
  const words = leadingWords(argv)
  const wantsHelp = argv.includes('--help') || argv.includes('-h')
  const isAlone =
    words.length === 0 && !wantsHelp && !argv.includes('--version') && !argv.includes('-V')
  const entry = findCommand(isAlone ? ['overview'] : words)
  if (entry !== undefined) return await runCommand(entry, argv, io)
  if (argv.includes('--version') || argv.includes('-V')) {
    stdout.write(`${packageVersion()}\n`)
    return exitCode.done
  }
  const [first] = words
  if (first === undefined || (first === 'help' && words.length === 1)) {
    stdout.write(rootHelp(argv.includes('--all')))
    return exitCode.done
  }
  if (first === 'help') return await dispatch([...words.slice(1), '--help'], io)
  const called = words.join(' ')
  const group = commands.filter((command) => command.name.startsWith(`${called} `))
  if (group.length > 0) {
    stdout.write(groupHelp(called, group))
    return wantsHelp ? exitCode.done : exitCode.usage
  }
  throw unknownCommand(words)
}

/** No command has a longer name than this. */
const maxWords = 3

/** The words before the first option that is not a global one, as many as a name can have. */
function leadingWords(argv: readonly string[]): string[] {
  const words: string[] = []
  for (let index = 0; index < argv.length && words.length < maxWords; index++) {
    const argument = argv[index] ?? ''
    if (argument === '-C' || argument === '--config') index++
    else if (!argument.startsWith('-')) words.push(argument)
    else if (argument === '--') break
  }
  return words
}

function findCommand(words: readonly string[]): CommandEntry | undefined {
  for (let count = words.length; count > 0; count--) {
    const name = words.slice(0, count).map(inFull).join(' ')
    const entry = commands.find((command) => command.name === name)
    if (entry !== undefined) return entry
  }
  return undefined
}

async function runCommand(entry: CommandEntry, argv: readonly string[], io: Io): Promise<ExitCode> {
  const [command, { parseCommandLine }] = await Promise.all([
    entry.load(),
    import('./command-line.ts'),
  ])
  const line = parseCommandLine(entry, command, argv)
  if (line.kind === 'help') {
    io.stdout.write(line.text)
    return exitCode.done
  }
  const { values, globals } = line
  const start = systemRuntime(io.runtime)
  const runtime = { ...start, cwd: workingDirectory(start, globals.directory) }
  const { perform } = await import('./perform.ts')
  return await interruptible((signal) => perform({ command, values, globals, runtime, signal, io }))
}

function workingDirectory({ cwd }: Runtime, directory: string | undefined): string {
  if (directory === undefined) return cwd
  try {
    process.chdir(resolve(cwd, directory))
  } catch {
    throw new UsageError({
      code: 'directory-missing',
      message: `-C ${directory}: there is no such directory`,
    })
  }
  return process.cwd()
}

/**
 * Runs `work` with a signal that Ctrl-C, TERM and a closed terminal abort, so that it can end its
 * children and leave a run that can be resumed. A second Ctrl-C ends the process at once.
 */
async function interruptible(work: (signal: AbortSignal) => Promise<ExitCode>): Promise<ExitCode> {
  const controller = new AbortController()
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const onSignal = (name: (typeof signals)[number]): void => {
    if (controller.signal.aborted) process.exit(128 + constants.signals[name])
    controller.abort(new Error(`interrupted by ${name}`))
  }
  for (const name of signals) process.on(name, onSignal)
  try {
    const code = await work(controller.signal)
    return controller.signal.aborted ? exitCode.interrupted : code
  } catch (error) {
    throw controller.signal.aborted ? new CancelledError(error) : error
  } finally {
    for (const name of signals) process.off(name, onSignal)
  }
}

/** The user ended the command: failures caused by that are not its own. */
class CancelledError extends SkillrailError {
  constructor(cause: unknown) {
    super({ code: 'cancelled', message: 'Cancelled.', cause })
  }

  override readonly exitCode: ExitCode = exitCode.interrupted
}
