import type { JsonObject } from '../../tools/index.ts'
import type { AgentTool, CallSettings } from '../model.ts'
import type { ModelObject } from '../models/resolve-model.ts'
import type { PromptText } from '../prompt/template.ts'

/**
 * How approvals are handled in a subagent. `default`: whoever approves for the parent is asked.
 * `plan`: only tools that change nothing are offered. `dont-ask`: what would have to be asked is
 * refused.
 */
export type PermissionMode = 'default' | 'plan' | 'dont-ask'

export const permissionModes: readonly PermissionMode[] = ['default', 'plan', 'dont-ask']

/** Model calls a subagent has before it must sum up, unless its definition says otherwise. */
export const defaultMaxTurns = 50

/**
 * What a subagent is. Only `name` and `description` are required.
 *
 * @example
 * const reviewer: SubagentConfig = {
 *   name: 'reviewer',
 *   description: 'Reviews a change for defects.',
 *   tools: ['Read', 'Grep', 'Bash(git:*)'],
 *   systemPrompt: 'You review code. Name file and line of every finding.',
 * }
 */
export interface SubagentConfig {
  /** Unique among the subagents of one agent. */
  name: string
  /** When to delegate to it; the model reads this. */
  description: string
  /** `provider:name` or a model object; default: the parent's own model object. */
  model?: string | ModelObject | undefined
  /**
   * The tools it may use, of those that its parent has: `Read`, `Bash(git:*)`, `mcp__github`,
   * `mcp__github__*`, `*`; or tools of its own as values. Absent and empty mean none.
   */
  tools?: readonly (string | AgentTool)[] | null | undefined
  /** Taken away from what `tools` gives, in the same notation. */
  disallowedTools?: readonly string[] | null | undefined
  /** What it is told before its task: a text, or one with `{{variables}}` and their values. */
  systemPrompt?: PromptText | null | undefined
  /** Skills whose whole content it has from the start. `name arguments` passes arguments. */
  skills?: readonly string[] | null | undefined
  /** Model calls before it must sum up; default 50. */
  maxTurns?: number | undefined
  /** Default `default`. */
  permissionMode?: PermissionMode | undefined
  /** JSON Schema that its final answer must have. */
  outputSchema?: JsonObject | undefined
  /** Overrides of what it would take over from its parent. */
  config?: SubagentOverrides | undefined
}

/** Settings of a subagent's runs that are not its parent's. */
export interface SubagentOverrides {
  /** Milliseconds for a whole delegation; default none. */
  timeoutMs?: number | undefined
  /** Passed on to the provider. */
  callSettings?: CallSettings | undefined
}
