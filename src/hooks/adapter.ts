import type { ContextLimit } from './context.ts'
import type { Sigil } from './invocation.ts'

/** How one agent client asks for context before its model runs. One object a client, data where possible. */
export interface HookAdapter {
  /** What a person calls the client. */
  title: string
  /** The name of its program. */
  program: string
  /**
   * The client's own directory below the user's home, and the variable that moves it; `moves: 'home'`
   * where the variable stands for the home above it.
   */
  home: { path: string; variable?: string | undefined; moves?: 'home' | undefined }
  /** Where the hook is registered: below the client's directory, and below a project. */
  files: { user: string; project: string }
  /** Whether the client also finds a project's file when it is started in a folder below. */
  looksUp: boolean
  registration: Registration
  /** How a user of this client writes `/skill arguments`. */
  sigil: Sigil
  /** What the client starts the command with on Windows, as its own code or documents say. */
  windowsShell: 'bash' | 'cmd' | 'powershell'
  /** The answer that puts `context` before the model, as an object for standard output. */
  answer(context: string): object
  limit: ContextLimit
  /** What the user must do, besides installing, before the hook runs; a sentence each. */
  steps: { user?: string | undefined; project?: string | undefined }
  /** What this client cannot do, for `hooks status`. */
  remark?: string | undefined
}

/** How the hook is written into the client's configuration. */
export type Registration =
  /** One item of a list inside a JSON file that others write to as well. */
  | {
      kind: 'entry'
      /** The keys that lead to the list. */
      list: readonly string[]
      entry(commands: readonly string[]): object
      /** What the file must hold besides, where it is new or lacks it. */
      frame?: Readonly<Record<string, number>> | undefined
    }
  /** A file that is ours alone; what is in it is in the table of file texts, which no prompt needs. */
  | { kind: 'file'; text: FileText }

/** The name of a text in that table. */
export type FileText = 'copilot-hooks' | 'opencode-plugin' | 'pi-extension'

/** Seconds a client waits for the hook; our own deadline is earlier. */
export const timeLimitSeconds = 10

/** The answer of Claude Code, understood by the clients that took over its hooks. */
export function nestedAnswer(event: string): HookAdapter['answer'] {
  return (context) => ({
    hookSpecificOutput: { hookEventName: event, additionalContext: context },
  })
}

/** The registration of the clients that took over Gemini CLI's: a named command, in milliseconds. */
export function namedRegistration(event: string): HookAdapter['registration'] {
  return {
    kind: 'entry',
    list: ['hooks', event],
    entry: (commands) => ({
      hooks: commands.map((command) => ({
        name: 'skillrail',
        type: 'command',
        command,
        timeout: timeLimitSeconds * 1000,
      })),
    }),
  }
}
