import { Command as Parser, CommanderError, Option } from 'commander'
import type { AnyCommand, OptionSpec, OptionValue, RepeatableGlobals } from '#core/command'
import { contradiction, wrongUse } from '#core/errors'
import { milliseconds, wholeNumber } from '#core/option-values'
import { shellWord } from '#core/text'
import { type CommandEntry, globalOptions, inFull } from './registry.ts'

export interface GlobalValues extends RepeatableGlobals {
  json: boolean
  quiet: boolean
  verbose: boolean
}

/** Reads the words of one command. Global options may stand anywhere before `--`. */
export function parseCommandLine(
  entry: CommandEntry,
  command: AnyCommand,
  argv: readonly string[],
) {
  const program = new Parser(`skillrail ${entry.name}`).description(`${entry.summary}.`)
  for (const [key, spec] of Object.entries(command.options)) {
    const option = optionOf(spec)
    if (option.attributeName() !== key) throw new Error(`${spec.flags} is declared as ${key}`)
    program.addOption(option)
    if (spec.kind === 'switch') addOpposite(program, key, spec.negated)
  }
  for (const [syntax, help] of Object.entries(command.arguments ?? {})) {
    program.argument(syntax, help)
  }
  program.addHelpText('after', helpTail(command))
  const parsed = parseWith(program, entry, argv)
  if (parsed.kind === 'help') return parsed
  const given = program.opts<Record<string, unknown>>()
  const values: Record<string, OptionValue> = {}
  for (const [key, spec] of Object.entries(command.options)) {
    values[key] = valueOf(spec, given[key], `${program.name()} --help shows the valid usage.`)
  }
  return { ...parsed, values: { ...values, arguments: program.args } }
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
    const unknown = /^unknown option '(.+)'/.exec(text)?.[1]
    const usage = `skillrail ${entry.name} --help shows the valid usage.`
    const hint = unknown === undefined ? usage : `${meantBy(unknown, program, argv)}${usage}`
    throw wrongUse(text.replaceAll('\n', ' '), hint, error)
  }
  const { directory, config, ...flags } = program.opts<Partial<GlobalValues>>()
  const { json = false, quiet = false, verbose = false, trustWorkspace = false } = flags
  if (quiet && verbose) throw contradiction('--quiet', '--verbose', 'Give one of them.')
  const globals = { json, quiet, verbose, trustWorkspace, directory, config }
  return { kind: 'run', globals } as const
}

/** How to write what an unknown option may mean for what the command calls. */
function meantBy(unknown: string, program: Parser, argv: readonly string[]): string {
  const receiver = program.registeredArguments.at(-1)?.name()
  const at = argv.indexOf(unknown)
  const next = argv[at + 1]
  const value = next === undefined || next.startsWith('-') ? [] : [next]
  if (receiver === 'parameters') {
    const name = unknown.replace(/^-+/, '')
    const form = name.includes('=') ? name : `${name}=${value[0] ?? 'VALUE'}`
    return `For the tool, write a parameter as name=value: ${shellWord(form)}. `
  }
  if (receiver !== 'arguments') return ''
  const before = argv.filter((_, index) => index < at || index > at + value.length)
  const shown = (words: readonly string[]) => words.map((word) => shellWord(word)).join(' ')
  return `For the skill, write it behind --: skillrail ${shown(before)} -- ${shown([unknown, ...value])}\n`
}

function optionOf(spec: OptionSpec): Option {
  const option = new Option(spec.flags, spec.help)
  if (spec.kind === 'list') {
    option.argParser((value, before?: readonly string[]) => [...(before ?? []), value])
  }
  if ('default' in spec) option.default(String(spec.default))
  if ('required' in spec) option.makeOptionMandatory()
  return option
}

/** Of a switch and its opposite the last one would win without a word. */
function addOpposite(program: Parser, name: string, help: string): void {
  program.addOption(new Option(`--no-${name}`, help))
  const given = new Set<string>()
  for (const flag of [name, `no-${name}`]) {
    program.on(`option:${flag}`, () => {
      if (given.add(flag).size === 1) return
      const hint = `Give one of them; ${program.name()} --help explains them.`
      throw contradiction(`--${name}`, `--no-${name}`, hint)
    })
  }
}

function valueOf(spec: OptionSpec, given: unknown, hint: string): OptionValue {
  const text = typeof given === 'string' ? given : undefined
  const name = /--[a-z-]+/.exec(spec.flags)?.[0] ?? spec.flags
  switch (spec.kind) {
    case 'flag':
      return given === true
    case 'switch':
      return typeof given === 'boolean' ? given : undefined
    case 'list':
      return Array.isArray(given) ? given.map(String) : []
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
      return given === true ? true : text
    case 'optionalList':
      return Array.isArray(given) ? given.map(String) : given === true ? true : undefined
    default:
      return spec satisfies never
  }
}

function helpTail({ details, examples }: AnyCommand): string {
  const title = examples.length === 1 ? 'Example:' : 'Examples:'
  const lines = examples.map((example) => `  $ skillrail ${example}\n`).join('')
  return `${details === undefined ? '' : `\n${details}\n`}\n${title}\n${lines}`
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

/** Removes the words that named the command from the arguments, wherever options stand. */
function withoutName(entry: CommandEntry, argv: readonly string[]): string[] {
  const pending = entry.name.split(' ')
  const rest: string[] = []
  for (let index = 0; index < argv.length; index++) {
    const argument = argv[index] ?? ''
    if (pending.length > 0 && inFull(argument) === pending[0]) {
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
