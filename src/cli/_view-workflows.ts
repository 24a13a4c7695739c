import type { ViewWorld } from '../view/index.ts'
import { listSessions } from '../workflow/index.ts'
import { completions } from './_completions.ts'
import { readSession } from './_named-session.ts'
import { openWorkflows, untrustedWorkflows } from '../tools/commands/workflow-project.ts'
import type { CommandContext } from './command.ts'

type WorkflowPart = 'workflows' | 'sessions' | 'session'

/** The log of a session has every call; the latest ones are what somebody looks for. */
const mostCalls = 500

/** What the view shows of workflows, and of what sessions have done. */
export function workflowWorld(context: CommandContext): Pick<ViewWorld, WorkflowPart> {
  const { runtime, settings } = context
  return {
    workflows() {
      const read = openWorkflows(context)
      const untrusted = untrustedWorkflows(context, read)
      return { workflows: read.workflows, diagnostics: [...read.diagnostics, ...untrusted] }
    },
    async sessions() {
      const { project } = openWorkflows(context)
      const lifetimeMs = settings.tools.sessionHours * 3_600_000
      return { sessions: await listSessions({ project, runtime, lifetimeMs }) }
    },
    async session(id) {
      const { session, reading, log } = await readSession(context, id)
      const { state, isOver, begun } = reading
      return {
        id: session.id,
        path: session.path,
        logPath: session.logPath,
        startedAt: begun ?? log.calls[0]?.at,
        isOver,
        completed: completions(state),
        calls: log.calls.slice(-mostCalls).toReversed(),
        allCalls: log.calls.length,
        diagnostics: [...reading.diagnostics, ...log.diagnostics],
      }
    },
  }
}
