import type { AgentTool } from '../model.ts'
import type { AgentSession } from '../session.ts'
import type { SessionPart } from '../session-part.ts'
import type { DelegationHandle } from './delegation.ts'
import { delegationTools } from './delegation-tools.ts'
import type { SubagentManager } from './manager.ts'
import type { SubagentResult } from './result.ts'

/** Delegations that the model started in the background: what goes on and what came of the others. */
export interface BackgroundWork {
  watch(handle: DelegationHandle): void
  find(id: string): DelegationHandle | SubagentResult | undefined
  all(): readonly (DelegationHandle | SubagentResult)[]
}

/** Results of background work that the model can still ask for. */
const keptResults = 20

/**
 * What an agent's model gets to hand tasks on: tools, as long as there are subagents, and a message
 * when something in the background is over.
 */
export function delegationPart(manager: SubagentManager): SessionPart {
  let session: AgentSession | undefined
  let tools: readonly AgentTool[] = []
  const work = backgroundWork((result) => session?.steer(overText(result)))
  return {
    attach: (own) => {
      session = own
    },
    async instructions() {
      const configs = await manager.list()
      tools = configs.length === 0 ? [] : delegationTools(manager, configs, work)
      return undefined
    },
    tools: () => tools,
    async close() {
      await manager.cancelAll()
    },
  }
}

function backgroundWork(over: (result: SubagentResult) => void): BackgroundWork {
  const handles = new Map<string, DelegationHandle>()
  const results = new Map<string, SubagentResult>()
  return {
    watch(handle) {
      results.delete(handle.id)
      handles.set(handle.id, handle)
      void handle.result().then((result) => {
        handles.delete(handle.id)
        results.set(handle.id, result)
        for (const id of results.keys()) {
          if (results.size <= keptResults) break
          results.delete(id)
        }
        over(result)
      })
    },
    find: (id) => handles.get(id) ?? results.get(id),
    all: () => [...handles.values(), ...results.values()],
  }
}

function overText({ id, subagentName, status }: SubagentResult): string {
  return `The background delegation ${id} to ${subagentName} is over: ${status}. Get its answer with delegation_status.`
}
