import type {
  Agent as AiAgent,
  AgentCallParameters,
  AgentStreamParameters,
  GenerateTextResult,
  ModelMessage,
  OutputInterface,
  StreamTextResult,
  ToolSet,
} from 'ai'
import type { SkillManager } from '#library/manager'
import type { Skill, SkillInfo } from '#library/model'
import { AgentEnvironment, type AgentOptions, defaultTimeoutMs } from './agent-options.ts'
import { openLoop } from './ai/agent-loop.ts'
import type { SkillTools } from './ai/skill-tool-set.ts'
import { Skills } from './ai/skills.ts'
import { fromToolSet, toToolSet } from './ai/tool-set.ts'
import { approvalPart, type CallRules } from './approval/permit.ts'
import { createBuiltInTools } from './built-in-tools/built-in-tools.ts'
import { ConversationKeeper } from './conversation/store.ts'
import { usageError } from './errors.ts'
import { EventLog } from './events.ts'
import { McpPart } from './mcp-tools/mcp-part.ts'
import { AgentSession } from './session.ts'
import { SkillPart } from './skills/skill-part.ts'
import { SkillSet } from './skills/skill-set.ts'
import type { SubagentConfig } from './subagents/config.ts'
import {
  type DelegationHandle,
  requireSuccess,
  type SubagentResult,
} from './subagents/delegation.ts'
import { DelegationPart } from './subagents/delegation-tools.ts'
import { SubagentManager } from './subagents/manager.ts'
import type { AgentEvent, AgentTool, LoopOutcome, RunOptions, TokenUsage } from './types.ts'
import { type RunUsage, UsageLedger, type UsageReport } from './usage.ts'

/** How one prompt was answered. `messages` are those that were added to the conversation. */
export interface AgentResult extends LoopOutcome {
  /** Of this run, its delegations included. */
  usage: TokenUsage
  durationMs: number
}

/** A running prompt: its events in order, and its result. */
export interface AgentStream extends AsyncIterable<AgentEvent> {
  readonly result: Promise<AgentResult>
}

/**
 * A model that works with tools until it has answered, and one conversation with it. Skills and
 * subagents are there when they are given or asked for; without them nothing is looked for.
 *
 * @example
 * const agent = new Agent({ model: 'anthropic:claude-sonnet-4-5', skills: ['code-review'] })
 * const { text, usage } = await agent.generate('/code-review src/index.ts')
 * await agent.close()
 *
 * It is an agent of the AI SDK too: with an object, `generate` and `stream` run the loop of the AI
 * SDK on the messages that they are given, and keep nothing. So it works behind
 * `createAgentUIStreamResponse` and for many conversations at once.
 */
export class Agent<
  Tools extends ToolSet = {},
  Shape extends OutputInterface = never,
> implements AiAgent<never, Tools & SkillTools, Context, Shape> {
  readonly version = 'agent-v1'
  readonly name: string
  readonly #environment: AgentEnvironment
  readonly #ledger = new UsageLedger()
  readonly #servers: McpPart
  readonly #session: AgentSession
  readonly #keeper: ConversationKeeper | undefined
  /** Tools that were given as a `ToolSet`, and what our own loop has in their place. */
  readonly #given: { set: ToolSet; tools: readonly AgentTool[] }
  #sdk: Skills | undefined
  #skills: SkillPart | undefined
  #subagents: SubagentManager | undefined
  #offersSubagents = false
  #listener: ((event: AgentEvent) => void) | undefined

  /**
   * @throws {AgentUsageError} for an unknown built-in tool; {PromptTemplateError} for a variable of
   *   the instructions without a value; {SubagentConfigError} for a definition that cannot be used.
   */
  constructor(options: AgentOptions<Tools, Shape>) {
    this.#environment = new AgentEnvironment(options)
    this.name = this.#environment.name
    const { tools = [] } = options
    this.#given = isList(tools) ? { set: {}, tools: [] } : { set: tools, tools: fromToolSet(tools) }
    this.#servers = new McpPart(this.#environment, this.#note)
    this.#session = this.#openSession()
    this.#keeper = this.#openKeeper()
    if (options.skills !== undefined || options.skillDirs !== undefined) this.#offerSkills()
    if (options.subagents !== undefined) this.#offerSubagents()
  }

  /** The conversation until now, without the instructions. */
  get messages(): readonly ModelMessage[] {
    return this.#session.messages
  }

  /** The ID under which the conversation is stored; undefined before the first run, or without a store. */
  get conversation(): string | undefined {
    return this.#keeper?.id
  }

  get usage(): UsageReport {
    return this.#ledger.report()
  }

  get id(): string {
    return this.name
  }

  /** Tools of the AI SDK; with MCP servers and subagents after {@link Agent.ready} or a call. */
  get tools(): Tools & SkillTools {
    return this.#typedTools()
  }

  /** The tools that the model would be offered now. */
  listTools(): readonly AgentTool[] {
    return this.#session.tools()
  }

  /** Starts servers and finds skills and subagents; every call begins with it. */
  async ready(): Promise<void> {
    await this.#skills?.ready()
    await this.#session.prepare({ onEvent: this.#emit, signal: undefined })
    await this.#ofSdk().ready()
  }

  /** The PRD's name for `generate` with a text. Throws as it does. */
  async run(prompt: string, options: RunOptions = {}): Promise<AgentResult> {
    return await this.#run(prompt, options)
  }

  /**
   * Asks, and waits for the answer. A model that fails, a cancelled run and one that used up its
   * turns are results: see `status`. A prompt `/skill arguments` activates that skill as the user.
   *
   * @throws {ModelNotFoundError} for a model that cannot be resolved; {AgentUsageError} for an empty
   *   prompt, or while the agent is still working; {SkillError} for a skill that may not be used.
   */
  generate(prompt: string, options?: RunOptions): Promise<AgentResult>
  /** Answers messages as every agent of the AI SDK does, and throws what the AI SDK throws. */
  generate(call: Call<Tools>): Promise<GenerateTextResult<Tools & SkillTools, Context, Shape>>
  async generate(given: string | Call<Tools>, options: RunOptions = {}): Promise<unknown> {
    return typeof given === 'string'
      ? await this.#run(given, options)
      : await (await this.#loop(given.abortSignal)).generate(given)
  }

  /**
   * Continues the last turn: asks again for the calls that wait for an approval and makes them, or goes
   * on where a process ended.
   *
   * @throws {AgentUsageError} `turn-complete` where there is nothing to continue; as `generate`.
   */
  async resume(options: RunOptions = {}): Promise<AgentResult> {
    return await this.#run(undefined, options)
  }

  /**
   * Asks, and gives the events as they happen; text comes while the model writes. What `generate`
   * throws, the reader and `result` get. A reader that stops early ends the run.
   *
   * @example
   * const stream = agent.stream('Summarise the README.')
   * for await (const event of stream) if (event.type === 'text') process.stdout.write(event.text)
   * const { status } = await stream.result
   */
  stream(prompt: string, options?: RunOptions): AgentStream
  /** Streams the answer to messages as every agent of the AI SDK does. */
  stream(call: StreamCall<Tools>): Promise<StreamTextResult<Tools & SkillTools, Context, Shape>>
  stream(given: string | StreamCall<Tools>, options: RunOptions = {}): unknown {
    if (typeof given === 'string') return this.#events(given, options)
    return this.#loop(given.abortSignal).then((loop) => loop.stream(given))
  }

  #events(prompt: string, options: RunOptions): AgentStream {
    const events = new EventLog<AgentEvent>()
    const left = new AbortController()
    const { signal: given } = options
    const signal = given ? AbortSignal.any([given, left.signal]) : left.signal
    const onEvent = (event: AgentEvent) => {
      events.add(event)
      options.onEvent?.(event)
    }
    const result = this.#run(prompt, { stream: true, ...options, signal, onEvent })
    result.then(
      () => events.end(),
      (thrown: unknown) => events.end({ thrown }),
    )
    const ended = result.catch(() => undefined)
    async function* read(): AsyncIterableIterator<AgentEvent> {
      try {
        yield* events.read()
      } finally {
        // Whoever stops reading wants no more of it: the run ends, and the agent is free again.
        left.abort()
        await ended
      }
    }
    return { result, [Symbol.asyncIterator]: read }
  }

  /** Sends a message to a run; the model reads it before its next step. */
  steer(text: string): void {
    this.#session.steer(text)
  }

  /** The skills of this agent; made at the first question. */
  get skillManager(): SkillManager {
    return this.#offerSkills().manager
  }

  /** @throws {SkillError} as `SkillManager.register`. */
  async registerSkill(skill: Skill | SkillInfo | string): Promise<SkillInfo> {
    return await (await this.#readySkills()).register(skill)
  }

  /** @throws {SkillError} for one that is there and cannot be used. */
  async getSkill(name: string): Promise<Skill | undefined> {
    return await (await this.#readySkills()).get(name)
  }

  async listSkills(): Promise<readonly SkillInfo[]> {
    return await (await this.#readySkills()).list()
  }

  /**
   * Activates a skill as the program and returns its content, to be used in a prompt; it stays active
   * until the end of the next run. A skill with `context: fork` is carried out by a subagent, and its
   * answer is returned.
   *
   * @example await agent.generate(await agent.invokeSkill('code-review', 'src/index.ts'))
   * @throws {SkillError} as `SkillManager.activate`; {SubagentError} for a fork that fails.
   */
  async invokeSkill(name: string, ...args: readonly string[]): Promise<string> {
    await this.#readySkills()
    const used = await this.#offerSkills().use(name, joinArguments(args), 'code', {
      onEvent: this.#emit,
    })
    return used.answer
  }

  /** Ends an activation; tools and approvals are as before. False when it is not active. */
  async deactivateSkill(name: string): Promise<boolean> {
    return await this.#offerSkills().end(name)
  }

  /** The subagents of this agent; made at the first question, which offers them to the model. */
  get subagentManager(): SubagentManager {
    return this.#offerSubagents()
  }

  /** @throws {SubagentConfigError} for a definition that cannot be used, or a name that is taken. */
  registerSubagent(config: SubagentConfig): void {
    this.subagentManager.register(config)
  }

  async listSubagents(): Promise<readonly SubagentConfig[]> {
    return await this.subagentManager.list()
  }

  /** Hands a task to a subagent and waits. See `SubagentManager.delegate`. */
  async delegate(...work: Parameters<SubagentManager['delegate']>): Promise<SubagentResult> {
    return await (await this.delegateAsync(...work)).result()
  }

  /** Hands a task to a subagent and returns at once. See `SubagentManager.delegateAsync`. */
  async delegateAsync(
    ...work: Parameters<SubagentManager['delegateAsync']>
  ): Promise<DelegationHandle> {
    await this.#skills?.ready()
    return await this.subagentManager.delegateAsync(...work)
  }

  /** Ends what the agent started: a run with its tools, delegations, servers. */
  async close(): Promise<void> {
    await this.#session.close()
  }

  async #run(prompt: string | undefined, options: RunOptions): Promise<AgentResult> {
    const { runtime } = this.#environment
    const began = runtime.elapsed()
    await this.#skills?.ready()
    const isFirst = !this.#session.running
    const keeper = isFirst ? this.#keeper : undefined
    const release = keeper && (await keeper.begin(prompt))
    const usage = this.#ledger.begin(options.maxTokens ?? this.#environment.options.maxTokens)
    if (isFirst) this.#listener = options.onEvent
    try {
      const asked = { ...options, onEvent: this.#emit }
      const outcome = await usage.within(() => this.#session.run(prompt, asked))
      await keeper?.save(outcome.status)
      return { ...outcome, usage: usage.used, durationMs: Math.round(runtime.elapsed() - began) }
    } finally {
      if (isFirst) this.#listener = undefined
      release?.()
    }
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
    const { runtime, project, options } = this.#environment
    const { tools = [], builtIns } = options
    const ofBuiltIns = createBuiltInTools(builtIns ?? [], {
      project,
      runtime,
      environment: builtIns ? this.#environment.settings.run.environment : [],
      readable: () => this.#skills?.directories ?? [],
    })
    const own = [...(isList(tools) ? tools : this.#given.tools), ...ofBuiltIns]
    const rules = (): CallRules | undefined => this.#skills?.rules
    const approval = approvalPart({ ...this.#environment.permit, rules })
    return new AgentSession({
      ...options,
      timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
      agent: this.name,
      model: () => this.#environment.model(),
      parts: [
        { instructions: async () => this.#environment.instructions(), tools: () => own },
        this.#servers,
        approval,
      ],
      usage: this.#ledger,
      onMessages: async () => this.#keeper?.save('running'),
    })
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
        skills: [...(this.#skills?.ofTurn ?? [])],
        delegations: this.#subagents?.stored ?? [],
      }),
      restore: ({ messages, waiting, skills, delegations }) => {
        this.#session.restore(messages, waiting)
        if (this.#skills) this.#skills.ofTurn = skills
        if (delegations.length > 0) this.#manager().restore(delegations)
      },
    })
  }

  // Tools and output have the types of the options that they were given with.
  #loop(
    signal: AbortSignal | undefined,
  ): Promise<AiAgent<never, Tools & SkillTools, Context, Shape>>
  async #loop(signal: AbortSignal | undefined): Promise<unknown> {
    await this.ready()
    const usage = this.#ledger.begin(this.#environment.options.maxTokens)
    return await openLoop(this.#environment, this.#ofSdk(), this.#toolSet(usage), usage, signal)
  }

  #typedTools(): Tools & SkillTools
  #typedTools(): unknown {
    return this.#ofSdk().settings({ tools: this.#toolSet(this.#ledger.begin(undefined)) }).tools
  }

  #toolSet(usage: RunUsage): ToolSet {
    const { set, tools: replaced } = this.#given
    const ofSkills = this.#skills?.tools() ?? []
    const own = this.listTools()
      .filter((tool) => !replaced.includes(tool) && !ofSkills.includes(tool))
      .map((tool) => {
        const execute: AgentTool['execute'] = (...call) => usage.within(() => tool.execute(...call))
        return { ...tool, execute }
      })
    return { ...toToolSet(own), ...set }
  }

  /** Kept, so that one secret signs all approvals. */
  #ofSdk(): Skills {
    if (this.#sdk) return this.#sdk
    const { options } = this.#environment
    const { startSkills, approvalSecret } = options
    const none = { ...options, skills: undefined, skillDirs: undefined, discover: false }
    const set = this.#skills?.set ?? new SkillSet(new AgentEnvironment(none), async () => [])
    const own = { startSkills: this.#skills && startSkills, approvalSecret, onNotice: this.#note }
    const servers = this.#servers
    this.#sdk = new Skills(own, this.#environment, servers, set, servers)
    return this.#sdk
  }

  #offerSkills(): SkillPart {
    if (this.#skills) return this.#skills
    this.#skills = new SkillPart(this.#environment, {
      serverTools: (server, signal) => this.#servers.serverTools(server, signal),
      fork: async (activation, run) =>
        requireSuccess(await this.#manager().fork(activation, run)).output,
    })
    this.#session.join(this.#skills)
    this.#sdk = undefined
    return this.#skills
  }

  async #readySkills(): Promise<SkillManager> {
    const skills = this.#offerSkills()
    await skills.ready()
    return skills.manager
  }

  #offerSubagents() {
    const manager = this.#manager()
    if (!this.#offersSubagents) this.#session.join(new DelegationPart(manager))
    this.#offersSubagents = true
    return manager
  }

  #manager(): SubagentManager {
    const environment = this.#environment
    const { subagents, concurrency, discover } = environment.options
    this.#subagents ??= new SubagentManager(
      {
        environment,
        servers: this.#servers,
        tools: () => this.listTools(),
        skills: () => this.#skills,
        exhausted: this.#ledger.exhausted,
        onUsage: this.#ledger.record,
        onEvent: this.#emit,
      },
      subagents,
      { files: discover === false ? undefined : environment.places, concurrency },
    )
    return this.#subagents
  }
}

/** Several arguments as one text: one with blanks or quotes is quoted. */
function joinArguments(args: readonly string[]) {
  const quoted = args.map((text) =>
    /^[^\s"'\\]+$/.test(text) ? text : `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`,
  )
  return args.length === 1 ? args.join('') : quoted.join(' ')
}

type Context = Record<string, unknown>

type Call<Tools extends ToolSet> = AgentCallParameters<never, Tools & SkillTools, Context>

type StreamCall<Tools extends ToolSet> = AgentStreamParameters<never, Tools & SkillTools, Context>

function isList(tools: readonly AgentTool[] | ToolSet): tools is readonly AgentTool[] {
  return Array.isArray(tools)
}
