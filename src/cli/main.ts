import { constants } from 'node:os'
import { resolve } from 'node:path'
import { jsonText, nearest, safeText } from '#core/text'
import { packageVersion, systemRuntime } from '#core/runtime'
import { asCalled } from './called-as.ts'
import { type Io, processIo } from './terminal.ts'
import { type CommandEntry, commands, globalOptions, groupSummaries, inFull } from './registry.ts'
import {
  type ExitCode,
  exitCode,
  messageOf,
  SkillrailError,
  StateFileError,
  systemCode,
  systemHint,
  systemReason,
  UsageError,
  diagnosticText,
} from '#core/errors'

/** Runs one command line. No other function turns an error into words and an exit code. */
export async function main(argv: readonly string[], io: Io = processIo()): Promise<ExitCode> {
  try {
    return await dispatch(argv, io)
  } catch (error) {
    tellFailure(error, argv, io)
    return error instanceof SkillrailError ? error.exitCode : exitCode.failed
  }
}

function tellFailure(error: unknown, argv: readonly string[], io: Io): void {
  const { stdout, stderr } = io
  try {
    if (argv.includes('--json')) {
      return stdout.write(`${jsonText(failureReport(error), 2)}\n`)
    }
  } catch {}
  const text = failureText(error, argv.includes('--verbose'))
  stderr.write(asCalled(text, io.runtime?.env ?? process.env))
}

async function dispatch(argv: readonly string[], io: Io): Promise<ExitCode> {
  const { stdout } = io
  const words = leadingWords(argv)
  const wantsHelp = argv.includes('--help') || argv.includes('-h')
  const wantsVersion = argv.includes('--version') || argv.includes('-V')
  const isAlone = words.length === 0 && !wantsHelp && !wantsVersion
  const entry = findCommand(isAlone ? ['overview'] : words)
  if (entry) return await runCommand(entry, argv, io)
  if (wantsVersion) {
    stdout.write(`${packageVersion()}\n`)
    return exitCode.done
  }
  const [first] = words
  if (first === undefined || (first === 'help' && words.length === 1)) {
    stdout.write(rootHelp(argv.includes('--all')))
    return exitCode.done
  }
  if (first === 'help') return await dispatch([...words.slice(1), '--help'], io)
  const name = words.join(' ')
  const group = commands.filter((command) => command.name.startsWith(`${name} `))
  if (group.length > 0) {
    stdout.write(groupHelp(name, group))
    return wantsHelp ? exitCode.done : exitCode.usage
  }
  throw unknownCommand(words)
}

/** The longest name of a command has this number of words. */
const maxWords = 3

/**
 * Returns the words before the first option that is not a global one, at most as many as a name can have.
 */
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
    if (entry) return entry
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
  const cwd = workingDirectory(io.runtime?.cwd ?? process.cwd(), globals.directory)
  const runtime = systemRuntime({ ...io.runtime, cwd })
  const { perform } = await import('./perform.ts')
  return await interruptible((signal) => perform({ command, values, globals, runtime, signal, io }))
}

function workingDirectory(cwd: string, directory: string | undefined): string {
  if (directory === undefined) return cwd
  try {
    process.chdir(resolve(cwd, directory))
  } catch {
    const message = `-C ${directory}: there is no such directory`
    throw new UsageError({ code: 'directory-missing', message })
  }
  return process.cwd()
}

/**
 * Runs `work` with a signal that Ctrl-C, TERM and a closed terminal abort, so that it can end its child
 * processes and leave a run that can be resumed. A second Ctrl-C ends the process at once.
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

/** The user ended the command, so it is not responsible for the failures that follow. */
class CancelledError extends SkillrailError {
  constructor(cause: unknown) {
    super({ code: 'cancelled', message: 'Cancelled.', cause })
  }

  override readonly exitCode: ExitCode = exitCode.interrupted
}

export function failureReport(error: unknown) {
  const knownError = asSkillrailError(error)
  if (!knownError) return { error: { code: 'internal', message: messageOf(error) } }
  const { code, message, hint, diagnostics } = knownError
  const details = diagnostics.length > 0 ? { diagnostics } : {}
  return { error: { code, message, hint }, ...details }
}

/** Returns the sentence, the diagnostics and the hint. The stack is shown only with `--verbose`. */
export function failureText(error: unknown, verbose: boolean): string {
  const knownError = asSkillrailError(error)
  const lines = [`skillrail: ${messageOf(knownError ?? error)}`]
  if (knownError) {
    for (const diagnostic of knownError.diagnostics) {
      lines.push(`  ${diagnosticText(diagnostic, (_format, text) => text)}`)
    }
    if (knownError.hint !== undefined) lines.push(knownError.hint)
  } else {
    lines.push('This is a defect of skillrail. Please report it, with what --verbose prints.')
  }
  if (verbose && error instanceof Error && error.stack !== undefined) lines.push(error.stack)
  return `${safeText(lines.join('\n'))}\n`
}

function asSkillrailError(error: unknown): SkillrailError | undefined {
  return error instanceof SkillrailError ? error : asFileError(error)
}

/** Converts an error of the file system to one of ours; undefined for any other error. */
function asFileError(error: unknown): StateFileError | undefined {
  const code = systemCode(error)
  const reason = systemReason(code)
  if (code === undefined || reason === undefined || !(error instanceof Error)) return undefined
  const hint = code === 'EACCES' && isLook(error) ? readable : systemHint(code)
  const subject = pathOf(error) ?? 'a file'
  return new StateFileError({
    code: `system-${code.toLowerCase()}`,
    message: `${subject} cannot be used: ${reason}`,
    hint,
    cause: error,
  })
}

const readable = 'Give yourself the right to read it, or work elsewhere.'

function isLook(error: Error): boolean {
  const call = 'syscall' in error ? error.syscall : undefined
  return typeof call === 'string' && /^(?:l?stat|scandir|opendir|readlink|realpath)$/.test(call)
}

function pathOf(error: Error): string | undefined {
  const path = 'dest' in error ? error.dest : 'path' in error ? error.path : undefined
  return typeof path === 'string' ? path : undefined
}

/** The commands that most people need; `--all` shows the others. */
const common =
  'run runs chain agent tools workflow mcp list show new validate audit match triggers hooks rail trust usage view doctor'.split(
    ' ',
  )

export function rootHelp(all: boolean): string {
  const groups = Map.groupBy(commands, ({ group }) => group)
  const sections = Array.from(groups, ([group, entries]) => {
    return `${group}\n${entryLines(all ? entries : shortenGroups(entries))}`
  })
  const allHint = all ? '' : 'skillrail help --all lists every command.\n'
  return `Usage: skillrail <command> [arguments] [options]

Makes the agent that you already use follow a skill's procedure, one checked step after the other.
Without a command it shows the status of this project.

${sections.join('\n')}
Options
${lines([...globalOptions, ['-V, --version', 'print the version']])}
Exit codes
  0  done
  1  the check or run failed: a failed step, an invalid skill
  2  the command line is invalid
  3  the requested item does not exist or cannot be planned
  4  refused by trust, an approval or a gate
  5  time or budget used up
  6  waits for approval
  130  interrupted

Example
  $ skillrail new --rail release

${allHint}skillrail <command> --help shows the options of a command, with an example.
`
}

/** Returns each group in one line, without commands that few people need. */
function shortenGroups(entries: readonly CommandEntry[]): Pick<CommandEntry, 'name' | 'summary'>[] {
  const names = [...new Set(entries.map(({ name }) => name.split(' ')[0] ?? name))]
  return names
    .filter((name) => common.includes(name))
    .map((name) => {
      const single = entries.find((entry) => entry.name === name)?.summary
      return { name, summary: groupSummaries[name] ?? single ?? '' }
    })
}

export function groupHelp(group: string, entries: readonly CommandEntry[]): string {
  return `Usage: skillrail ${group} <command> [arguments] [options]\n\n${entryLines(entries)}`
}

export function unknownCommand(words: readonly string[]): UsageError {
  const name = words.join(' ')
  const names = commands.map((command) => command.name)
  const suggestion = nearest(name, names) ?? nearest(words[0] ?? '', names)
  return new UsageError({
    code: 'unknown-command',
    message: `unknown command ${name}`,
    hint:
      suggestion === undefined
        ? 'List the commands with: skillrail --help'
        : `Did you mean skillrail ${suggestion}?`,
  })
}

function entryLines(entries: readonly Pick<CommandEntry, 'name' | 'summary'>[]): string {
  return lines(entries.map(({ name, summary }) => [name, summary]))
}

function lines(rows: readonly (readonly [word: string, about: string])[]): string {
  return rows
    .map(([word, about]) => `  ${word.replace(/[<>]/g, '').padEnd(20)} ${about}\n`)
    .join('')
}
