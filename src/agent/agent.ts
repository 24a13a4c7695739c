import type { ModelMessage } from 'ai'
import type { Skill, SkillInfo } from '../library/model.ts'
import type { SkillManager } from '../library/manager.ts'
import type { AgentOptions } from './agent-options.ts'
import { AgentEnvironment, AgentParts, type AgentSkills } from './agent-parts.ts'
import { EventLog } from './events.ts'
import type { AgentEvent, AgentTool, LoopOutcome, RunOptions, TokenUsage } from './types.ts'
import type { ModelObject } from './types.ts'
import type { AgentSession } from './session.ts'
import type { DelegateOptions, SubagentConfig } from './subagents/config.ts'
import type { DelegationHandle, SubagentResult } from './subagents/delegation.ts'
import type { SubagentManager } from './subagents/manager.ts'
import { subtractUsage, UsageLedger, type UsageReport } from './usage.ts'

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
 */
export class Agent {
  readonly name: string
  readonly #environment: AgentEnvironment
  readonly #ledger: UsageLedger = new UsageLedger()
  readonly #parts: AgentParts
  readonly #session: AgentSession
  readonly #onEvent: ((event: AgentEvent) => void) | undefined
  #listener: ((event: AgentEvent) => void) | undefined

  /**
   * @throws {AgentUsageError} for an unknown built-in tool; {PromptTemplateError} for a variable of
   *   the instructions without a value; {SubagentConfigError} for a definition that cannot be used.
   */
  constructor(options: AgentOptions) {
    this.name = options.name ?? 'main'
    this.#environment = new AgentEnvironment(options)
    this.#onEvent = options.onEvent
    this.#parts = new AgentParts(options, this.name, this.#environment, this.#ledger, (event) =>
      this.#emit(event),
    )
    this.#session = this.#parts.session
  }

  /** The conversation until now, without the instructions. */
  get messages(): readonly ModelMessage[] {
    return this.#session.messages
  }

  /** What was used since the agent was made, its delegations included. */
  get usage(): UsageReport {
    return this.#ledger.report()
  }

  /** The tools that the model would be offered now. */
  get tools(): readonly AgentTool[] {
    return this.#session.tools()
  }

  /** The model object; a name is resolved when it is first needed. */
  async model(): Promise<ModelObject> {
    return await this.#environment.model()
  }

  /**
   * Asks, and waits for the answer. A model that fails, a cancelled run and one that used up its
   * turns are results: see `status`. A prompt `/skill arguments` activates that skill as the user.
   *
   * @throws {ModelNotFoundError} for a model that cannot be resolved; {AgentUsageError} for an empty
   *   prompt, or while the agent is still working; {SkillError} for a skill that may not be used.
   */
  async generate(prompt: string, options: RunOptions = {}): Promise<AgentResult> {
    const { runtime } = this.#environment
    const before = this.#ledger.report().total
    const began = runtime.elapsed()
    await this.#parts.ready()
    const mine = !this.#session.running
    if (mine) this.#listener = options.onEvent
    try {
      const onEvent = (event: AgentEvent): void => this.#emit(event)
      const outcome = await this.#session.run(prompt, { ...options, onEvent })
      const usage = subtractUsage(this.#ledger.report().total, before)
      return { ...outcome, usage, durationMs: Math.round(runtime.elapsed() - began) }
    } finally {
      if (mine) this.#listener = undefined
    }
  }

  /**
   * Asks, and gives the events as they happen; text comes while the model writes. What `generate`
   * throws, the reader and `result` get.
   *
   * @example
   * const stream = agent.stream('Summarise the README.')
   * for await (const event of stream) if (event.type === 'text') process.stdout.write(event.text)
   * const { status } = await stream.result
   */
  stream(prompt: string, options: RunOptions = {}): AgentStream {
    const events = new EventLog<AgentEvent>()
    const onEvent = (event: AgentEvent): void => {
      options.onEvent?.(event)
      events.add(event)
    }
    const result = this.generate(prompt, { stream: true, ...options, onEvent })
    result.then(
      () => events.end(),
      (thrown: unknown) => events.end({ thrown }),
    )
    return { result, [Symbol.asyncIterator]: () => events.read() }
  }

  /** Sends a message to a run; the model reads it before its next step. */
  steer(text: string): void {
    this.#session.steer(text)
  }

  /** The skills of this agent; made at the first question. */
  get skillManager(): SkillManager {
    return this.#skills.manager
  }

  /** @throws {SkillError} as `SkillManager.register`. */
  async registerSkill(skill: Skill | SkillInfo | string): Promise<SkillInfo> {
    await this.#skills.ready()
    return await this.#skills.manager.register(skill)
  }

  /** @throws {SkillError} for one that is there and cannot be used. */
  async getSkill(name: string): Promise<Skill | undefined> {
    await this.#skills.ready()
    return await this.#skills.manager.get(name)
  }

  async listSkills(): Promise<readonly SkillInfo[]> {
    await this.#skills.ready()
    return await this.#skills.manager.list()
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
    await this.#skills.ready()
    const used = await this.#skills.part.use(name, joinArguments(args), 'code', {
      onEvent: (event) => this.#emit(event),
    })
    return used.answer
  }

  /** Ends an activation; tools and approvals are as before. False when it is not active. */
  async deactivateSkill(name: string): Promise<boolean> {
    return await this.#skills.part.end(name)
  }

  /** The subagents of this agent; made at the first question, which offers them to the model. */
  get subagentManager(): SubagentManager {
    return this.#parts.offerSubagents()
  }

  /** @throws {SubagentConfigError} for a definition that cannot be used, or a name that is taken. */
  registerSubagent(config: SubagentConfig): void {
    this.subagentManager.register(config)
  }

  async listSubagents(): Promise<readonly SubagentConfig[]> {
    return await this.subagentManager.list()
  }

  /** Hands a task to a subagent and waits. See `SubagentManager.delegate`. */
  async delegate(
    name: string,
    task: string,
    options: DelegateOptions = {},
  ): Promise<SubagentResult> {
    await this.#parts.ready()
    return await this.subagentManager.delegate(name, task, options)
  }

  /** Hands a task to a subagent and returns at once. See `SubagentManager.delegateAsync`. */
  async delegateAsync(
    name: string,
    task: string,
    options: DelegateOptions = {},
  ): Promise<DelegationHandle> {
    await this.#parts.ready()
    return await this.subagentManager.delegateAsync(name, task, options)
  }

  /** Ends what the agent started: servers and running delegations. */
  async close(): Promise<void> {
    await this.#session.close()
  }

  get #skills(): AgentSkills {
    return this.#parts.skills()
  }

  #emit(event: AgentEvent): void {
    this.#onEvent?.(event)
    this.#listener?.(event)
  }
}

/** Several arguments as one text: one with blanks or quotes is quoted. */
function joinArguments(args: readonly string[]): string {
  const [only] = args
  if (args.length <= 1) return only ?? ''
  return args
    .map((text) =>
      /^[^\s"'\\]+$/.test(text) ? text : `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`,
    )
    .join(' ')
}
