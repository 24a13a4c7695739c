import type { AgentEnvironment } from '#agent/agent-options'
import type { SessionPart } from '#agent/session-contract'
import type { SkillPart } from '#agent/skills/skill-part'
import type { AgentEvent, AgentTool, UsageEntry } from '#agent/types'

/** The parts of a delegating agent that its subagents use. Its conversation is not among them. */
export interface SubagentParent {
  environment: Pick<
    AgentEnvironment,
    'name' | 'options' | 'denied' | 'runtime' | 'model' | 'resolveModel'
  >
  /** Starts the MCP servers, and checks the workflows in the session of a subagent. */
  servers?:
    | {
        ready(signal?: AbortSignal): Promise<void>
        subagentWorkflows(): readonly SessionPart[]
      }
    | undefined
  /** The tools that the agent may use now. Its subagents get no others by name. */
  tools: () => readonly AgentTool[]
  /** Undefined if the agent has no skills. */
  skills: () => Pick<SkillPart, 'manager' | 'load' | 'rules' | 'sessionId'> | undefined
  /** Returns why no model may be called any more, such as the token limit. */
  exhausted?: (() => string | undefined) | undefined
  onUsage: (entry: UsageEntry) => void
  /** Receives the events of subagents; each has the ID of its delegation. */
  onEvent: (event: AgentEvent) => void
}
