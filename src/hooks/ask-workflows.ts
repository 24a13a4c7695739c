import { mayBeMcpName } from '#core/mcp-names'
import { messageOf } from '#core/errors'
import { SettingsError } from '#core/settings-error'
import { safeLine } from '#core/text'
import { adapters, type HookAdapter, type Platform } from './adapters.ts'
import type { Answered } from './answer-triggers.ts'
import { claimOnce } from './given.ts'
import { currentCache, type HookRequest } from './hook-call.ts'
import type { HookPayload } from './prompt.ts'
import type { WorkflowAnswer } from './workflow-hook.ts'

/**
 * Asks the workflows about a call of an MCP tool; a project without workflows costs nothing. If they cannot be
 * applied, the call is denied. Throws for settings with errors, and for a call that was made.
 */
export async function askWorkflows(
  request: HookRequest,
  payload: HookPayload,
  platform: Platform,
): Promise<WorkflowAnswer | undefined> {
  try {
    return await answerOf(request, payload, platform)
  } catch (error) {
    if (error instanceof SettingsError || payload.event !== 'before') throw error
    const reason = `The workflows of this project cannot be applied (${messageOf(error)}), so tools of MCP servers are denied. Tell the user.`
    return { kind: 'deny', reason: safeLine(reason) }
  }
}

async function answerOf(
  { workflows: hook, runtime }: HookRequest,
  payload: HookPayload,
  platform: Platform,
): Promise<WorkflowAnswer | undefined> {
  const { event: kind, call, tool, session, agent } = payload
  if (!hook || call || (kind !== 'before' && kind !== 'after')) return undefined
  if (!mayBeMcpName(tool, platform)) return undefined
  const { workflows: projects } = await currentCache(runtime)
  if (projects.length === 0) return undefined
  const answer = await hook.answer({ platform, kind, payload, projects, runtime })
  if (answer?.kind !== 'context') return answer
  // Clients that show a context with the result of a call get it there.
  if (kind === 'before' && adapters[platform].givesBefore !== true) return undefined
  const about = JSON.stringify(['workflows', session, agent, answer.text])
  return claimOnce(runtime, about) ? answer : undefined
}

export function workflowDenial(
  { reason }: WorkflowAnswer & { kind: 'deny' },
  adapter: HookAdapter,
): Answered {
  return { stdout: `${JSON.stringify(adapter.deny(reason))}\n`, stderr: '', denied: true }
}
