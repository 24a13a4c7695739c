import type { Diagnostic } from '../../base/index.ts'
import type { SubagentConfig } from './config.ts'
import type { DelegationHandle } from './delegation.ts'
import type { AgentInfo, DiscoverAgentsOptions, WithheldAgent } from './discover-agents.ts'
import type { SubagentResult } from './result.ts'

export interface SubagentManagerOptions {
  /** Where files that define subagents are looked for; default: nowhere. */
  files?: DiscoverAgentsOptions | undefined
  /** Delegations that work at once, at least 1; the others wait in order. Default 10. */
  concurrency?: number | undefined
  /** Finished delegations that can be resumed; the oldest is forgotten first. Default 20. */
  resumable?: number | undefined
}

/** What a search for definitions found. */
export interface SubagentListing {
  configs: readonly SubagentConfig[]
  /** Those of `configs` that come from files, with where they come from. */
  agents: readonly AgentInfo[]
  withheld: readonly WithheldAgent[]
  diagnostics: readonly Diagnostic[]
}

/** A subagent that was made for a task and does not work on it yet. */
export interface Subagent {
  readonly id: string
  readonly name: string
  readonly task: string
  readonly status: 'created'
  /** Names of the tools that it has. */
  readonly tools: readonly string[]
  /** What was asked for and is not there. */
  readonly notices: readonly string[]
  /** Works on the task, and waits for the end. */
  run(): Promise<SubagentResult>
  /** Works on the task in the background. */
  start(): DelegationHandle
}
