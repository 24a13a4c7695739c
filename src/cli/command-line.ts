import { Command, CommanderError, Option } from 'commander'
import { SkillrailError, UsageError } from '../base/index.ts'
import { contradiction } from './_contradiction.ts'
import type { GlobalOptions, LoadedCommand } from './command.ts'
import type { CommandEntry } from './command-table/command-entry.ts'

export type CommandLine =
  | { kind: 'help'; text: string }
  | { kind: 'run'; program: Command; globals: ParsedGlobals }

export type ParsedGlobals = GlobalOptions & {
  directory?: string | undefined
  config?: string | undefined
}

/**
 * Reads the words of one command. Global options may stand anywhere before `--`.
 * Throws {@link UsageError} in a sentence that names what is allowed.
 */
export function parseCommandLine(
  entry: CommandEntry,
  command: LoadedCommand,
  argv: readonly string[],
): CommandLine {
  let help = ''
  const program = new Command(`skillrail ${entry.name}`)
    .description(`${entry.summary}.`)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void (help += text),
      writeErr: () => undefined,
    })
    .showSuggestionAfterError(true)
    .allowExcessArguments(false)
  command.configure(program)
  for (const option of globalOptions()) program.addOption(option)
  program.addHelpText('after', 'Exit codes: skillrail --help')
  refuseRepetition(program)
  try {
    program.parse(withoutName(entry, argv), { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return { kind: 'help', text: help }
    throw asUsageError(error, entry)
  }
  const options = program.opts<Record<string, unknown>>()
  if (options['quiet'] === true && options['verbose'] === true) {
    throw contradiction('--quiet', '--verbose', 'Give one of them.')
  }
  return {
    kind: 'run',
    program,
    globals: {
      json: options['json'] === true,
      quiet: options['quiet'] === true,
      verbose: options['verbose'] === true,
      trustWorkspace: options['trustWorkspace'] === true,
      directory: text(options['directory']),
      config: text(options['config']),
    },
  }
}

function globalOptions(): Option[] {
  return [
    new Option('--json', 'print one JSON document'),
    new Option('-q, --quiet', 'only the answer and errors'),
    new Option('-v, --verbose', 'say more on standard error'),
    new Option('-C, --directory <dir>', 'work in this directory'),
    new Option('--trust-workspace', 'trust this project’s skills for this command'),
    new Option('--config <file>', 'read settings from this file, above all others'),
  ]
}

/** Of two values of an option that is not repeatable the last would count, and the other go unheeded. */
function refuseRepetition(program: Command): void {
  for (const option of program.options) {
    const isRepeatable = option.variadic || option.parseArg !== undefined
    if (isRepeatable || !(option.required || option.optional)) continue
    const values: string[] = []
    program.on(`option:${option.name()}`, (value: string | null) => {
      values.push(value ?? 'no value')
      if (values.length === 1) return
      const name = option.long ?? option.flags
      throw new UsageError({
        code: 'wrong-use',
        message: `${name} is given twice, as ${values.join(' and as ')}`,
        hint: `${program.name()} --help shows which options are repeatable.`,
      })
    })
  }
}

/** Takes the words that named the command out of the arguments, wherever options stand. */
function withoutName(entry: CommandEntry, argv: readonly string[]): string[] {
  const pending = entry.name.split(' ')
  const rest: string[] = []
  for (let index = 0; index < argv.length; index++) {
    const argument = argv[index] ?? ''
    if (pending.length > 0 && argument === pending[0]) {
      pending.shift()
    } else {
      rest.push(argument)
      if (pending.length > 0 && (argument === '-C' || argument === '--config')) {
        rest.push(argv[++index] ?? '')
      }
    }
  }
  return rest
}

function asUsageError(error: unknown, entry: CommandEntry): SkillrailError {
  if (error instanceof SkillrailError) return error
  const message = error instanceof Error ? error.message.replace(/^error: /, '') : String(error)
  return new UsageError({
    code: 'wrong-use',
    message: message.replaceAll('\n', ' '),
    hint: `skillrail ${entry.name} --help shows what is allowed.`,
    cause: error,
  })
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
