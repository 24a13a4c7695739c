import { loadConfiguration } from '../core/configuration.ts'
import { type Runtime, systemRuntime } from '../core/runtime.ts'
import type { Settings } from '../core/settings.ts'
import type { Activation } from '../library/activation.ts'
import { discoverSkills } from '../library/discover.ts'
import type { Skill, SkillInfo } from '../library/model.ts'
import { SkillManager } from '../library/manager.ts'
import { parseAllowedTools } from '../skill/allowed-tools.ts'
import { SkillNotFoundError } from '../skill/errors.ts'
import type { AgentOptions } from './agent-options.ts'
import { approvalPart, type CallRules } from './approval/permit.ts'
import { createBuiltInTools } from './built-in-tools/built-in-tools.ts'
import { McpPart } from './mcp-tools/mcp-part.ts'
import { promptText } from './prompt-template.ts'
import { resolveModel } from './resolve-model.ts'
import type { ModelObject } from './types.ts'
import { AgentSession } from './session.ts'
import { activeSkill } from './skills/active-skills.ts'
import { SkillPart, type SkillPartOptions } from './skills/skill-part.ts'
import { requireSuccess } from './subagents/delegation.ts'
import { DelegationPart } from './subagents/delegation-tools.ts'
import type { DiscoverAgentsOptions } from './subagents/discover-agents.ts'
import { requireConcurrency, SubagentManager } from './subagents/manager.ts'
import type { AgentEvent, AgentTool } from './types.ts'
import type { UsageLedger } from './usage.ts'

/** A conversation with everything that takes part in it; skills and subagents are made when needed. */
export class AgentParts {
  readonly session: AgentSession
  readonly #options: AgentOptions
  readonly #name: string
  readonly #environment: AgentEnvironment
  readonly #ledger: UsageLedger
  readonly #emit: (event: AgentEvent) => void
  readonly #servers: McpPart
  readonly #denied
  #skills: AgentSkills | undefined
  #subagents: SubagentManager | undefined
  #offersSubagents = false

  constructor(
    options: AgentOptions,
    name: string,
    environment: AgentEnvironment,
    ledger: UsageLedger,
    emit: (event: AgentEvent) => void,
  ) {
    this.#options = options
    this.#name = name
    this.#environment = environment
    this.#ledger = ledger
    this.#emit = emit
    requireConcurrency(options.concurrency)
    this.#denied = (options.disallowedTools ?? []).flatMap(parseAllowedTools)
    this.#servers = new McpPart({
      choice: options.mcp,
      project: environment.project,
      runtime: environment.runtime,
      settings: () => environment.settings(),
      note: (message) => emit({ type: 'notice', agent: name, message }),
    })
    this.session = this.#openSession()
    if (options.skills !== undefined || options.skillDirs !== undefined) this.skills()
    if (options.subagents !== undefined) this.offerSubagents()
  }

  /** Made at the first call, and part of the conversation from then on. */
  skills(): AgentSkills {
    if (this.#skills !== undefined) return this.#skills
    const { runtime, project } = this.#environment
    const skills = new AgentSkills(this.#options, this.#environment.settings(), {
      agent: this.#name,
      project,
      runtime,
      start: this.#options.startSkills,
      mode: this.#options.permissionMode,
      resolveModel: (wanted) => this.#environment.resolveModel(wanted),
      serverTools: (server, signal) => this.#servers.serverTools(server, signal),
      fork: async (activation, run) =>
        requireSuccess(await this.#subagentManager().fork(activation, run)).output,
    })
    this.#skills = skills
    this.session.join(skills.part)
    return skills
  }

  /** Made at the first call, and offered to the model from then on. */
  offerSubagents(): SubagentManager {
    const manager = this.#subagentManager()
    if (!this.#offersSubagents) this.session.join(new DelegationPart(manager))
    this.#offersSubagents = true
    return manager
  }

  /**
   * Waits for what the agent was given in its options.
   * @throws {SkillError} for a skill that does not exist or cannot be used.
   */
  async ready(): Promise<void> {
    await this.#skills?.ready()
  }

  #openSession(): AgentSession {
    const options = this.#options
    const { runtime, project } = this.#environment
    const builtIns = createBuiltInTools(options.builtIns ?? [], {
      project,
      runtime,
      environment:
        options.builtIns === undefined ? [] : this.#environment.settings().run.environment,
      readable: () => this.#skills?.part.directories ?? [],
    })
    const approval = approvalPart({
      agent: this.#name,
      platform: runtime.platform,
      rules: this.#rules(),
      denied: this.#denied,
      mode: options.permissionMode,
      approver: options.approver,
    })
    return new AgentSession({
      agent: this.#name,
      model: () => this.#environment.model(),
      instructions: options.instructions === undefined ? '' : promptText(options.instructions),
      tools: [...(options.tools ?? []), ...builtIns],
      parts: [this.#servers, approval],
      maxTurns: options.maxTurns,
      usage: this.#ledger,
      messages: options.messages,
      limits: options.limits,
      callSettings: options.callSettings,
    })
  }

  /** The rules of the active skills, once there are any. */
  #rules(): CallRules {
    const rules = (): CallRules | undefined => this.#skills?.part.rules
    return {
      preApproved: () => rules()?.preApproved() ?? [],
      narrowed: () => rules()?.narrowed() ?? [],
      beforeTool: async (...call) =>
        (await rules()?.beforeTool?.(...call)) ?? {
          decision: undefined,
          reason: '',
          input: undefined,
        },
    }
  }

  #subagentManager(): SubagentManager {
    const options = this.#options
    const servers = this.#servers
    this.#subagents ??= new SubagentManager(
      {
        name: this.#name,
        runtime: this.#environment.runtime,
        model: () => this.#environment.model(),
        resolveModel: (wanted) => this.#environment.resolveModel(wanted),
        ready: options.mcp === undefined ? undefined : (signal) => servers.ready(signal),
        tools: () => this.session.tools(),
        skills: () => this.#skills?.manager,
        toolsOfSkill: async (activation, signal) =>
          (await this.#skills?.toolsOf(activation, signal)) ?? [],
        approver: () => options.approver,
        denied: this.#denied,
        permissionMode: options.permissionMode,
        narrowed: () => this.#skills?.part.rules.narrowed() ?? [],
        partsOfChild: () => servers.workflowsOfChild(),
        onUsage: (entry) => this.#ledger.record(entry),
        onEvent: this.#emit,
      },
      options.subagents ?? [],
      { files: this.#agentFiles(), concurrency: options.concurrency },
    )
    return this.#subagents
  }

  #agentFiles(): DiscoverAgentsOptions | undefined {
    if (this.#options.discover === false) return undefined
    const { skills, workspaceTrust } = this.#environment.settings()
    const { trustedPaths, precedence } = skills
    return { runtime: this.#environment.runtime, trustedPaths, precedence, workspaceTrust }
  }
}

/** Runtime, settings and models of an agent. Nothing is read or loaded until it is asked for. */
export class AgentEnvironment {
  /** With the project as its working directory. */
  readonly runtime: Runtime
  readonly project: string
  readonly #options: AgentOptions
  #settings: Settings | undefined
  #model: Promise<ModelObject> | undefined

  constructor(options: AgentOptions) {
    const runtime = options.runtime ?? systemRuntime()
    this.#options = options
    this.project = options.project ?? runtime.cwd
    this.runtime = this.project === runtime.cwd ? runtime : { ...runtime, cwd: this.project }
  }

  settings(): Settings {
    if (this.#settings !== undefined) return this.#settings
    const settings = this.#options.settings ?? loadConfiguration(this.runtime).settings
    const { workspaceTrust = settings.workspaceTrust } = this.#options
    this.#settings = { ...settings, workspaceTrust }
    return this.#settings
  }

  /** The agent's own model; one that could not be resolved is tried again. */
  async model(): Promise<ModelObject> {
    const { model } = this.#options
    if (typeof model !== 'string') return model
    this.#model ??= this.resolveModel(model)
    try {
      return await this.#model
    } catch (error) {
      this.#model = undefined
      throw error
    }
  }

  /** A model that is named elsewhere, such as in the definition of a subagent. */
  async resolveModel(name: string): Promise<ModelObject> {
    const { providers, baseUrl, apiKey, model } = this.#options
    // An address and a key are for the provider that they were given for, and for no other.
    const isSame = typeof model === 'string' && model.split(':', 1)[0] === name.split(':', 1)[0]
    return await resolveModel(name, {
      providers,
      compatibleUrl: this.settings().agent.baseUrl,
      runtime: this.runtime,
      ...(isSame ? { baseUrl, apiKey } : {}),
    })
  }
}

/** The skills of an agent: where they are, and their part in its conversation. */
export class AgentSkills {
  readonly manager: SkillManager
  readonly part: SkillPart
  readonly #given: AgentOptions
  readonly #options: SkillPartOptions
  readonly #places
  readonly #registered: Promise<void>
  #ready: Promise<void> | undefined

  /** Searches for nothing yet; what was given in code is registered at once. */
  constructor(
    given: AgentOptions,
    settings: Settings,
    options: Omit<SkillPartOptions, 'manager' | 'environment'>,
  ) {
    const { paths, trustedPaths, precedence } = settings.skills
    const { workspaceTrust } = settings
    const { runtime } = options
    const { discover = true, skillDirs = [] } = given
    this.#given = given
    this.#places = { runtime, trustedPaths, workspaceTrust, precedence }
    this.manager = new SkillManager({
      ...this.#places,
      customPaths: [...skillDirs, ...(discover ? paths : [])],
      autoDiscover: discover,
    })
    this.#options = { ...options, manager: this.manager, environment: settings.run.environment }
    this.part = new SkillPart(this.#options)
    this.#registered = this.#register()
    this.#registered.catch(() => undefined)
  }

  /**
   * Waits until the skills that the agent was given are there.
   * @throws {SkillError} for one of them that does not exist, or cannot be used.
   */
  async ready(): Promise<void> {
    this.#ready ??= this.#prepare()
    await this.#ready
  }

  /** Tools that an activation brings along, for a subagent that has the skill. */
  async toolsOf(activation: Activation, signal?: AbortSignal): Promise<readonly AgentTool[]> {
    const skill = await this.manager.get(activation.name)
    if (skill === undefined) return []
    const active = await activeSkill(activation, skill, this.#options, () => undefined, signal)
    return active.tools()
  }

  /** In order and to the end, so that one that cannot be used hides none of the others. */
  async #register(): Promise<void> {
    const skills = (this.#given.skills ?? []).filter((skill) => !isName(skill))
    const results = await Promise.allSettled(skills.map((skill) => this.manager.register(skill)))
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }

  async #prepare(): Promise<void> {
    await this.#registered
    const { discover = true, skills = [], skillDirs = [] } = this.#given
    if (!discover && skillDirs.length > 0) await this.#registerOnlyFrom(skillDirs)
    for (const name of skills.filter(isName)) {
      if ((await this.manager.get(name)) !== undefined) continue
      throw unknownSkill(name, await this.manager.list())
    }
  }

  /** Without a search, only what lies in the directories that were named. */
  async #registerOnlyFrom(customPaths: readonly string[]): Promise<void> {
    const found = discoverSkills({ ...this.#places, projectDirectories: [], customPaths })
    for (const skill of found.skills) {
      if (skill.scope === 'custom') await this.manager.register(skill)
    }
  }
}

/** A text is a name, unless it looks like a path. */
function isName(skill: Skill | SkillInfo | string): skill is string {
  return typeof skill === 'string' && !/[/\\]|^[.~]/.test(skill)
}

function unknownSkill(name: string, known: readonly SkillInfo[]): SkillNotFoundError {
  const names = known.map((skill) => skill.name).join(', ')
  return new SkillNotFoundError({
    code: 'skill-not-found',
    message: `The agent was given a skill called ${name}, and there is none.`,
    hint: `There ${names === '' ? 'are no skills here' : `are: ${names}`}. A path must contain a /.`,
  })
}
