import type { ModelMessage, ToolSet } from 'ai'
import { isObject } from '#core/json'
import type { SkillManager } from '#library/manager'
import type { Skill, SkillInfo } from '#library/model'
import {
  AgentEnvironment,
  type AgentOptions,
  agentOptions,
  defaultTimeoutMs,
  refuseText,
  runOptions,
} from './agent-options.ts'
import { fromToolSet } from './ai/tool-set.ts'
import { approvalPart } from './approval/permit.ts'
import { createBuiltInTools } from './built-in-tools/built-in-tools.ts'
import { checkAgentOptions } from './check-options.ts'
import { ConversationKeeper } from './conversation/keeper.ts'
import { usageError } from './errors.ts'
import { EventLog } from './events.ts'
import { McpPart } from './mcp-tools/mcp-part.ts'
import { AgentSession } from './session.ts'
import { SkillPart } from './skills/skill-part.ts'
import { warnProcess } from './skills/skill-set.ts'
import type { SubagentConfig } from './subagents/config.ts'
import {
  type DelegationHandle,
  requireSuccess,
  type SubagentResult,
} from './subagents/delegation.ts'
import { DelegationPart } from './subagents/delegation-tools.ts'
import { SubagentManager } from './subagents/manager.ts'
import type { SubagentParent } from './subagents/parent.ts'
import type { AgentEvent, AgentTool, LoopOutcome, RunOptions, TokenUsage } from './types.ts'
import { UsageLedger, type UsageReport } from './usage.ts'

/** The answer to one prompt. `messages` are those that were added to the conversation. */
export interface AgentResult extends LoopOutcome {
  /** Tokens of this run, including its delegations. */
  usage: TokenUsage
  durationMs: number
}

/** A running prompt: its events in order, and its result. */
export interface AgentStream extends AsyncIterable<AgentEvent> {
  readonly result: Promise<AgentResult>
}

/**
 * A model that works with tools until it answers, and one conversation with it. Skills and subagents
 * are searched for only if an option or a method asks for them.
 *
 * @example
 * const agent = new Agent({ model: 'anthropic:claude-sonnet-4-5', skills: ['code-review'] })
 * const { text, usage } = await agent.generate('/code-review src/index.ts')
 * await agent.close()
 */
export class Agent {
  readonly name: string
  readonly #environment: AgentEnvironment
  readonly #ledger = new UsageLedger()
  readonly #servers: McpPart
  readonly #session: AgentSession
  readonly #keeper: ConversationKeeper | undefined
  #skills: SkillPart | undefined
  /** The session's ID if no conversation is stored. */
  #sessionIdWithoutStore: string | undefined
  #subagents: SubagentManager | undefined
  #offersSubagents = false
  /** Listens to the events of the active run. */
  #listener: ((event: AgentEvent) => void) | undefined

  /**
   * @throws {AgentUsageError} for invalid options; {PromptTemplateError} for a variable of the
   *   instructions without a value; {SubagentConfigError} for an invalid definition.
   */
  constructor(options: AgentOptions) {
    refuseText(options)
    this.#environment = new AgentEnvironment(checkAgentOptions(options, agentOptions))
    this.name = this.#environment.name
    this.#servers = new McpPart(this.#environment, this.#note)
    this.#session = this.#openSession()
    this.#keeper = this.#openKeeper()

    const { skills, skillDirs, subagents } = this.#environment.options
    if (skills !== undefined || skillDirs !== undefined) this.#offerSkills()
    if (subagents !== undefined) this.#offerSubagents()
  }

  /** The conversation so far, without the instructions. */
  get messages(): readonly ModelMessage[] {
    return this.#session.messages
  }

  /** The ID of the stored conversation; undefined before the first run, or without a store. */
  get conversation(): string | undefined {
    return this.#keeper?.id
  }

  get usage(): UsageReport {
    return this.#ledger.report()
  }

  /** The tools that the model would be offered now. */
  listTools(): readonly AgentTool[] {
    return this.#session.tools()
  }

  /** Starts servers and finds skills and subagents, as every run does first. */
  async ready(): Promise<void> {
    await this.#prepare()
    await this.#session.prepare({ onEvent: this.#emit, signal: undefined })
  }

  /** Does the same as `generate`, which is the name in the documentation. */
  async run(prompt: string, options: RunOptions = {}): Promise<AgentResult> {
    return await this.generate(prompt, options)
  }

  /**
   * Sends a prompt and waits for the answer. A model that fails, a cancelled run and one that used up
   * its turns are results: see `status`. A prompt `/skill arguments` activates that skill as the user.
   *
   * @throws {ModelNotFoundError} for a model that cannot be resolved; {AgentUsageError} for an invalid
   *   prompt, or during another run; {SkillError} for a skill that may not be used.
   */
  async generate(prompt: string, options: RunOptions = {}): Promise<AgentResult> {
    requirePrompt(prompt)
    return await this.#run(prompt, options)
  }

  /**
   * Continues the last turn: asks again for the calls that wait for an approval and makes them, or
   * continues a turn whose process ended.
   *
   * @throws {AgentUsageError} `turn-complete` if there is nothing to continue; otherwise as `generate`.
   */
  async resume(options: RunOptions = {}): Promise<AgentResult> {
    return await this.#run(undefined, options)
  }

  /**
   * Sends a prompt and yields the events as they happen; text arrives while the model writes. The
   * reader and `result` receive what `generate` throws. A reader that stops early ends the run.
   *
   * @example
   * const stream = agent.stream('Summarise the README.')
   * for await (const event of stream) if (event.type === 'text') process.stdout.write(event.text)
   * const { status } = await stream.result
   */
  stream(prompt: string, options: RunOptions = {}): AgentStream {
    requirePrompt(prompt)
    const events = new EventLog<AgentEvent>()
    const leaving = new AbortController()
    const signals = [options.signal ?? [], leaving.signal].flat()
    const result = this.#run(prompt, {
      stream: true,
      ...options,
      signal: AbortSignal.any(signals),
      onEvent(event) {
        events.add(event)
        options.onEvent?.(event)
      },
    })
    result.then(
      () => events.end(),
      (thrown: unknown) => events.end({ thrown }),
    )
    const completion = result.catch(() => undefined)
    async function* readEvents(): AsyncIterableIterator<AgentEvent> {
      try {
        yield* events.read()
      } finally {
        // A reader that stops wants nothing more: the run ends, and the agent is free again.
        leaving.abort()
        await completion
      }
    }
    return { result, [Symbol.asyncIterator]: readEvents }
  }

  /** Sends a message to a run; the model reads it before its next step. */
  steer(text: string): void {
    this.#session.steer(text)
  }

  /** The skills of this agent; created on first use. */
  get skillManager(): SkillManager {
    return this.#offerSkills().manager
  }

  /** @throws {SkillError} as `SkillManager.register`. */
  async registerSkill(skill: Skill | SkillInfo | string): Promise<SkillInfo> {
    return await (await this.#readySkills()).register(skill)
  }

  /** @throws {SkillError} for a skill that exists and cannot be used. */
  async getSkill(name: string): Promise<Skill | undefined> {
    return await (await this.#readySkills()).get(name)
  }

  async listSkills(): Promise<readonly SkillInfo[]> {
    return await (await this.#readySkills()).list()
  }

  /**
   * Activates a skill as the program and returns its content, to be used in a prompt; it stays active
   * until the end of the next run. A skill with `context: fork` is executed by a subagent, and its
   * answer is returned.
   *
   * @example await agent.generate(await agent.invokeSkill('code-review', 'src/index.ts'))
   * @throws {SkillError} as `SkillManager.activate`; {SubagentError} for a fork that fails.
   */
  async invokeSkill(name: string, ...args: readonly string[]): Promise<string> {
    await this.#readySkills()
    const { answer } = await this.#offerSkills().use(name, joinArguments(args), 'code', {
      onEvent: this.#emit,
    })
    return answer
  }

  /** Ends an activation; tools and approvals are as before. False if the skill is not active. */
  async deactivateSkill(name: string): Promise<boolean> {
    return await this.#offerSkills().end(name)
  }

  /** The facts of this agent that `new SubagentManager(agent, …)` needs. */
  get subagentParent(): SubagentParent {
    return {
      environment: this.#environment,
      servers: this.#servers,
      tools: () => this.listTools(),
      skills: () => this.#skills,
      exhausted: this.#ledger.exhausted,
      onUsage: this.#ledger.record,
      onEvent: this.#emit,
    }
  }

  /** The subagents of this agent; created on first use, from which on the model is offered them. */
  get subagentManager(): SubagentManager {
    return this.#offerSubagents()
  }

  /** @throws {SubagentConfigError} for an invalid definition, or a name that is taken. */
  registerSubagent(config: SubagentConfig): void {
    this.subagentManager.register(config)
  }

  async listSubagents(): Promise<readonly SubagentConfig[]> {
    return await this.subagentManager.list()
  }

  /** Delegates a task to a subagent and waits. See `SubagentManager.delegate`. */
  async delegate(...work: Parameters<SubagentManager['delegate']>): Promise<SubagentResult> {
    return await (await this.delegateAsync(...work)).result()
  }

  /** Delegates a task to a subagent and returns at once. See `SubagentManager.delegateAsync`. */
  async delegateAsync(
    ...work: Parameters<SubagentManager['delegateAsync']>
  ): Promise<DelegationHandle> {
    await this.#prepare()
    return await this.subagentManager.delegateAsync(...work)
  }

  /** Ends an active run with its tools, delegations and servers. */
  async close(): Promise<void> {
    await this.#session.close()
  }

  async #run(prompt: string | undefined, runSettings: RunOptions): Promise<AgentResult> {
    const options = checkAgentOptions(runSettings, runOptions)
    const { runtime } = this.#environment
    const startedAt = runtime.elapsed()
    await this.#prepare()
    // The session refuses a second run at the same time, which must not disturb the first one.
    const isFirst = !this.#session.running
    const keeper = isFirst ? this.#keeper : undefined
    // Without a store nothing is awaited here, so that no other run can begin in between.
    const release = keeper && (await keeper.begin(prompt))
    const usage = this.#ledger.begin(options.maxTokens ?? this.#environment.options.maxTokens)
    if (isFirst) this.#listener = options.onEvent
    try {
      const run = { ...options, onEvent: this.#emit }
      const outcome = await usage.within(() => this.#session.run(prompt, run))
      await keeper?.save(outcome.status)
      return {
        ...outcome,
        usage: usage.used,
        durationMs: Math.round(runtime.elapsed() - startedAt),
      }
    } finally {
      if (isFirst) this.#listener = undefined
      release?.()
    }
  }

  /** @throws {SettingsError} for settings with errors; {SkillError} for an unusable skill option. */
  async #prepare(): Promise<void> {
    this.#environment.requireSettings()
    await this.#skills?.ready()
  }

  readonly #emit = (event: AgentEvent) => {
    for (const listener of [this.#environment.options.onEvent, this.#listener]) {
      try {
        listener?.(event)
      } catch {
        // The listener is responsible for its errors.
      }
    }
  }

  readonly #note = (message: string) => this.#emit({ type: 'notice', agent: this.name, message })

  #openSession(): AgentSession {
    const { options } = this.#environment
    const instructions = async () => this.#environment.instructions()
    const tools = this.#ownTools()
    const approval = approvalPart({
      ...this.#environment.permit,
      rules: () => this.#skills?.rules,
    })
    return new AgentSession({
      ...options,
      timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
      agent: this.name,
      model: () => this.#environment.model(),
      parts: [{ instructions, tools: () => tools }, this.#servers, approval],
      usage: this.#ledger,
      onMessages: async () => this.#keeper?.save('running'),
    })
  }

  /** The program's tools and the built-in ones. */
  #ownTools(): readonly AgentTool[] {
    const { runtime, project, options } = this.#environment
    const { tools = [], builtIns } = options
    const builtInTools = createBuiltInTools(builtIns ?? [], {
      project,
      runtime,
      environment: builtIns ? this.#environment.settings.run.environment : [],
      readable: () => this.#skills?.directories ?? [],
    })
    const programTools = isList(tools) ? tools : fromToolSet(tools)
    return [...programTools, ...builtInTools]
  }

  #openKeeper(): ConversationKeeper | undefined {
    const { options, runtime } = this.#environment
    const { store, conversation: reference, model } = options
    if (store === undefined && reference === undefined) return undefined
    if (store === undefined) {
      throw usageError('store-missing', 'A conversation can only be continued from a store.')
    }
    return new ConversationKeeper({
      store,
      reference,
      runtime,
      model: typeof model === 'string' ? model : model.modelId,
      notice: this.#note,
      used: () => this.#ledger.report().total,
      state: () => ({
        messages: [...this.messages],
        waiting: [...this.#session.waiting],
        skills: [...(this.#skills?.turnSkills ?? [])],
        delegations: this.#subagents?.stored ?? [],
      }),
      restore: ({ messages, waiting, skills, delegations }) => {
        this.#session.restore(messages, waiting)
        if (this.#skills) this.#skills.turnSkills = skills
        if (delegations.length > 0) this.#manager().restore(delegations)
      },
    })
  }

  #sessionId(): string | undefined {
    if (this.#keeper) return this.#keeper.sessionId
    this.#sessionIdWithoutStore ??= this.#environment.runtime.id()
    return this.#sessionIdWithoutStore
  }

  #offerSkills(): SkillPart {
    if (this.#skills) return this.#skills
    this.#skills = new SkillPart(this.#environment, {
      sessionId: () => this.#sessionId(),
      // Without a listener a program would never learn why its skills have less effect than they declare.
      warn: this.#environment.options.onEvent ? this.#note : warnProcess,
      serverTools: (server, signal) => this.#servers.serverTools(server, signal),
      fork: async (activation, run) =>
        requireSuccess(await this.#manager().fork(activation, run)).output,
    })
    this.#session.join(this.#skills)
    return this.#skills
  }

  async #readySkills(): Promise<SkillManager> {
    const skills = this.#offerSkills()
    await skills.ready()
    return skills.manager
  }

  #offerSubagents(): SubagentManager {
    const manager = this.#manager()
    if (!this.#offersSubagents) this.#session.join(new DelegationPart(manager))
    this.#offersSubagents = true
    return manager
  }

  #manager(): SubagentManager {
    const environment = this.#environment
    const { subagents, concurrency, discover } = environment.options
    this.#subagents ??= new SubagentManager(this.subagentParent, subagents, {
      files: discover === false ? undefined : environment.places,
      concurrency,
    })
    return this.#subagents
  }
}

/** @throws {AgentUsageError} for anything but a text, such as the messages of the AI SDK. */
function requirePrompt(prompt: unknown): void {
  if (typeof prompt === 'string') return
  const hint = isObject(prompt)
    ? 'An agent keeps its own conversation. In an application of the AI SDK, use createSkills of skillrail/ai.'
    : undefined
  throw usageError('prompt-invalid', 'A prompt is a text.', hint)
}

/** Several arguments as one text: one with blanks or quotes is quoted. */
function joinArguments(args: readonly string[]) {
  const quotedArgs = args.map((text) =>
    /^[^\s"'\\]+$/.test(text) ? text : `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`,
  )
  return args.length === 1 ? args.join('') : quotedArgs.join(' ')
}

function isList(tools: readonly AgentTool[] | ToolSet): tools is readonly AgentTool[] {
  return Array.isArray(tools)
}
