import type { Readable, Writable } from 'node:stream'
import type { styleText } from 'node:util'
import type { Diagnostic, ExitCode } from './errors.ts'
import type { Runtime } from './runtime.ts'
import type { Settings } from './settings.ts'

/**
 * One command: `run` computes a Result, `render` turns it into text. The command line prints the rendering
 * or, with `--json`, the Result itself. So a Result is plain JSON, and `render` uses nothing else.
 * `E` is the type of the events that `run` emits while it works.
 */
export interface Command<R, O extends OptionSpecs, E = never> {
  /** Positional arguments in the form of the usage line, with their help: `{ '[path...]': 'skills' }`. */
  arguments?: Readonly<Record<string, string>>
  options: O
  /** Command lines without the leading `skillrail`. */
  examples: readonly string[]
  /** Paragraphs of the help page between the options and the examples. */
  details?: string
  /** Returns undefined only if the protocol of `protocol` has already sent everything. */
  run(context: Context<E>, values: Values<O>): Promise<R | Serving<R> | undefined>
  /** Returns the exact text for stdout; empty for nothing. */
  render(result: R, screen: Screen): string
  /** Returns notes for stderr. With `--json` they are not printed, because the Result has them as data. */
  notes?(result: R, screen: Screen): Notes
  exitCode?(result: R): ExitCode
  /** Further forms of the Result, for an option `format` (choice) or `report` (list of FORMAT[=FILE]). */
  formats?: Readonly<Record<string, Format<R>>>
  /** The format that consists of commands for a GitHub runner; every other output escapes such commands. */
  commandFormat?: string
  /** Whether a report `github` without a file goes into the job summary of GitHub Actions. */
  jobSummary?: boolean
  /** Shows events while the command works. Not used with `--json` or `--quiet`, except for `stdout`. */
  progress?(screen: Screen): Progress<E>
  /** Whether this call uses stdin and stdout itself, like an MCP server over pipes. */
  protocol?(values: Values<O>): boolean
  /** A hint what to use instead of `--json`, if a protocol uses stdout. */
  withoutJson?: string
  /**
   * Runs even if the settings have errors, and reports them. Only for commands that help to repair settings
   * and do nothing that a setting restricts: every other command is refused.
   */
  helpsToRepair?: true
}

/** Declared as a method, so that one registry can contain commands with different Results. */
type Format<R> = { format(result: R): string }['format']

export interface Progress<E> {
  /**
   * Without `--json`, `line` and `diagnostics` go to stderr, each on a separate line. `stdout` is the
   * beginning of the final rendering, printed at once; only the rest is printed at the end.
   */
  event(event: E):
    | {
        line?: string | undefined
        stdout?: string | undefined
        diagnostics?: readonly Diagnostic[] | undefined
      }
    | undefined
  /** The last line of a terminal, redrawn ten times a second. */
  live?(): string
  /** Prints no empty line between the lines and the result. */
  compact?: true
}

/** A note or a diagnostic. `detail` is printed with `--verbose` only, `failure` also with `--quiet`. */
export type Note = string | Diagnostic | { detail: string } | { failure: string }

/** In the order of printing; `false` and undefined print nothing. */
export type Notes = readonly (Note | false | undefined | readonly Note[])[]

/** A Result that is printed at once, while the command continues until `ended`. */
export class Serving<R> {
  readonly result: R
  readonly ended: Promise<ExitCode>

  constructor(result: R, ended: Promise<ExitCode>) {
    this.result = result
    this.ended = ended
  }
}

export interface Context<E = never> {
  runtime: Runtime
  /** `workspaceTrust` is `trusted` with `--trust-workspace` as well. */
  settings: Settings
  /** Aborted by Ctrl-C, TERM and a closed terminal. */
  signal: AbortSignal
  /** Global options of this call, which printed command lines repeat. */
  globals: RepeatableGlobals
  /** Whether a question can be asked: stdin and stderr are a terminal. */
  interactive: boolean
  /** Prints to stderr: errors always, the rest not with `--quiet`. */
  diagnose(diagnostics: readonly Diagnostic[]): void
  /** Prints to stderr: a `detail` with `--verbose` only, a `failure` also with `--quiet`. */
  note(text: string, level?: 'note' | 'detail' | 'failure'): void
  emit(event: E): void
  /**
   * Asks on stderr and resolves with the user's line.
   * @throws the result of `otherwise` if no user can be asked, and after Ctrl-D
   * @throws the reason of `withdraw` when that signal aborts
   */
  ask(question: QuestionToUser, withdraw?: AbortSignal): Promise<string>
  /** Standard input as UTF-8 text, read to its end when called. */
  stdin(): Promise<string>
  /** Only if {@link Command.protocol} returns true. */
  streams?: { stdin: Readable & { isTTY?: boolean }; stdout: Writable } | undefined
}

/** One line of `doctor`. Only a `problem` keeps something from working. */
export interface Check {
  name: string
  status: 'ok' | 'information' | 'warning' | 'problem'
  found: string
  /** How to fix it, if possible. */
  advice?: string | undefined
}

export type CheckContext = Pick<Context, 'runtime' | 'settings'>

export interface QuestionToUser {
  text: string
  /** Printed before the question. */
  about?(screen: Screen): string
  otherwise(): Error
}

export interface RepeatableGlobals {
  /** `--trust-workspace` was given. */
  trustWorkspace: boolean
  directory?: string | undefined
  config?: string | undefined
}

export interface Screen {
  isTerminal: boolean
  /** Columns; `Infinity` without a terminal, so that nothing is cut. */
  width: number
  quiet: boolean
  verbose: boolean
  /** Whether stdout is used for a report or for events, so that no rendering is printed. */
  stdoutTaken: boolean
  /** The text in a style of `util.styleText`; plain without a terminal or with NO_COLOR. */
  style(format: Parameters<typeof styleText>[0], text: string): string
  /** The text with commands of ours as this user calls them, such as `npx skillrail trust`. */
  asCalled(text: string): string
  /** Rows as aligned columns, two spaces apart, each with a newline. */
  table(rows: readonly (readonly string[])[]): string
}

/**
 * An option. `flags` is written as commander wants it: `-f, --force`, `--port <port>`, `--no-skills`.
 * Without the option and a default, the value is `undefined`, or `false` for a flag.
 */
export type OptionSpec =
  | { kind: 'flag'; flags: string; help: string }
  /** `--pin` with its opposite `--no-pin`, whose help is `negated`; undefined without both. */
  | { kind: 'switch'; flags: string; help: string; negated: string }
  | { kind: 'text'; flags: string; help: string; default?: string; required?: true }
  | { kind: 'list'; flags: string; help: string }
  | {
      kind: 'choice'
      flags: string
      help: string
      choices: readonly string[]
      default?: string
      required?: true
    }
  | { kind: 'integer'; flags: string; help: string; least: number; most: number; default?: number }
  /** Seconds with or without a fraction; the value is in milliseconds. */
  | { kind: 'seconds'; flags: string; help: string }
  /** `--events [file]`: `true` without a value. */
  | { kind: 'optional'; flags: string; help: string }
  /** `--write [file...]`: `true` without a value. */
  | { kind: 'optionalList'; flags: string; help: string }

function ofKind<const K extends OptionSpec['kind']>(kind: K) {
  return <const M extends object = object>(flags: string, help: string, more?: M) => {
    const spec = { kind, flags, help }
    return Object.assign(spec, more)
  }
}

/** Creates a specification: `option.flag('--yes', 'do not ask')`; `more`: the kind's other fields. */
export const option = {
  flag: ofKind('flag'),
  switch: ofKind('switch'),
  text: ofKind('text'),
  list: ofKind('list'),
  choice: ofKind('choice'),
  integer: ofKind('integer'),
  seconds: ofKind('seconds'),
  optional: ofKind('optional'),
  optionalList: ofKind('optionalList'),
}

export type OptionValue = boolean | number | string | readonly string[] | undefined

export type OptionSpecs = Readonly<Record<string, OptionSpec>>

/** The value of each kind; also `undefined`, unless an option is {@link NeverMissing}. */
interface ValueOf {
  flag: boolean
  switch: boolean
  text: string
  list: readonly string[]
  choice: string
  integer: number
  seconds: number
  optional: string | true
  optionalList: readonly string[] | true
}

type NeverMissing = { kind: 'flag' | 'list' } | { default: unknown } | { required: true }

type OptionResult<S extends OptionSpec> =
  | (S extends { kind: 'choice'; choices: readonly (infer C)[] } ? C : ValueOf[S['kind']])
  | (S extends NeverMissing ? never : undefined)

/** The values of the options and, as `arguments`, the positional arguments. */
export type Values<O extends OptionSpecs> = { readonly [K in keyof O]: OptionResult<O[K]> } & {
  readonly arguments: readonly string[]
}

export type AnyCommand = Command<unknown, OptionSpecs, unknown>

/** Carries the types of a command: `export const command = defineCommand<Result>()({ … })`. */
export function defineCommand<R, E = never>() {
  return <const O extends OptionSpecs>(command: Command<R, O, E>): AnyCommand => command
}
