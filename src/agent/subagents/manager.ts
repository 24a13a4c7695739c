import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { Activation } from '#library/activation'
import { defaultTimeoutMs } from '#agent/agent-options'
import { checkArgument, listOf, oneOf, type OptionOwner, rule } from '#core/api-options'
import { isObject } from '#core/json'
import { checkAgentOptions, limits, requireOptions, runLimits } from '#agent/check-options'
import type { StoredDelegation } from '#agent/conversation/store'
import { SubagentConfigError, SubagentDelegationError, usageError } from '#agent/errors'
import { Queue } from '#agent/queue'
import { Stopper } from '#agent/stopper'
import type { TokenUsage, UsageEntry } from '#agent/types'
import { UsageLedger } from '#agent/usage'
import { type DelegateOptions, requireConfig, type SubagentConfig } from './config.ts'
import { DelegationHandle, refuseNesting, type SubagentResult } from './delegation.ts'
import {
  type AgentDiscovery,
  discoverAgents,
  type DiscoverAgentsOptions,
  subagentNotFound,
} from './discover-agents.ts'
import type { SubagentParent } from './parent.ts'
import { cycleHint, findCycle, forkedTask, forkName } from './skills.ts'
import { type DelegationRequest, SubagentSession } from './subagent-session.ts'

const managerOptions: OptionOwner<SubagentManagerOptions> = {
  of: 'a SubagentManager',
  rules: { files: rule.object, concurrency: rule.anything },
}

const delegateOptions: OptionOwner<DelegateOptions> = {
  of: 'a delegation',
  rules: {
    context: rule.text,
    contextMessages: listOf('messages', isObject),
    model: { form: 'a text or a model', fits: (one) => typeof one === 'string' || isObject(one) },
    maxTurns: rule.anything,
    outputSchema: rule.object,
    timeoutMs: rule.anything,
    maxTokens: rule.anything,
    source: oneOf('user', 'model', 'code'),
    signal: rule.object,
    onEvent: rule.callback,
    stream: rule.flag,
  },
}

const maxFinished = 20

const defaultConcurrency = 10

export interface SubagentManagerOptions {
  /** Where definitions in files are searched; default: nowhere. */
  files?: DiscoverAgentsOptions | undefined
  /** Maximum number of delegations that run at once; the others wait in order. Default 10. */
  concurrency?: number | undefined
}

/**
 * Creates subagents and delegates tasks to them. Each subagent has a conversation, tools and usage of
 * its own. {@link SubagentParent} lists everything that it shares with the delegating agent.
 *
 * @example
 * const { output, success } = await agent.subagentManager.delegate('reviewer', 'Review src/a.ts')
 */
export class SubagentManager {
  readonly #parent: SubagentParent
  readonly #files: DiscoverAgentsOptions | undefined
  readonly #queue: Queue
  /** Definitions that the program registered, by name. */
  readonly #registered = new Map<string, SubagentConfig>()
  /** Names that the program deregistered: definitions in files with these names are hidden. */
  readonly #deregistered = new Set<string>()
  #discovery: AgentDiscovery | undefined
  /** Delegations that can be resumed, including those of other processes. */
  readonly #finished = new Map<string, FinishedDelegation>()
  readonly #active = new Map<string, DelegationHandle>()
  readonly #usage = new UsageLedger()

  /**
   * @throws {SubagentConfigError} for an invalid definition; {AgentUsageError} for an invalid option.
   */
  constructor(
    parent: SubagentParent | { readonly subagentParent: SubagentParent },
    configs: readonly SubagentConfig[] = [],
    rawOptions: SubagentManagerOptions = {},
  ) {
    const options = checkAgentOptions(rawOptions, managerOptions)
    requireOptions(managerLimits, options, 'a SubagentManager')
    const { files, concurrency = defaultConcurrency } = options
    this.#parent = parentOf(parent)
    this.#files = files
    this.#queue = new Queue(concurrency)
    checkArgument(configs, 'The definitions of subagents', listOf('objects', isObject))
    for (const config of configs) this.register(config)
  }

  /** @throws {SubagentConfigError} for an invalid definition, or a different one with this name. */
  register(definition: SubagentConfig): void {
    const config = Object.freeze(requireConfig(definition))
    const { name } = config
    if (!isDeepStrictEqual(this.#registered.get(name) ?? config, config)) {
      const message = `There is another subagent called ${name}.`
      throw new SubagentConfigError({ code: 'subagent-twice', message })
    }
    this.#registered.set(name, config)
    this.#deregistered.delete(name)
  }

  /** Removes a definition; running delegations to it continue. Returns whether there was one. */
  async deregister(name: string): Promise<boolean> {
    const exists = this.#config(name) !== undefined
    this.#registered.delete(name)
    this.#deregistered.add(name)
    return exists
  }

  /** Returns all definitions: those of the program in their order, then those of files. */
  async list(): Promise<readonly SubagentConfig[]> {
    return this.#configs()
  }

  async get(name: string): Promise<SubagentConfig | undefined> {
    return this.#config(name)
  }

  /**
   * Creates a subagent for a task. Its model is not called before `run` or `start`.
   *
   * @throws {SubagentNotFoundError | SubagentNestingError | SubagentConfigError} for a subagent that
   *   cannot be delegated to; {@link SubagentDelegationError} for an empty task; {SkillNotFoundError}
   *   for a skill of the definition that does not exist.
   */
  async spawn(name: string, task: string, options: DelegateOptions = {}): Promise<Subagent> {
    const checkedOptions = checkAgentOptions(options, delegateOptions)
    const request = { config: this.#requireConfig(name), task, options: checkedOptions }
    const subagent = await this.#create(request, checkedOptions.signal)
    const start = () => this.#start(subagent, request, this.#stopperFor(request))
    return {
      id: subagent.id,
      name: subagent.config.name,
      task,
      status: 'created',
      tools: subagent.conversation.tools().map((tool) => tool.name),
      notices: subagent.notices,
      run: () => start().result(),
      start,
    }
  }

  /** Delegates a task to a subagent that is not registered, and waits. Throws as `spawn`. */
  async spawnDynamic(
    config: SubagentConfig,
    task: string,
    options: DelegateOptions = {},
  ): Promise<SubagentResult> {
    return await (await this.#begin({ config: requireConfig(config), task, options })).result()
  }

  /** Delegates a task and waits for the result, which may be a failure. Throws as `spawn`. */
  async delegate(name: string, task: string, options?: DelegateOptions): Promise<SubagentResult> {
    return await (await this.delegateAsync(name, task, options)).result()
  }

  /** Delegates a task in the background. Throws as `spawn`. */
  async delegateAsync(
    name: string,
    task: string,
    options: DelegateOptions = {},
  ): Promise<DelegationHandle> {
    return await this.#begin({ config: this.#requireConfig(name), task, options })
  }

  /**
   * Carries out a skill with `context: fork` in a subagent. The activation comes from
   * `SkillManager.prepare`, so that the skill does not become active in the parent.
   *
   * @throws as `spawn`, and {SkillInvocationError} for a skill that may not run in a subagent.
   */
  async fork(activation: Activation, options: DelegateOptions = {}): Promise<SubagentResult> {
    const agent = activation.effects.fork?.agent
    refuseNesting(agent ?? forkName(activation.name))
    const config = agent === undefined ? undefined : this.#requireConfig(agent)
    await this.#refuseCycle(`skill:${activation.name}`)
    const forkTask = forkedTask(activation, config, this.#parent.environment.options)
    const handle = await this.#begin({ ...forkTask, options, forked: activation })
    return await handle.result()
  }

  /**
   * Resumes a finished delegation with a further task, in its conversation.
   *
   * @throws {SubagentDelegationError} for a delegation that is not finished, or no longer kept.
   */
  async resume(id: string, task: string, options: DelegateOptions = {}): Promise<DelegationHandle> {
    refuseNesting(id)
    const running = this.#active.get(id)
    if (running) {
      const message = `The delegation ${id} to ${running.subagentName} is not over.`
      throw new SubagentDelegationError({ code: 'delegation-running', message })
    }
    const finishedDelegation = this.#finished.get(id)
    if (!finishedDelegation) {
      const message = `There is no finished delegation ${id} to resume.`
      const ids = [...this.#finished.keys()].join(', ')
      const hint = `Only the last ones are kept. There are ${ids || 'none'}.`
      throw new SubagentDelegationError({ code: 'delegation-unknown', message, hint })
    }
    const { subagent, messages: contextMessages, used, request } = finishedDelegation
    const { model, maxTurns, maxTokens, outputSchema } = request?.options ?? {}
    const previousOptions = { model, maxTurns, maxTokens, outputSchema }
    this.#finished.delete(id)
    try {
      return await this.#begin({
        id,
        config: request?.config ?? this.#requireConfig(subagent),
        task,
        options: { ...previousOptions, ...options, contextMessages },
        forked: request?.forked,
        usedBefore: used,
      })
    } catch (error) {
      this.#finished.set(id, finishedDelegation)
      throw error
    }
  }

  /** Finished delegations for another process. It cannot resume those without a named definition. */
  get stored(): StoredDelegation[] {
    return Array.from(this.#finished, ([id, { subagent, messages, used, request }]) => {
      const canResume = !request || this.#config(subagent) !== undefined
      return canResume ? [{ id, subagent, messages, used }] : []
    }).flat()
  }

  /**
   * Replaces the delegations of other processes by these. To resume one takes the definition and the
   * trust that its subagent has at that time.
   */
  restore(delegations: readonly StoredDelegation[]): void {
    for (const [id, { request }] of this.#finished) if (!request) this.#finished.delete(id)
    for (const { id, ...delegation } of delegations) {
      if (!this.#finished.has(id)) this.#finished.set(id, delegation)
    }
  }

  getActiveDelegations(): readonly DelegationHandle[] {
    return [...this.#active.values()]
  }

  /** Returns the tokens that each subagent used, by name. */
  getUsageBreakdown(): Readonly<Record<string, TokenUsage>> {
    return this.#usage.report().byAgent
  }

  /** Cancels all running delegations, and waits for their end. */
  async cancelAll(): Promise<readonly SubagentResult[]> {
    const handles = this.getActiveDelegations()
    for (const handle of handles) handle.cancel()
    return await Promise.all(handles.map((handle) => handle.result()))
  }

  #configs(): SubagentConfig[] {
    const fromFiles = this.#discover()
      .agents.map(({ config }) => config)
      .filter(({ name }) => !this.#registered.has(name) && !this.#deregistered.has(name))
    return [...this.#registered.values(), ...fromFiles]
  }

  #config(name: string): SubagentConfig | undefined {
    return this.#configs().find((config) => config.name === name)
  }

  #requireConfig(name: string): SubagentConfig {
    refuseNesting(name)
    const config = this.#config(name)
    if (config) return config
    throw subagentNotFound(name, this.#configs(), this.#discover())
  }

  #discover(): AgentDiscovery {
    this.#discovery ??= this.#files ? discoverAgents(this.#files) : noFiles
    return this.#discovery
  }

  async #begin(request: DelegationRequest): Promise<DelegationHandle> {
    const checkedRequest = {
      ...request,
      options: checkAgentOptions(request.options, delegateOptions),
    }
    // The time limit includes the start of the MCP servers.
    const stopper = this.#stopperFor(checkedRequest)
    try {
      const subagent = await this.#create(checkedRequest, stopper.signal)
      return this.#start(subagent, checkedRequest, stopper)
    } catch (error) {
      stopper.end()
      throw error
    }
  }

  async #create(
    request: DelegationRequest,
    signal: AbortSignal | undefined,
  ): Promise<SubagentSession> {
    const { config, task, forked } = request
    refuseNesting(config.name)
    requireTask(task, config.name)
    const hasSkills = (config.skills?.length ?? 0) > 0
    if (!forked && hasSkills) await this.#refuseCycle(`agent:${config.name}`, config)
    const parent = this.#parent
    try {
      await parent.servers?.ready(signal)
    } catch (error) {
      // A delegation that was stopped returns a result and does not throw.
      if (signal?.aborted !== true) throw error
    }
    const onUsage = (entry: UsageEntry) => {
      this.#usage.record(entry)
      parent.onUsage(entry)
    }
    return await SubagentSession.create({ ...request, parent, signal, onUsage })
  }

  /** @param config the definition that is used for its name, if it is not registered. */
  async #refuseCycle(start: string, config?: SubagentConfig): Promise<void> {
    const skills = (await this.#parent.skills()?.manager.list()) ?? []
    const configOf = (name: string) => (name === config?.name ? config : this.#config(name))
    const cycle = findCycle(start, skills, configOf)
    if (!cycle) return
    const message = `Skills and subagents refer to one another in a circle: ${cycle.join(' -> ')}.`
    throw new SubagentConfigError({ code: 'subagent-cycle', message, hint: cycleHint })
  }

  #stopperFor({ config, options }: DelegationRequest): Stopper {
    requireOptions(runLimits, options, 'a delegation')
    const { signal, timeoutMs } = options
    const parentTimeoutMs = this.#parent.environment.options.timeoutMs
    const limit = timeoutMs ?? config.config?.timeoutMs ?? parentTimeoutMs ?? defaultTimeoutMs
    return new Stopper(signal, limit)
  }

  #start(
    subagent: SubagentSession,
    request: DelegationRequest,
    stopper: Stopper,
  ): DelegationHandle {
    const { id } = subagent
    const onEnd = () => {
      this.#active.delete(id)
      this.#finished.set(id, {
        subagent: subagent.config.name,
        messages: [...subagent.conversation.messages],
        used: subagent.totalUsed,
        request,
      })
      const [oldest = ''] = this.#finished.keys()
      if (this.#finished.size > maxFinished) this.#finished.delete(oldest)
    }
    const handle = new DelegationHandle({
      ...request,
      subagent,
      queue: this.#queue,
      stopper,
      onEnd,
    })
    this.#active.set(id, handle)
    return handle
  }
}

/** A subagent that was created for a task and has not started it. */
export interface Subagent {
  readonly id: string
  readonly name: string
  readonly task: string
  readonly status: 'created'
  readonly tools: readonly string[]
  /** Sentences about tools that the subagent should have and does not get. */
  readonly notices: readonly string[]
  /** Carries out the task and waits for the result. */
  run(): Promise<SubagentResult>
  /** Carries out the task in the background. */
  start(): DelegationHandle
}

const managerLimits = z.strictObject({
  files: z.unknown().optional(),
  concurrency: limits.concurrency,
})

interface FinishedDelegation extends Omit<StoredDelegation, 'id'> {
  /** Undefined for a delegation that another process carried out. */
  request?: DelegationRequest | undefined
}

const noFiles: AgentDiscovery = { agents: [], withheld: [], broken: [], diagnostics: [] }

/** @throws {SubagentDelegationError} for a task without a word in it. */
function requireTask(task: string, name: string) {
  if (typeof task === 'string' && task.trim() !== '') return
  const message = `The task for ${name} is empty: a subagent knows nothing but its task.`
  throw new SubagentDelegationError({ code: 'task-empty', message })
}

/** @throws {AgentUsageError} for a value that is neither an agent nor a {@link SubagentParent}. */
function parentOf(
  agent: SubagentParent | { readonly subagentParent: SubagentParent },
): SubagentParent {
  const parent: unknown =
    isObject(agent) && 'subagentParent' in agent ? agent.subagentParent : agent
  if (isParent(parent)) return parent
  const message = 'A SubagentManager needs the agent that delegates to its subagents.'
  throw usageError('parent-invalid', message, 'Write new SubagentManager(agent, configs).')
}

function isParent(value: unknown): value is SubagentParent {
  if (!isObject(value) || !isObject(value['environment'])) return false
  const callbacks = ['tools', 'skills', 'onUsage', 'onEvent'] as const
  return callbacks.every((name) => typeof value[name] === 'function')
}
