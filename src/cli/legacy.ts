import type { Context, Screen } from '../base/command.ts'
import type { CommandContext } from './command.ts'

/**
 * The context that functions of commands in the old form expect, made from a new one. It goes when the
 * last command is converted.
 */
export function legacyContext(
  context: Context<unknown>,
  screen: Pick<Screen, 'verbose' | 'quiet'> = { verbose: false, quiet: false },
): CommandContext {
  const { runtime, settings, signal, globals } = context
  const nothing = (): void => undefined
  return {
    runtime,
    settings,
    signal,
    options: {
      json: true,
      ...screen,
      trustWorkspace: settings.workspaceTrust === 'trusted',
      again: globals,
    },
    interactive: context.interactive,
    readStandardInput: () => context.stdin(),
    async ask(text, withdraw) {
      try {
        return await context.ask({ text, otherwise: () => new Error('not asked') }, withdraw)
      } catch {
        signal.throwIfAborted()
        return undefined
      }
    },
    output: {
      isTerminal: false,
      isLive: false,
      isQuiet: screen.quiet,
      width: 100,
      line: nothing,
      raw: nothing,
      json: nothing,
      table: nothing,
      tableText: () => '',
      live: nothing,
      styled: (text) => context.note(text),
      note: (text) => context.note(text),
      detail: (text) => context.note(text, 'detail'),
      failure: (text) => context.note(text, 'failure'),
      diagnostics: (diagnostics) => context.diagnose(diagnostics),
      style: (_format, text) => text,
    },
  }
}

/** The context that converted functions expect, made from the one of a command in the old form. */
export function contextOf(context: CommandContext): Context {
  const { runtime, settings, signal, options, output } = context
  return {
    runtime,
    settings,
    signal,
    globals: options.again ?? { trustWorkspace: false },
    get interactive() {
      return context.interactive
    },
    diagnose: (diagnostics) => {
      if (!options.json) output.diagnostics(diagnostics)
    },
    note: (text, level = 'note') => output[level](text),
    emit: () => undefined,
    async ask({ text, otherwise }, withdraw) {
      const answer = await context.ask(text, withdraw)
      withdraw?.throwIfAborted()
      if (answer === undefined) throw otherwise()
      return answer
    },
    stdin: () => context.readStandardInput(),
  }
}
