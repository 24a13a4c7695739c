import type { Runtime } from '../../core/runtime.ts'
import type { Activation } from '../../library/activation.ts'
import type { SkillManager } from '../../library/manager.ts'
import type { AllowedTool } from '../../skill/model.ts'
import type { CallRules } from '../approval/permit.ts'
import type { SessionPart } from '../session.ts'
import type { AgentEvent, AgentTool, Approver, ModelObject, UsageEntry } from '../types.ts'
import type { PermissionMode } from './config.ts'

/**
 * What subagents get of the agent that delegates to them: values and questions, and nothing of its
 * conversation.
 */
export interface SubagentParent {
  /** `main`, or what the program calls it. */
  readonly name: string
  readonly runtime: Runtime
  /** Its own model, as the object that it uses. */
  model: () => ModelObject | Promise<ModelObject>
  /** The model of a name such as `provider:name`; throws an error that says how to get it. */
  resolveModel: (name: string) => ModelObject | Promise<ModelObject>
  /** Starts what `tools` needs first, such as MCP servers. The signal ends the wait. */
  ready?: ((signal?: AbortSignal) => Promise<void>) | undefined
  /** Everything it may use now: the ceiling of its subagents. */
  tools: () => readonly AgentTool[]
  /** Where its skills are; undefined when it has none. */
  skills: () => SkillManager | undefined
  /** Tools of a skill that is loaded into a subagent: those of the program, and its scripts. */
  toolsOfSkill?:
    | ((activation: Activation, signal?: AbortSignal) => Promise<readonly AgentTool[]>)
    | undefined
  /** What it may never call, which holds for its subagents too. */
  denied?: readonly AllowedTool[] | undefined
  /** Who is asked before something is changed; undefined: nobody, and it is refused. */
  approver: () => Approver | undefined
  /** How its own approvals are handled; a subagent is never freer. Default `default`. */
  permissionMode?: PermissionMode | undefined
  /** What untrusted skills limit its calls to now; the same holds for its subagents. */
  narrowed?: CallRules['narrowed'] | undefined
  /** Parts of every subagent's conversation, such as the check of workflows. */
  partsOfChild?: (() => readonly SessionPart[]) | undefined
  /** Books a model call of a subagent. */
  onUsage: (entry: UsageEntry) => void
  /** Tells what happens in a subagent; events carry the id of the delegation. */
  onEvent: (event: AgentEvent) => void
}
