import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { Activation } from '#library/activation'
import { defaultTimeoutMs } from '#agent/agent-options'
import { limits, requireOptions, runLimits } from '#agent/check-options'
import type { Conversation } from '#agent/conversation/store'
import { SubagentConfigError, SubagentDelegationError } from '#agent/errors'
import { Queue } from '#agent/queue'
import { Stopper } from '#agent/stopper'
import type { TokenUsage, UsageEntry } from '#agent/types'
import { UsageLedger } from '#agent/usage'
import { Child, type Work } from './child.ts'
import {
  type DelegateOptions,
  requireConfig,
  type SubagentConfig,
  type SubagentParent,
} from './config.ts'
import { DelegationHandle, refuseNesting, type SubagentResult } from './delegation.ts'
import {
  type AgentDiscovery,
  discoverAgents,
  type DiscoverAgentsOptions,
  subagentNotFound,
} from './discover-agents.ts'
import { cycleHint, findCycle, forkName, forkOf } from './skills.ts'

const keptDelegations = 20

/** PRD 6.3: ten and more delegations at once. */
const defaultConcurrency = 10

export interface SubagentManagerOptions {
  files?: DiscoverAgentsOptions | undefined
  /** Delegations that work at once, at least 1; the others wait in order. Default 10. */
  concurrency?: number | undefined
}

/**
 * Makes subagents and hands tasks to them. Each has a conversation, tools and usage of its own; what
 * it shares with the agent that delegates is in {@link SubagentParent}.
 *
 * @example
 * const { output, success } = await agent.subagentManager.delegate('reviewer', 'Review src/a.ts')
 */
export class SubagentManager {
  readonly #parent: SubagentParent
  readonly #files: DiscoverAgentsOptions | undefined
  readonly #queue: Queue
  readonly #inCode = new Map<string, SubagentConfig>()
  readonly #removed = new Set<string>()
  #found: AgentDiscovery | undefined
  /** Delegations that are over and can be resumed, also those of another process. */
  readonly #finished = new Map<string, Finished>()
  readonly #active = new Map<string, DelegationHandle>()
  readonly #usage = new UsageLedger()

  /**
   * @throws {SubagentConfigError} for a definition that cannot be used; {AgentUsageError} for a
   *   concurrency that is not a whole number of at least 1.
   */
  constructor(
    parent: SubagentParent,
    configs: readonly SubagentConfig[] = [],
    options: SubagentManagerOptions = {},
  ) {
    requireOptions(managerOptions, options, 'a SubagentManager')
    const { files, concurrency = defaultConcurrency } = options
    this.#parent = parent
    this.#files = files
    this.#queue = new Queue(concurrency)
    for (const config of configs) this.register(config)
  }

  /** @throws {SubagentConfigError} for one that cannot be used, or another one of that name. */
  register(given: SubagentConfig): void {
    const config = Object.freeze(requireConfig(given))
    const { name } = config
    if (!isDeepStrictEqual(this.#inCode.get(name) ?? config, config)) {
      const message = `There is another subagent called ${name}.`
      throw new SubagentConfigError({ code: 'subagent-twice', message })
    }
    this.#inCode.set(name, config)
    this.#removed.delete(name)
  }

  /** Removes a definition; running delegations to it continue. False when there was none. */
  async deregister(name: string): Promise<boolean> {
    const known = this.#config(name) !== undefined
    this.#inCode.delete(name)
    this.#removed.add(name)
    return known
  }

  /** Every definition: those of the program in their order, then those of files. */
  async list(): Promise<readonly SubagentConfig[]> {
    return this.#configs()
  }

  async get(name: string): Promise<SubagentConfig | undefined> {
    return this.#config(name)
  }

  /**
   * Makes a subagent of a definition, without asking its model yet.
   *
   * @throws {SubagentNotFoundError | SubagentNestingError | SubagentConfigError} for what cannot be
   *   delegated to; {@link SubagentDelegationError} for an empty task; {SkillNotFoundError} for a
   *   skill that it is to have and that is not there.
   */
  async spawn(name: string, task: string, options: DelegateOptions = {}): Promise<Subagent> {
    const work = { config: this.#required(name), task, options }
    const child = await this.#create(work, options.signal)
    const start = () => this.#start(child, work, this.#stopperFor(work))
    return {
      id: child.id,
      name: child.config.name,
      task,
      status: 'created',
      tools: child.session.tools().map((tool) => tool.name),
      notices: child.notices,
      run: () => start().result(),
      start,
    }
  }

  /** Hands a task to a subagent of a definition made for it. Throws as `spawn`. */
  async spawnDynamic(
    config: SubagentConfig,
    task: string,
    options: DelegateOptions = {},
  ): Promise<SubagentResult> {
    return await (await this.#begin({ config: requireConfig(config), task, options })).result()
  }

  /** Hands a task on and waits; a failure is a result. Throws as `spawn`. */
  async delegate(name: string, task: string, options?: DelegateOptions): Promise<SubagentResult> {
    return await (await this.delegateAsync(name, task, options)).result()
  }

  /** Hands a task on and returns at once. Throws as `spawn`. */
  async delegateAsync(
    name: string,
    task: string,
    options: DelegateOptions = {},
  ): Promise<DelegationHandle> {
    return await this.#begin({ config: this.#required(name), task, options })
  }

  /**
   * Carries out a skill with `context: fork` in a subagent. The activation comes from
   * `SkillManager.prepare`, so that the skill does not become active in the parent.
   *
   * @throws as `spawn`, and {SkillInvocationError} for a skill that may not.
   */
  async fork(activation: Activation, options: DelegateOptions = {}): Promise<SubagentResult> {
    const agent = activation.effects.fork?.agent
    refuseNesting(agent ?? forkName(activation.name))
    const named = agent === undefined ? undefined : this.#required(agent)
    await this.#refuseCycle(`skill:${activation.name}`)
    const work = {
      ...forkOf(activation, named, this.#parent.environment.options),
      options,
      forked: activation,
    }
    return await (await this.#begin(work)).result()
  }

  /**
   * Resumes a finished delegation with a further task, in its conversation.
   *
   * @throws {SubagentDelegationError} for one that is not finished, or is no longer kept.
   */
  async resume(id: string, task: string, options: DelegateOptions = {}): Promise<DelegationHandle> {
    refuseNesting(id)
    const running = this.#active.get(id)
    if (running) {
      const message = `The delegation ${id} to ${running.subagentName} is not over.`
      throw new SubagentDelegationError({ code: 'delegation-running', message })
    }
    const finished = this.#finished.get(id)
    if (!finished) {
      const message = `There is no finished delegation ${id} to resume.`
      const known = [...this.#finished.keys()].join(', ')
      const hint = `Only the last ones are kept. There are ${known || 'none'}.`
      throw new SubagentDelegationError({ code: 'delegation-unknown', message, hint })
    }
    const { subagent, messages: contextMessages, used, work } = finished
    const { model, maxTurns, maxTokens, outputSchema } = work?.options ?? {}
    const before = { model, maxTurns, maxTokens, outputSchema }
    this.#finished.delete(id)
    try {
      return await this.#begin({
        id,
        config: work?.config ?? this.#required(subagent),
        task,
        options: { ...before, ...options, contextMessages },
        forked: work?.forked,
        usedBefore: used,
      })
    } catch (error) {
      this.#finished.set(id, finished)
      throw error
    }
  }

  /** Finished delegations to known subagents, for another process that continues the conversation. */
  get stored(): StoredDelegation[] {
    return Array.from(this.#finished, ([id, { subagent, messages, used, work }]) => {
      const isKnown = !work || this.#config(subagent) !== undefined
      return isKnown ? [{ id, subagent, messages, used }] : []
    }).flat()
  }

  /** Whoever resumes one gets the definition of then, checked again under the trust of then. */
  restore(delegations: readonly StoredDelegation[]): void {
    for (const [id, { work }] of this.#finished) if (!work) this.#finished.delete(id)
    for (const { id, ...one } of delegations) {
      if (!this.#finished.has(id)) this.#finished.set(id, one)
    }
  }

  getActiveDelegations(): readonly DelegationHandle[] {
    return [...this.#active.values()]
  }

  /** What the subagents used, by their names. */
  getUsageBreakdown(): Readonly<Record<string, TokenUsage>> {
    return this.#usage.report().byAgent
  }

  /** Cancels all running delegations, and waits for their end. */
  async cancelAll(): Promise<readonly SubagentResult[]> {
    const handles = this.getActiveDelegations()
    for (const handle of handles) handle.cancel()
    return await Promise.all(handles.map((handle) => handle.result()))
  }

  #configs() {
    const ofFiles = this.#discovery()
      .agents.map(({ config }) => config)
      .filter(({ name }) => !this.#inCode.has(name) && !this.#removed.has(name))
    return [...this.#inCode.values(), ...ofFiles]
  }

  #config(name: string) {
    return this.#configs().find((config) => config.name === name)
  }

  #discovery(): AgentDiscovery {
    this.#found ??= this.#files ? discoverAgents(this.#files) : nothing
    return this.#found
  }

  #required(name: string) {
    refuseNesting(name)
    const config = this.#config(name)
    if (config) return config
    throw subagentNotFound(name, this.#configs(), this.#discovery())
  }

  /** Its time includes the start of servers that its tools come from. */
  async #begin(work: Work): Promise<DelegationHandle> {
    const stopper = this.#stopperFor(work)
    try {
      const child = await this.#create(work, stopper.signal)
      return this.#start(child, work, stopper)
    } catch (error) {
      stopper.end()
      throw error
    }
  }

  async #create(work: Work, signal: AbortSignal | undefined): Promise<Child> {
    const { config, task, forked } = work
    refuseNesting(config.name)
    requireTask(task, config.name)
    if (!forked && (config.skills?.length ?? 0) > 0) {
      await this.#refuseCycle(`agent:${config.name}`, config)
    }
    const parent = this.#parent
    try {
      await parent.servers?.ready(signal)
    } catch (error) {
      // What comes of a delegation that was stopped is its result.
      if (signal?.aborted !== true) throw error
    }
    const onUsage = (entry: UsageEntry) => {
      this.#usage.record(entry)
      parent.onUsage(entry)
    }
    return await Child.create({ ...work, parent, signal, onUsage })
  }

  async #refuseCycle(start: string, config?: SubagentConfig): Promise<void> {
    const skills = (await this.#parent.skills()?.manager.list()) ?? []
    const configOf = (name: string) => (name === config?.name ? config : this.#config(name))
    const cycle = findCycle(start, skills, configOf)
    if (!cycle) return
    const message = `Skills and subagents refer to one another in a circle: ${cycle.join(' -> ')}.`
    throw new SubagentConfigError({ code: 'subagent-cycle', message, hint: cycleHint })
  }

  #stopperFor({ config, options }: Work): Stopper {
    requireOptions(runLimits, options, 'a delegation')
    const { signal, timeoutMs } = options
    const ofParent = this.#parent.environment.options.timeoutMs
    const limit = timeoutMs ?? config.config?.timeoutMs ?? ofParent ?? defaultTimeoutMs
    return new Stopper(signal, limit)
  }

  #start(child: Child, work: Work, stopper: Stopper): DelegationHandle {
    const { id, session } = child
    const onEnd = () => {
      this.#active.delete(id)
      const messages = [...session.messages]
      const subagent = child.config.name
      this.#finished.set(id, { subagent, messages, used: child.usedInAll, work })
      const [oldest = ''] = this.#finished.keys()
      if (this.#finished.size > keptDelegations) this.#finished.delete(oldest)
    }
    const handle = new DelegationHandle({ ...work, child, queue: this.#queue, stopper, onEnd })
    this.#active.set(id, handle)
    return handle
  }
}

const managerOptions = z.strictObject({
  files: z.unknown().optional(),
  concurrency: limits.concurrency,
})

type StoredDelegation = Conversation['delegations'][number]

/** `work` is undefined for one of another process. */
interface Finished extends Omit<StoredDelegation, 'id'> {
  work?: Work | undefined
}

const nothing: AgentDiscovery = { agents: [], withheld: [], broken: [], diagnostics: [] }

/** A subagent that was made for a task and does not work on it yet. */
export interface Subagent {
  readonly id: string
  readonly name: string
  readonly task: string
  readonly status: 'created'
  readonly tools: readonly string[]
  /** What was asked for and is not there. */
  readonly notices: readonly string[]
  /** Works on the task, and waits for the end. */
  run(): Promise<SubagentResult>
  /** Works on the task in the background. */
  start(): DelegationHandle
}

/** @throws {SubagentDelegationError} for a task without a word in it. */
function requireTask(task: string, name: string) {
  if (typeof task === 'string' && task.trim() !== '') return
  const message = `The task for ${name} is empty: a subagent knows nothing but its task.`
  throw new SubagentDelegationError({ code: 'task-empty', message })
}
