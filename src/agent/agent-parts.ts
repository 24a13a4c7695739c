import { parseAllowedTools } from '../skill/index.ts'
import type { AgentOptions } from './agent-options.ts'
import { type AgentSkills, createAgentSkills } from './agent-skills.ts'
import type { Surroundings } from './agent-surroundings.ts'
import { approvalPart } from './approval/approval-part.ts'
import type { CallRules } from './approval/permit.ts'
import { createHands } from './hands/hands.ts'
import { mcpPart } from './mcp-tools/mcp-part.ts'
import type { AgentEvent } from './model.ts'
import { promptText } from './prompt/template.ts'
import { type AgentSession, openSession } from './session.ts'
import { requireConcurrency } from './subagents/concurrency.ts'
import { delegationPart } from './subagents/delegation-part.ts'
import type { DiscoverAgentsOptions } from './subagents/discover-agents.ts'
import { SubagentManager } from './subagents/manager.ts'
import { requireSuccess } from './subagents/require-success.ts'
import type { UsageLedger } from './usage/ledger.ts'

export interface AgentPartsContext {
  name: string
  surroundings: Surroundings
  ledger: UsageLedger
  emit: (event: AgentEvent) => void
}

/** A conversation with everything that takes part in it; skills and subagents come when needed. */
export interface AgentParts {
  readonly session: AgentSession
  /** Made at the first call, and part of the conversation from then on. */
  skills(): AgentSkills
  /** Made at the first call, and offered to the model from then on. */
  offerSubagents(): SubagentManager
  /**
   * Waits for what the agent was given in its options.
   * @throws {SkillError} for a skill that is not there or cannot be used.
   */
  ready(): Promise<void>
}

export function createAgentParts(options: AgentOptions, context: AgentPartsContext): AgentParts {
  const { name, surroundings, ledger, emit } = context
  const { runtime, project } = surroundings
  requireConcurrency(options.concurrency)
  const denied = (options.disallowedTools ?? []).flatMap(parseAllowedTools)
  let agentSkills: AgentSkills | undefined
  let subagentManager: SubagentManager | undefined
  let offered = false

  const servers = mcpPart({
    choice: options.mcp,
    project,
    runtime,
    settings: () => surroundings.settings(),
    note: (message) => emit({ type: 'notice', agent: name, message }),
  })
  const hands = createHands(options.builtIns ?? [], {
    project,
    runtime,
    environment: options.builtIns === undefined ? [] : surroundings.settings().run.environment,
    readable: () => agentSkills?.part.directories ?? [],
  })
  const session = openSession({
    agent: name,
    model: () => surroundings.model(),
    instructions: options.instructions === undefined ? '' : promptText(options.instructions),
    tools: [...(options.tools ?? []), ...hands],
    parts: [
      servers,
      approvalPart({
        agent: name,
        platform: runtime.platform,
        rules: rulesOf(() => agentSkills),
        denied,
        mode: options.permissionMode,
        approver: options.approver,
      }),
    ],
    maxTurns: options.maxTurns,
    usage: ledger,
    messages: options.messages,
    limits: options.limits,
    callSettings: options.callSettings,
  })
  if (options.skills !== undefined || options.skillDirs !== undefined) skills()
  if (options.subagents !== undefined) offerSubagents()
  return {
    session,
    skills,
    offerSubagents,
    ready: async () => await agentSkills?.ready(),
  }

  function skills(): AgentSkills {
    if (agentSkills !== undefined) return agentSkills
    agentSkills = createAgentSkills({
      given: options,
      runtime,
      settings: surroundings.settings(),
      part: {
        agent: name,
        project,
        start: options.startSkills,
        mode: options.permissionMode,
        resolveModel: (wanted) => surroundings.resolveModel(wanted),
        serverTools: (server, signal) => servers.serverTools(server, signal),
        async fork(activation, run) {
          return requireSuccess(await subagents().fork(activation, run)).output
        },
      },
    })
    session.join(agentSkills.part)
    return agentSkills
  }

  function offerSubagents(): SubagentManager {
    const manager = subagents()
    if (!offered) session.join(delegationPart(manager))
    offered = true
    return manager
  }

  function subagents(): SubagentManager {
    subagentManager ??= new SubagentManager(
      {
        name,
        runtime,
        isSubagent: false,
        model: () => surroundings.model(),
        resolveModel: (wanted) => surroundings.resolveModel(wanted),
        ready: options.mcp === undefined ? undefined : (signal) => servers.ready(signal),
        tools: () => session.tools(),
        skills: () => agentSkills?.manager,
        toolsOfSkill: async (activation, signal) =>
          (await agentSkills?.toolsOf(activation, signal)) ?? [],
        approver: () => options.approver,
        denied,
        permissionMode: options.permissionMode,
        narrowed: () => agentSkills?.part.rules.narrowed() ?? [],
        partsOfChild: () => servers.workflowsOfChild(),
        onUsage: (entry) => ledger.record(entry),
        onEvent: emit,
      },
      options.subagents ?? [],
      { files: agentFiles(options, surroundings), concurrency: options.concurrency },
    )
    return subagentManager
  }
}

/** The rules of the skills, from when there are any. */
function rulesOf(skills: () => AgentSkills | undefined): CallRules {
  const none = { decision: undefined, reason: '', input: undefined }
  return {
    preApproved: () => skills()?.part.rules.preApproved() ?? [],
    narrowed: () => skills()?.part.rules.narrowed() ?? [],
    beforeTool: async (tool, input, call) =>
      (await skills()?.part.rules.beforeTool?.(tool, input, call)) ?? none,
  }
}

function agentFiles(
  { discover = true }: AgentOptions,
  surroundings: Surroundings,
): DiscoverAgentsOptions | undefined {
  if (!discover) return undefined
  const { skills, workspaceTrust } = surroundings.settings()
  const { trustedPaths, precedence } = skills
  return { runtime: surroundings.runtime, trustedPaths, precedence, workspaceTrust }
}
