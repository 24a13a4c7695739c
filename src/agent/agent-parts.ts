import { loadConfiguration, type Runtime, type Settings, systemRuntime } from '../base/index.ts'
import {
  type Activation,
  discoverSkills,
  type Skill,
  type SkillInfo,
  SkillManager,
} from '../library/index.ts'
import { parseAllowedTools, SkillNotFoundError } from '../skill/index.ts'
import type { AgentOptions } from './agent-options.ts'
import { approvalPart, type CallRules } from './approval/permit.ts'
import { createHands } from './built-in-tools/built-in-tools.ts'
import { McpPart } from './mcp-tools/mcp-part.ts'
import { promptText } from './prompt-template.ts'
import { type ModelObject, resolveModel } from './resolve-model.ts'
import { type AgentSession, openSession } from './session.ts'
import { activeSkill } from './skills/active-skills.ts'
import { createSkillPart, type SkillPart, type SkillPartOptions } from './skills/skill-part.ts'
import { requireConcurrency, SubagentManager } from './subagents/manager.ts'
import { delegationPart } from './subagents/delegation-tools.ts'
import type { DiscoverAgentsOptions } from './subagents/discover-agents.ts'
import { requireSuccess } from './subagents/delegation.ts'
import type { AgentEvent, AgentTool } from './types.ts'
import type { UsageLedger } from './usage.ts'

interface AgentPartsContext {
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

  const servers = new McpPart({
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

/** The skills of an agent: where they are, and their part in its conversation. */
export interface AgentSkills {
  readonly manager: SkillManager
  readonly part: SkillPart
  /**
   * Waits until the skills that the agent was given are there.
   * @throws {SkillError} for one of them that is not, or cannot be used.
   */
  ready(): Promise<void>
  /** Tools that an activation brings along, for a subagent that has the skill. */
  toolsOf(activation: Activation, signal?: AbortSignal): Promise<readonly AgentTool[]>
}

interface AgentSkillsOptions {
  given: Pick<AgentOptions, 'skills' | 'skillDirs' | 'discover'>
  runtime: Runtime
  settings: Settings
  /** Everything that the part needs besides where the skills are. */
  part: Omit<SkillPartOptions, 'manager' | 'runtime' | 'environment'>
}

/** Finds nothing yet; what was given in code is registered at once. */
function createAgentSkills({
  given,
  runtime,
  settings,
  part: partOptions,
}: AgentSkillsOptions): AgentSkills {
  const { paths, trustedPaths, precedence } = settings.skills
  const { workspaceTrust } = settings
  const finds = given.discover ?? true
  const customPaths = [...(given.skillDirs ?? []), ...(finds ? paths : [])]
  const places = { runtime, trustedPaths, workspaceTrust, precedence }
  const manager = new SkillManager({ ...places, customPaths, autoDiscover: finds })
  const options = { ...partOptions, manager, runtime, environment: settings.run.environment }
  const registered = registerGiven(manager, given.skills ?? [])
  registered.catch(() => undefined)
  let ready: Promise<void> | undefined
  return {
    manager,
    part: createSkillPart(options),
    ready() {
      ready ??= prepare()
      return ready
    },
    async toolsOf(activation, signal) {
      const skill = await manager.get(activation.name)
      if (skill === undefined) return []
      const run = { notice: () => undefined, signal }
      return (await activeSkill(activation, skill, options, run)).tools()
    },
  }

  async function prepare(): Promise<void> {
    await registered
    if (!finds) await registerOnlyFrom(given.skillDirs ?? [])
    for (const name of (given.skills ?? []).filter(isName)) {
      if ((await manager.get(name)) === undefined) throw unknownSkill(name, await manager.list())
    }
  }

  /** Without a search, only what lies in the directories that were named. */
  async function registerOnlyFrom(directories: readonly string[]): Promise<void> {
    if (directories.length === 0) return
    const { skills } = discoverSkills({
      ...places,
      projectDirectories: [],
      customPaths: directories,
    })
    for (const skill of skills.filter(({ scope }) => scope === 'custom')) {
      await manager.register(skill)
    }
  }
}

/** In order and to the end, so that one that cannot be used hides none of the others. */
async function registerGiven(
  manager: SkillManager,
  skills: readonly (Skill | SkillInfo | string)[],
): Promise<void> {
  const results = await Promise.allSettled(
    skills.filter((skill) => !isName(skill)).map((skill) => manager.register(skill)),
  )
  for (const result of results) if (result.status === 'rejected') throw result.reason
}

/** A text is a name, unless it looks like a path. */
function isName(skill: Skill | SkillInfo | string): skill is string {
  return typeof skill === 'string' && !/[/\\]|^[.~]/.test(skill)
}

function unknownSkill(name: string, known: readonly SkillInfo[]): SkillNotFoundError {
  return new SkillNotFoundError({
    code: 'skill-not-found',
    message: `The agent was given a skill called ${name}, and there is none.`,
    hint:
      known.length === 0
        ? 'There are no skills here. A path must contain a /.'
        : `There are: ${known.map((skill) => skill.name).join(', ')}. A path must contain a /.`,
  })
}

/** What an agent finds around it: the runtime in its project, settings, and models by name. */
export interface Surroundings {
  /** With the project as its working directory. */
  readonly runtime: Runtime
  readonly project: string
  settings(): Settings
  /** The agent's own model. */
  model(): Promise<ModelObject>
  /** A model that is named elsewhere, in the definition of a subagent say. */
  resolveModel(name: string): Promise<ModelObject>
}

/** Nothing is read or loaded until it is asked for. */
export function surroundingsOf(options: AgentOptions): Surroundings {
  const base = options.runtime ?? systemRuntime()
  const project = options.project ?? base.cwd
  const runtime = project === base.cwd ? base : { ...base, cwd: project }
  let settings: Settings | undefined
  let own: Promise<ModelObject> | undefined
  const surroundings: Surroundings = {
    runtime,
    project,
    settings() {
      settings ??= settingsOf(options, runtime)
      return settings
    },
    async model() {
      const { model } = options
      if (typeof model !== 'string') return model
      own ??= surroundings.resolveModel(model)
      try {
        return await own
      } catch (error) {
        own = undefined
        throw error
      }
    },
    resolveModel(name) {
      const { providers, baseUrl, apiKey } = options
      const place = isSameProvider(name, options.model) ? { baseUrl, apiKey } : {}
      const { baseUrl: compatibleUrl } = surroundings.settings().agent
      return resolveModel(name, { providers, compatibleUrl, runtime, ...place })
    },
  }
  return surroundings
}

function settingsOf(options: AgentOptions, runtime: Runtime): Settings {
  const settings = options.settings ?? loadConfiguration(runtime).settings
  const { workspaceTrust = settings.workspaceTrust } = options
  return { ...settings, workspaceTrust }
}

/** An address and a key are for the provider that they were given for, and for no other. */
function isSameProvider(name: string, model: AgentOptions['model']): boolean {
  return typeof model === 'string' && providerOf(model) === providerOf(name)
}

function providerOf(name: string): string {
  return name.split(':', 1)[0] ?? ''
}
