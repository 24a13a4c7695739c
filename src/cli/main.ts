import { constants } from 'node:os'
import { resolve } from 'node:path'
import { formerNameOf, formerNames, valueOptions } from '#core/former-names'
import { jsonText, nearest, safeText } from '#core/text'
import { packageVersion, systemRuntime } from '#core/runtime'
import { asCalled } from './called-as.ts'
import { type Io, processIo } from './terminal.ts'
import {
  type CommandEntry,
  commands,
  commandsBelow,
  findCommand,
  globalOptions,
  groupSummaries,
  home,
  inFull,
} from './registry.ts'
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
  withoutRepeatedHints,
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

async function dispatch(typed: readonly string[], io: Io): Promise<ExitCode> {
  const { stdout } = io
  const { argv, former } = presentLine(typed)
  if (former !== undefined) tellPresentName(former, argv, io)
  const words = leadingPlaces(argv).map((at) => argv[at] ?? '')
  const options = optionsOf(argv)
  const wantsHelp = argv.includes('--help') || argv.includes('-h')
  const wantsVersion = argv.includes('--version') || argv.includes('-V')
  if (former === 'overview') return await runCommand(home, argv, io)
  const [first] = words
  if (first === undefined && !wantsHelp && !wantsVersion) return await runCommand(home, argv, io)
  const entry = findCommand(words, options)
  const group = longestGroup(words)
  if (entry && nameLength(entry) >= group.length) return await runCommand(entry, argv, io)
  if (wantsVersion) {
    stdout.write(`${packageVersion()}\n`)
    return exitCode.done
  }
  if (first === undefined || (first === 'help' && words.length === 1)) {
    stdout.write(rootHelp(argv.includes('--all')))
    return exitCode.done
  }
  if (first === 'help') return await dispatch(['--help', ...withoutFirst('help', argv)], io)
  if (words.length > group.length) throw unknownCommand(words)
  stdout.write(groupHelp(words.join(' ')))
  return wantsHelp ? exitCode.done : exitCode.usage
}

function nameLength({ name }: CommandEntry): number {
  return name.split(' ').filter((word) => !word.startsWith('-')).length
}

/** Returns the words at the beginning that are the name of a group, such as `tools workflow`. */
function longestGroup(words: readonly string[]): readonly string[] {
  const end = words.findIndex((word) => /\s/.test(word))
  const names = end < 0 ? words : words.slice(0, end)
  const groups = names.map((_, at) => names.slice(0, names.length - at))
  return groups.find((group) => commandsBelow(group.join(' ')).length > 0) ?? []
}

function withoutFirst(word: string, argv: readonly string[]): string[] {
  const at = argv.indexOf(word)
  return argv.filter((_, index) => index !== at)
}

/** Writes a command line with the present name of its command. */
function presentLine(argv: readonly string[]): { argv: readonly string[]; former?: string } {
  const places = leadingPlaces(argv)
  const former = formerNameOf(places.map((at) => argv[at] ?? ''))
  if (former === undefined) return { argv }
  const named = new Set(places.slice(0, former.split(' ').length))
  const present = (formerNames[former] ?? '').split(' ').filter(Boolean)
  return { argv: [...present, ...argv.filter((_, at) => !named.has(at))], former }
}

function tellPresentName(former: string, argv: readonly string[], { stderr }: Io): void {
  const options = optionsOf(argv)
  if (options.includes('-q') || options.includes('--quiet')) return
  const present = formerNames[former] ?? ''
  const now = present === '' ? 'is now skillrail without a command' : `is now "${present}"`
  stderr.write(`skillrail: the command "${former}" ${now}; the next version drops the old name\n`)
}

/** The longest name of a command has this number of words. */
const maxWords = 3

/** Returns the places of the words that can be the name of a command: no options, nor their values. */
function leadingPlaces(argv: readonly string[]): number[] {
  const places: number[] = []
  for (let index = 0; index < argv.length && places.length < maxWords; index++) {
    const argument = argv[index] ?? ''
    if (valueOptions.has(argument)) index++
    else if (!argument.startsWith('-')) places.push(index)
    else if (argument === '--') break
  }
  return places
}

/** Returns the options before `--`. */
function optionsOf(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--')
  return (end < 0 ? argv : argv.slice(0, end)).filter((word) => word.startsWith('-'))
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
    for (const diagnostic of withoutRepeatedHints(knownError.diagnostics)) {
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

/** Returns each group in one line. The script for a shell is installed once. */
function shortenGroups(entries: readonly CommandEntry[]): Row[] {
  const names = [...new Set(entries.map(({ name }) => name.split(' ')[0] ?? name))]
  return names
    .filter((name) => name !== 'completion')
    .map((name) => {
      const single = entries.find((entry) => entry.name === name)?.summary
      return { name, summary: groupSummaries[name] ?? single ?? '' }
    })
}

export function groupHelp(group: string): string {
  return `Usage: skillrail ${group} <command> [arguments] [options]\n\n${entryLines(commandsBelow(group))}`
}

export function unknownCommand(words: readonly string[]): UsageError {
  const name = words.join(' ')
  const suggestion = suggestionFor(words)
  return new UsageError({
    code: 'unknown-command',
    message: `unknown command ${name}`,
    hint:
      suggestion === undefined
        ? 'List the commands with: skillrail --help'
        : `Did you mean skillrail ${suggestion}?`,
  })
}

/** Returns the name of a command that is written like the words; for a former name, the present one. */
function suggestionFor(words: readonly string[]): string | undefined {
  const [first = '', ...rest] = words.map(inFull)
  const names = [...commands.map(({ name }) => name), ...Object.keys(groupSummaries)]
  const match = nearest([first, ...rest].join(' '), names) ?? nearest(first, names)
  if (match !== undefined) return match
  const former = nearest(first, Object.keys(formerNames))
  const present = former === undefined ? '' : formerNames[former]
  if (present === undefined || present === '') return undefined
  const whole = [present, ...rest].join(' ')
  return names.includes(whole) ? whole : present
}

type Row = Pick<CommandEntry, 'name' | 'summary'>

function entryLines(entries: readonly Row[]): string {
  return lines(entries.map(({ name, summary }) => [name, summary]))
}

function lines(rows: readonly (readonly [word: string, about: string])[]): string {
  const words = rows.map(([word]) => word.replace(/[<>]/g, ''))
  const width = Math.max(20, ...words.map((word) => word.length))
  return rows.map(([, about], at) => `  ${words[at]?.padEnd(width)} ${about}\n`).join('')
}
