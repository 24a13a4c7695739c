import { Command as Parser, CommanderError, Option } from 'commander'
import type { AnyCommand, OptionSpec, OptionValue, RepeatableGlobals } from '#core/command'
import { contradiction, wrongUse } from '#core/errors'
import { valueOptions } from '#core/former-names'
import { milliseconds, wholeNumber } from '#core/option-values'
import { shellWord } from '#core/text'
import { type CommandEntry, commandsBelow, globalOptions, inFull } from './registry.ts'

export interface GlobalValues extends RepeatableGlobals {
  json: boolean
  quiet: boolean
  verbose: boolean
}

/** Parses the words of one command. Global options are allowed anywhere before `--`. */
export function parseCommandLine(
  entry: CommandEntry,
  command: AnyCommand,
  argv: readonly string[],
) {
  const program = new Parser(`skillrail ${entry.name}`.trimEnd()).description(`${entry.summary}.`)
  for (const [key, spec] of Object.entries(command.options)) {
    const option = optionOf(spec)
    if (option.attributeName() !== key) throw new Error(`${spec.flags} is declared as ${key}`)
    program.addOption(option)
    if (spec.kind === 'switch') addOpposite(program, key, spec.negated)
  }
  const below = entry.name === '' ? [] : commandsBelow(entry.name)
  const commandsHere = below.filter(({ name }) => !name.includes(' --'))
  for (const other of below) if (!commandsHere.includes(other)) addForm(program, other)
  for (const [syntax, help] of Object.entries(command.arguments ?? {})) {
    program.argument(syntax, help)
  }
  program.addHelpText('after', commandLines(commandsHere) + helpTail(command, program))
  const call = parseWith(program, entry, argv)
  if (call.kind === 'help') return call
  const rawValues = program.opts<Record<string, unknown>>()
  const values: Record<string, OptionValue> = {}
  for (const [key, spec] of Object.entries(command.options)) {
    values[key] = valueOf(spec, rawValues[key], `${program.name()} --help shows the valid usage.`)
  }
  return { ...call, values: { ...values, arguments: program.args } }
}

function parseWith(program: Parser, entry: CommandEntry, argv: readonly string[]) {
  let help = ''
  program
    .exitOverride()
    .configureOutput({ writeOut: (text) => void (help += text), writeErr: () => undefined })
    .showSuggestionAfterError(true)
    .allowExcessArguments(false)
  for (const [flags, help] of globalOptions) program.addOption(new Option(flags, help))
  program.addHelpText('after', 'Exit codes: skillrail --help')
  refuseRepetition(program)
  try {
    program.parse(withoutName(entry, argv), { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return { kind: 'help', text: help } as const
    const text = error.message.replace(/^error: /, '')
    const unknownOption = /^unknown option '(.+)'/.exec(text)?.[1]
    const usage = `${program.name()} --help shows the valid usage.`
    const hint =
      unknownOption === undefined ? usage : `${separatorHint(unknownOption, program, argv)}${usage}`
    throw wrongUse(text.replaceAll('\n', ' '), hint, error)
  }
  const { directory, config, ...flags } = program.opts<Partial<GlobalValues>>()
  const { json = false, quiet = false, verbose = false, trustWorkspace = false } = flags
  if (quiet && verbose) throw contradiction('--quiet', '--verbose', 'Give one of them.')
  const globals = { json, quiet, verbose, trustWorkspace, directory, config }
  return { kind: 'run', globals } as const
}

/** Returns how to write an unknown option that may belong to the tool or skill that the command calls. */
function separatorHint(unknownOption: string, program: Parser, argv: readonly string[]): string {
  const receiver = program.registeredArguments.at(-1)?.name()
  const at = argv.indexOf(unknownOption)
  const next = argv[at + 1]
  const value = next === undefined || next.startsWith('-') ? [] : [next]
  if (receiver === 'parameters') {
    const name = unknownOption.replace(/^-+/, '')
    const form = name.includes('=') ? name : `${name}=${value[0] ?? 'VALUE'}`
    return `For the tool, write a parameter as name=value: ${shellWord(form)}. `
  }
  if (receiver !== 'arguments') return ''
  const otherWords = argv.filter((_, index) => index < at || index > at + value.length)
  const quoteWords = (words: readonly string[]) => words.map((word) => shellWord(word)).join(' ')
  return `For the skill, write it after --: skillrail ${quoteWords(otherWords)} -- ${quoteWords([unknownOption, ...value])}\n`
}

function optionOf(spec: OptionSpec): Option {
  const option = new Option(spec.flags, spec.help)
  if (spec.kind === 'list') {
    option.argParser((value, values?: readonly string[]) => [...(values ?? []), value])
  }
  if ('default' in spec) option.default(String(spec.default))
  if ('required' in spec) option.makeOptionMandatory()
  return option
}

/** Refuses a switch together with its opposite: otherwise the last one would win silently. */
function addOpposite(program: Parser, name: string, help: string): void {
  program.addOption(new Option(`--no-${name}`, help))
  const flags = new Set<string>()
  for (const flag of [name, `no-${name}`]) {
    program.on(`option:${flag}`, () => {
      if (flags.add(flag).size === 1) return
      const hint = `Give one of them; ${program.name()} --help explains them.`
      throw contradiction(`--${name}`, `--no-${name}`, hint)
    })
  }
}

function valueOf(spec: OptionSpec, rawValue: unknown, hint: string): OptionValue {
  const text = typeof rawValue === 'string' ? rawValue : undefined
  const name = /--[a-z-]+/.exec(spec.flags)?.[0] ?? spec.flags
  switch (spec.kind) {
    case 'flag':
      return rawValue === true
    case 'switch':
      return typeof rawValue === 'boolean' ? rawValue : undefined
    case 'list':
      return Array.isArray(rawValue) ? rawValue.map(String) : []
    case 'integer':
      return text === undefined ? undefined : wholeNumber(name, text, spec)
    case 'seconds':
      return text === undefined ? undefined : milliseconds(name, text)
    case 'choice':
      if (text !== undefined && !spec.choices.includes(text)) {
        throw wrongUse(`${name} ${text} is invalid; allowed: ${spec.choices.join(', ')}`, hint)
      }
      return text
    case 'text':
      return text
    case 'optional':
      return rawValue === true ? true : text
    case 'optionalList':
      return Array.isArray(rawValue) ? rawValue.map(String) : rawValue === true ? true : undefined
    default:
      return spec satisfies never
  }
}

/** Shows a command whose name ends with an option in the help of the command without it. */
function addForm(program: Parser, { name, summary }: CommandEntry): void {
  const flag = name.slice(name.indexOf('--'))
  const about = summary.charAt(0).toLowerCase() + summary.slice(1)
  program.addOption(new Option(flag, `${about}; more: skillrail ${name} --help`))
}

function commandLines(entries: readonly CommandEntry[]): string {
  if (entries.length === 0) return ''
  const width = Math.max(...entries.map(({ name }) => name.length))
  const lines = entries.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}\n`)
  return `\nCommands:\n${lines.join('')}`
}

/** As wide as the options above it are without a terminal. */
const detailsWidth = 80

function helpTail({ details, examples }: AnyCommand, program: Parser): string {
  const title = examples.length === 1 ? 'Example:' : 'Examples:'
  const lines = examples.map((example) => `  $ skillrail ${example}`.trimEnd() + '\n').join('')
  const wrapped = details && `\n${program.createHelp().boxWrap(details, detailsWidth)}\n`
  return `${wrapped ?? ''}\n${title}\n${lines}`
}

function refuseRepetition(program: Parser): void {
  for (const option of program.options) {
    const isRepeatable = option.variadic || option.parseArg !== undefined
    if (isRepeatable || !(option.required || option.optional)) continue
    const values: string[] = []
    program.on(`option:${option.name()}`, (value: string | null) => {
      values.push(value ?? 'no value')
      if (values.length === 1) return
      const name = option.long ?? option.flags
      throw wrongUse(
        `${name} is given twice, as ${values.join(' and as ')}`,
        `${program.name()} --help shows which options are repeatable.`,
      )
    })
  }
}

/** Removes the words of the command's name from the arguments, wherever options are. */
function withoutName(entry: CommandEntry, argv: readonly string[]): string[] {
  const pending = entry.name.split(' ').filter(Boolean)
  const words: string[] = []
  for (let index = 0; index < argv.length; index++) {
    const argument = argv[index] ?? ''
    if (pending.length > 0 && inFull(argument) === pending[0]) {
      pending.shift()
    } else {
      words.push(argument)
      if (pending.length > 0 && valueOptions.has(argument)) {
        words.push(argv[++index] ?? '')
      }
    }
  }
  return words
}
