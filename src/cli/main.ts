import { resolve } from 'node:path'
import {
  type Diagnostic,
  exitCode,
  type ExitCode,
  loadConfiguration,
  type Runtime,
  SkillrailError,
  systemRuntime,
  UsageError,
} from '../base/index.ts'
import { ask, type Io, processIo, readStandardInput } from './io.ts'
import type { CommandContext } from './command.ts'
import type { GlobalValues } from './command-line.ts'
import type { CommandEntry } from './command-table/command-entry.ts'
import { commands } from './commands.ts'
import { failureReport, failureText } from './failure.ts'
import { groupHelp, rootHelp, unknownCommand } from './help.ts'
import { interruptible } from './interrupt.ts'
import { createOutput } from './output.ts'
import { packageVersion } from '../base/runtime.ts'

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
      return stdout.write(`${JSON.stringify(failureReport(error), null, 2)}\n`)
    }
  } catch {
    // It may be that very failure: standard output cannot be written.
  }
  stderr.write(failureText(error, argv.includes('--verbose')))
}

async function dispatch(argv: readonly string[], io: Io): Promise<ExitCode> {
  const { stdout } = io
  const words = leadingWords(argv)
  const entry = findCommand(words)
  if (entry !== undefined) return await runCommand(entry, argv, io)
  if (argv.includes('--version') || argv.includes('-V')) {
    stdout.write(`${packageVersion()}\n`)
    return exitCode.done
  }
  const [first] = words
  const wantsHelp = argv.length === 0 || argv.includes('--help') || argv.includes('-h')
  if (first === undefined && !wantsHelp) throw unknownCommand(argv)
  if (first === undefined || (first === 'help' && words.length === 1)) {
    stdout.write(rootHelp())
    return exitCode.done
  }
  if (first === 'help') return await dispatch([...words.slice(1), '--help'], io)
  const called = words.join(' ')
  const group = commands.filter((command) => command.name.startsWith(`${called} `))
  if (group.length > 0) {
    stdout.write(groupHelp(called, group))
    return argv.includes('--help') || argv.includes('-h') ? exitCode.done : exitCode.usage
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

/** The command with the longest name that these words begin with. */
function findCommand(words: readonly string[]): CommandEntry | undefined {
  for (let count = words.length; count > 0; count--) {
    const name = words.slice(0, count).join(' ')
    const entry = commands.find((command) => command.name === name)
    if (entry !== undefined) return entry
  }
  return undefined
}

async function runCommand(entry: CommandEntry, argv: readonly string[], io: Io): Promise<ExitCode> {
  const [{ command }, { parseCommandLine }] = await Promise.all([
    entry.load(),
    import('./command-line.ts'),
  ])
  const line = parseCommandLine(entry, command, argv)
  if (line.kind === 'help') {
    io.stdout.write(line.text)
    return exitCode.done
  }
  const start = systemRuntime(io.runtime)
  const runtime = { ...start, cwd: workingDirectory(start, line.globals.directory) }
  return await interruptible(async (signal) => {
    const context = createContext(io, runtime, line.globals, signal)
    if ('configure' in command) return await command.run(context, line.program)
    const { perform } = await import('./perform.ts')
    return await perform({ command, values: line.values, context, io })
  })
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

/** A file that was named must count as a whole: a slip in it would silently drop a limit. */
function refuseBroken(name: string, path: string, diagnostics: readonly Diagnostic[]): void {
  const wrong = diagnostics.filter((found) => found.severity === 'error' && found.path === path)
  if (wrong.length === 0) return
  throw new UsageError({
    code: 'configuration-unusable',
    message: `--config ${name} cannot be used`,
    diagnostics: wrong,
  })
}

function createContext(
  io: Io,
  runtime: Runtime,
  globals: GlobalValues,
  signal: AbortSignal,
): CommandContext {
  const { config, directory, ...options } = globals
  const again = { config, directory, trustWorkspace: options.trustWorkspace }
  const { settings, diagnostics } = loadConfiguration(runtime, { file: config })
  if (config !== undefined) refuseBroken(config, resolve(runtime.cwd, config), diagnostics)
  const output = createOutput({
    stdout: io.stdout,
    stderr: io.stderr,
    env: runtime.env,
    quiet: options.quiet,
    verbose: options.verbose,
  })
  output.diagnostics(diagnostics)
  const trusted = options.trustWorkspace || settings.workspaceTrust === 'trusted'
  return {
    runtime,
    settings: trusted ? { ...settings, workspaceTrust: 'trusted' } : settings,
    options: { ...options, trustWorkspace: trusted, again },
    output,
    get interactive() {
      return io.terminal !== undefined
    },
    readStandardInput: () => readStandardInput(io),
    ask: (question, withdrawn) => ask(io, question, signal, withdrawn),
    signal,
  }
}
