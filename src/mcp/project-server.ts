import type { Context } from '../core/command.ts'
import type { McpWorld } from './world.ts'
import { renderInjection } from '../trigger/inject.ts'
import { forgetSessions, sessionPlace } from '../tools/workflow/session.ts'
import { injectionFor } from '../trigger/commands/injection.ts'
import { mcpChains } from './project-chains.ts'
import { mcpTools } from './project-tools.ts'
import { toolProject } from '../tools/commands/project-tools.ts'
import { packageVersion } from '../core/runtime.ts'

interface ServerOptions {
  yes: boolean
  /** Of all clients. */
  session: string | undefined
}

/** With what the ids of sessions begin that nobody named. */
const ownSession = 'mcp-'

/** Everything that our own server offers, of the project that the command works in. */
export function projectServer(given: Context, { yes, session }: ServerOptions): McpWorld {
  const context = withoutQuestions(given)
  const { runtime, settings } = context
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
    note: (line) => context.note(line),
  }
}

/** The client is asked, not the terminal that the server was started in. */
function withoutQuestions(context: Context): Context {
  return {
    ...context,
    interactive: false,
    ask: ({ otherwise }) => Promise.reject(otherwise()),
  }
}
