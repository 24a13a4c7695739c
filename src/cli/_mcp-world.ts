import type { McpWorld } from '../mcp/index.ts'
import { renderInjection } from '../trigger/index.ts'
import { forgetSessions, sessionPlace } from '../workflow/index.ts'
import { injectionFor } from '../trigger/commands/injection.ts'
import { mcpChains } from './_mcp-chains.ts'
import { mcpTools } from './_mcp-tools.ts'
import { toolProject } from '../tools/commands/project-tools.ts'
import type { CommandContext } from './command.ts'
import { packageVersion } from '../base/runtime.ts'

export interface McpWorldOptions {
  yes: boolean
  /** Of all clients. */
  session: string | undefined
}

/** With what the ids of sessions begin that nobody named. */
const ownSession = 'mcp-'

/** Everything that our own server offers, of the project that the command works in. */
export function mcpWorld(given: CommandContext, { yes, session }: McpWorldOptions): McpWorld {
  const context = aloneOnStandardError(given)
  const { runtime, settings, output } = context
  const project = toolProject(context)
  // A wrong name is told before anybody is served.
  const { from } = sessionPlace({ project, runtime, id: session })
  return {
    version: packageVersion(),
    runtime,
    settings,
    tools: mcpTools(context),
    chains: mcpChains(context),
    session() {
      if (from !== 'default') return session
      forgetSessions({ project, runtime, prefix: ownSession })
      return `${ownSession}${runtime.id()}`
    },
    references(prompt, source) {
      const request = { prompt, references: [], tokenBudget: undefined, source }
      const { injected, deferred } = injectionFor(context, request)
      return { text: renderInjection(injected), injected, deferred }
    },
    yes,
    note: (line) => output.note(line),
  }
}

/** Standard output belongs to the protocol: what would be written there goes to standard error. */
function aloneOnStandardError(context: CommandContext): CommandContext {
  const { output } = context
  return {
    ...context,
    ask: () => Promise.resolve(undefined),
    output: {
      ...output,
      isTerminal: false,
      isLive: false,
      line: (text = '') => output.note(text),
      raw: (text) => output.note(text),
      json: (value) => output.note(JSON.stringify(value)),
      table: (rows) => rows.forEach((row) => output.note(row.join('  '))),
    },
  }
}
