import type { Runtime } from '#core/runtime'
import type { Platform } from './adapters.ts'
import type { HookPayload } from './prompt.ts'

/** Applies the workflows of a project to the MCP calls that the agent of a client makes itself. */
export interface WorkflowHook {
  /** Undefined if no workflow concerns the call. If it throws before a call, the call is denied. */
  answer(event: WorkflowEvent): Promise<WorkflowAnswer | undefined>
}

export interface WorkflowEvent {
  platform: Platform
  kind: 'before' | 'after'
  payload: HookPayload
  /** The projects whose workflows apply; at least one. */
  projects: readonly string[]
  runtime: Runtime
}

export type WorkflowAnswer =
  | { kind: 'deny'; reason: string }
  /** What the agent should know. */
  | { kind: 'context'; text: string }
