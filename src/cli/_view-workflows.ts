import { sessionsOf, showSession } from '../tools/commands/sessions.ts'
import { listWorkflows } from '../tools/commands/workflow-list.ts'
import type { ViewWorld } from '../view/index.ts'
import type { CommandContext } from './command.ts'
import { contextOf } from './legacy.ts'

type WorkflowPart = 'workflows' | 'sessions' | 'session'

/** The log of a session has every call; the latest ones are what somebody looks for. */
const mostCalls = 500

/** What the view shows of workflows, and of what sessions have done. */
export function workflowWorld(context: CommandContext): Pick<ViewWorld, WorkflowPart> {
  return {
    workflows: () => listWorkflows(context),
    sessions: () => sessionsOf(context),
    async session(id) {
      const { calls, ...details } = await showSession(contextOf(context), id, mostCalls)
      return { ...details, calls: calls.toReversed() }
    },
  }
}
