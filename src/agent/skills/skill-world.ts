import type { LanguageModel } from 'ai'
import type { Runtime } from '../../base/index.ts'
import type { Activation, SkillManager } from '../../library/index.ts'
import type { AgentTool, ToolContext } from '../model.ts'
import type { PermissionMode } from '../subagents/config.ts'

/** Carries out a skill in a subagent, and returns its answer. */
export type ForkSkill = (
  activation: Activation,
  run: Pick<ToolContext, 'onEvent'> & { signal: AbortSignal | undefined },
) => Promise<string>

export interface SkillPartOptions {
  /** Whose conversation it is: `main`, or the name of a subagent. */
  agent: string
  manager: SkillManager
  runtime: Runtime
  /** The directory that the agent works in. */
  project: string
  /** Whether `manager` keeps track of what is active here: for one conversation of it; default true. */
  tracked?: boolean | undefined
  /** Skills that are active from the first prompt on, until they are deactivated; `name arguments`. */
  start?: readonly string[] | undefined
  /** Whether `/name arguments` as a prompt activates a skill as the user; default true. */
  typed?: boolean | undefined
  /** Estimated tokens of the list of skills that the model gets; default 2,000. */
  catalogTokens?: number | undefined
  /** Estimated tokens of references that triggers put before one prompt; default 10,000. */
  referenceTokens?: number | undefined
  /** Names of environment variables that scripts and hooks get besides the few that programs need. */
  environment?: readonly string[] | undefined
  /** Milliseconds for a script; default 10 minutes. */
  scriptTimeoutMs?: number | undefined
  /** What hooks are told of it; default `default`. */
  mode?: PermissionMode | undefined
  fork?: ForkSkill | undefined
  /** Tools of an MCP server that a skill names. */
  serverTools?:
    | ((server: string, signal: AbortSignal | undefined) => Promise<readonly AgentTool[]>)
    | undefined
  /** The model that a skill asks for. */
  resolveModel?: ((name: string) => LanguageModel | Promise<LanguageModel>) | undefined
}
