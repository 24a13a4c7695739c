import type { Command } from 'commander'
import type { ExitCode, Runtime, Settings } from '../base/index.ts'
import type { Output } from './output.ts'

/** The options that every command understands. */
export interface GlobalOptions {
  json: boolean
  quiet: boolean
  verbose: boolean
  /** As an option, or by a setting of the user's own. */
  trustWorkspace: boolean
  /** Those that were given with the command and hold for it alone. */
  again?: GivenGlobals | undefined
}

export interface GivenGlobals {
  trustWorkspace: boolean
  directory?: string | undefined
  config?: string | undefined
}

/** What a command gets from `main`; nothing else of the process is touched by a command. */
export interface CommandContext {
  runtime: Runtime
  settings: Settings
  options: GlobalOptions
  output: Output
  /** Whether a question can be asked. */
  interactive: boolean
  /** Standard input as text, read to its end when called. */
  readStandardInput(): Promise<string>
  /**
   * Asks the person at the terminal; undefined where there is none, and when `signal` withdraws the
   * question.
   */
  ask(question: string, signal?: AbortSignal): Promise<string | undefined>
  /** Aborted by Ctrl-C or TERM. */
  signal: AbortSignal
}

/**
 * One command, in a file of its own that is loaded only when it is used. `configure` declares
 * arguments, options and an example; `run` returns the exit code and never ends the process.
 */
export interface CommandDefinition<Options extends object = object> {
  configure(program: Command): void
  run(context: CommandContext, positionals: readonly string[], options: Options): Promise<ExitCode>
}

/** A definition whose options type was forgotten for the table of all commands. */
export interface LoadedCommand {
  configure(program: Command): void
  run(context: CommandContext, program: Command): Promise<ExitCode>
}

/** Reads the options as the type that `configure` declared; the one place where types meet commander. */
export function defineCommand<Options extends object>(
  definition: CommandDefinition<Options>,
): LoadedCommand {
  return {
    configure: (program) => definition.configure(program),
    run: (context, program) => definition.run(context, program.args, program.opts<Options>()),
  }
}
