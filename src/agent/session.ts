import type { LanguageModel, ModelMessage } from 'ai'
import type { JsonObject } from '../tools/index.ts'
import { type ConversationLimits, createCompactor } from './conversation/compact.ts'
import { messageTexts } from './conversation/messages.ts'
import { AgentUsageError } from './errors.ts'
import { runLoop } from './loop/run-loop.ts'
import type {
  AgentEvent,
  AgentTool,
  CallSettings,
  LoopOutcome,
  LoopRequest,
  Permission,
  ToolContext,
} from './types.ts'
import type { UsageLedger } from './usage.ts'

/** The turns of an agent that nobody gave a number (PRD 5.6). */
const defaultMaxTurns = 50

export interface SessionOptions {
  /** `main`, or the name of a subagent. */
  agent: string
  delegation?: string | undefined
  /** Asked at the start of every run; throws what the caller of `run` is to see. */
  model: () => LanguageModel | Promise<LanguageModel>
  instructions?: string | undefined
  /** Offered at every step, before the tools of the parts. */
  tools?: readonly AgentTool[] | undefined
  /** Skills, hands, delegation: what adds to the conversation and stands before its tools. */
  parts?: readonly SessionPart[] | undefined
  /** Default 50. */
  maxTurns?: number | undefined
  /** Where its model calls are booked. */
  usage: Pick<UsageLedger, 'record'>
  /** A conversation to go on with; it is cloned. */
  messages?: readonly ModelMessage[] | undefined
  /** How long the conversation may get, and what then makes it shorter. */
  limits?: ConversationLimits | undefined
  callSettings?: CallSettings | undefined
}

export interface RunOptions {
  signal?: AbortSignal | undefined
  onEvent?: ((event: AgentEvent) => void) | undefined
  /** Whether text events come while the model writes; default false: one event an answer. */
  stream?: boolean | undefined
  /** JSON Schema of the final answer. */
  outputSchema?: JsonObject | undefined
  maxTurns?: number | undefined
}

/**
 * One conversation: its history and whatever may change in it. An agent holds one, every delegation
 * gets its own. Everything else about a run is values and functions.
 */
export interface AgentSession {
  readonly agent: string
  readonly delegation: string | undefined
  /** Whether a run goes on. */
  readonly running: boolean
  /** The conversation until now, without the instructions. */
  readonly messages: readonly ModelMessage[]
  /** All tools that would be offered now. */
  tools(): readonly AgentTool[]
  /**
   * Says something to the agent and waits for its answer.
   * @throws {AgentUsageError} for an empty prompt, or while another run goes on; what `model` throws.
   */
  run(prompt: string, options?: RunOptions): Promise<LoopOutcome>
  /** A message to a run that goes on; it is read before the next step, or with the next prompt. */
  steer(text: string): void
  /** Whether the conversation contains this text, in a prompt, an answer or a tool's result. */
  contains(text: string): boolean
  /** A part that takes part from now on, after those that do already. */
  join(part: SessionPart): void
  close(): Promise<void>
}

export function openSession(options: SessionOptions): AgentSession {
  const { agent, delegation, usage } = options
  const joined = joinParts()
  let current = cloned(options.messages)
  const compactor = createCompactor(options.limits)
  let steered: string[] = []

  const session: Mutable<AgentSession> = {
    agent,
    delegation,
    running: false,
    messages: current,
    tools: () => joined.offered(joined.tools(options.tools)),
    async run(prompt, run = {}) {
      refuseEmpty(prompt)
      if (session.running) throw new AgentUsageError(busy(agent))
      session.running = true
      try {
        return await oneTurn(prompt, run)
      } finally {
        session.running = false
        await joined.turnEnded()
      }
    },
    steer: (text) => void steered.push(text),
    contains: (text) =>
      compactor
        .visible(current)
        .some((message) => messageTexts(message).some((part) => part.includes(text))),
    join(part) {
      joined.add(part)
      part.attach?.(session)
    },
    close: () => joined.close(),
  }
  for (const part of options.parts ?? []) session.join(part)
  return session

  async function oneTurn(prompt: string, run: RunOptions): Promise<LoopOutcome> {
    const onEvent = run.onEvent ?? (() => undefined)
    const model = await options.model()
    const context = { onEvent, signal: run.signal }
    const added = await joined.instructions(context)
    const text = await joined.prompt(prompt, context)
    const before: readonly ModelMessage[] = [...session.messages, { role: 'user', content: text }]
    session.messages = before
    const outcome = await runLoop({
      agent,
      delegation,
      model,
      modelNow: joined.model,
      instructions: [options.instructions ?? '', ...added]
        .filter((part) => part !== '')
        .join('\n\n'),
      messages: before,
      offered: session.tools,
      permit: joined.permit,
      afterTool: joined.afterTool,
      beforeStop: joined.beforeStop,
      maxTurns: run.maxTurns ?? options.maxTurns ?? defaultMaxTurns,
      steering: takeSteered,
      outputSchema: run.outputSchema,
      signal: run.signal,
      prepareMessages(messages) {
        current = messages
        return compactor.fit(messages)
      },
      onUsage: (entry) => usage.record(entry),
      onEvent,
      stream: run.stream,
      callSettings: options.callSettings,
    })
    session.messages = [...before, ...outcome.messages]
    current = session.messages
    return outcome
  }

  function takeSteered(): readonly string[] {
    const taken = steered
    steered = []
    return taken
  }
}

/** Most conversations begin empty, and cloning nothing is not free. */
function cloned(messages: readonly ModelMessage[] = []): readonly ModelMessage[] {
  return messages.length === 0 ? [] : structuredClone(messages)
}

function refuseEmpty(prompt: string): void {
  if (prompt.trim() !== '') return
  throw new AgentUsageError({
    code: 'task-empty',
    message: 'The task is empty: an agent needs to be told what to do.',
  })
}

function busy(agent: string): { code: string; message: string; hint: string } {
  return {
    code: 'agent-busy',
    message: `The agent ${agent} is still working on the last prompt.`,
    hint: 'Wait for it, send it a message with steer, or make another agent.',
  }
}

/**
 * Something that takes part in a conversation: skills, built-in tools with their approvals, hooks,
 * delegation, MCP servers. Every member is optional.
 */
export interface SessionPart {
  /** Told once, before anything else, whose part it is. */
  attach?: ((session: AgentSession) => void) | undefined
  /** What is added to the instructions; asked at the start of every run. */
  instructions?: ((run: PromptContext) => Promise<string | undefined>) | undefined
  /** What the model gets for a prompt of the user; the next part gets what this one returns. */
  prompt?: ((text: string, run: PromptContext) => Promise<string>) | undefined
  /** Tools that are offered now; asked before every step. */
  tools?: (() => readonly AgentTool[]) | undefined
  /** Whether the model may see a tool now; one that any part does not offer is not there. */
  offers?: ((tool: AgentTool) => boolean) | undefined
  /** A model in place of the agent's own; asked before every step, the last part with one wins. */
  model?: (() => LanguageModel | undefined) | undefined
  /**
   * Whether a call may be made. All parts are asked in order until one refuses; the input of one is
   * what the next one sees. Where no part has this, what needs an approval is refused.
   */
  permit?:
    | ((tool: AgentTool, input: JsonObject, context: ToolContext) => Promise<Permission>)
    | undefined
  /** Done before a call that is allowed; throwing keeps it from being made. */
  beforeTool?:
    | ((tool: AgentTool, input: JsonObject, context: ToolContext) => Promise<void>)
    | undefined
  /** Text that is added to a tool's result, or its error; those of all parts are joined. */
  afterTool?: LoopRequest['afterTool']
  /** Text that makes the model go on instead of ending its turn; the first part with one wins. */
  beforeStop?: ((text: string) => Promise<string | undefined>) | undefined
  /** The user's turn is over, however it ended. */
  turnEnded?: (() => Promise<void>) | undefined
  close?: (() => Promise<void>) | undefined
}

export interface PromptContext {
  onEvent: (event: AgentEvent) => void
  signal: AbortSignal | undefined
}

/**
 * All parts as one; parts that join later come last. Every delegation goes through all of this, so a
 * member that a part does not have is not waited for.
 */
interface JoinedParts {
  add(part: SessionPart): void
  instructions(run: PromptContext): Promise<readonly string[]>
  prompt(text: string, run: PromptContext): Promise<string>
  /** After those that are given, the tools of all parts. */
  tools(before?: readonly AgentTool[]): readonly AgentTool[]
  /** Those of the tools that every part offers. */
  offered(tools: readonly AgentTool[]): readonly AgentTool[]
  model(): LanguageModel | undefined
  permit(tool: AgentTool, input: JsonObject, context: ToolContext): Promise<Permission>
  afterTool: NonNullable<LoopRequest['afterTool']>
  beforeStop(text: string): Promise<string | undefined>
  turnEnded(): Promise<void>
  close(): Promise<void>
}

function joinParts(): JoinedParts {
  const parts: SessionPart[] = []
  return {
    add: (part) => void parts.push(part),
    async instructions(run) {
      const texts: string[] = []
      for (const part of parts) {
        if (part.instructions === undefined) continue
        const text = await part.instructions(run)
        if (text !== undefined && text !== '') texts.push(text)
      }
      return texts
    },
    async prompt(text, run) {
      let current = text
      for (const part of parts) {
        if (part.prompt !== undefined) current = await part.prompt(current, run)
      }
      return current
    },
    model() {
      let last: LanguageModel | undefined
      for (const part of parts) last = part.model?.() ?? last
      return last
    },
    tools(before = []) {
      const tools = [...before]
      for (const part of parts) if (part.tools !== undefined) tools.push(...part.tools())
      return tools
    },
    offered(tools) {
      const judges = parts.filter(({ offers }) => offers !== undefined)
      if (judges.length === 0) return tools
      return tools.filter((tool) => judges.every((part) => part.offers?.(tool) ?? true))
    },
    async permit(tool, input, context) {
      let used = input
      let isGuarded = false
      for (const { permit } of parts) {
        if (permit === undefined) continue
        isGuarded = true
        const permission = await permit(tool, used, context)
        if (!permission.allowed) return permission
        used = permission.input ?? used
      }
      const refusal = isGuarded ? undefined : unguarded(tool, input)
      if (refusal !== undefined) return refusal
      for (const part of parts) {
        if (part.beforeTool === undefined) continue
        // Nothing begins for a call that nobody waits for any more.
        context.signal.throwIfAborted()
        await part.beforeTool(tool, used, context)
      }
      return { allowed: true, input: used }
    },
    async afterTool(tool, input, output, isError) {
      const remarks: string[] = []
      for (const part of parts) {
        if (part.afterTool === undefined) continue
        const remark = await part.afterTool(tool, input, output, isError)
        if (remark !== undefined) remarks.push(remark)
      }
      return remarks.length === 0 ? undefined : remarks.join('\n\n')
    },
    async beforeStop(text) {
      for (const part of parts) {
        if (part.beforeStop === undefined) continue
        const more = await part.beforeStop(text)
        if (more !== undefined) return more
      }
      return undefined
    },
    async turnEnded() {
      for (const part of parts) if (part.turnEnded !== undefined) await part.turnEnded()
    },
    async close() {
      for (const part of parts) await part.close?.()
    },
  }
}

/** Without a part that decides, only what nobody need be asked for is done. */
function unguarded(tool: AgentTool, input: JsonObject): Permission | undefined {
  const asked =
    tool.alwaysAsk?.(input) !== undefined ||
    (tool.needsApproval ?? !(tool.readOnly || tool.origin.kind === 'program'))
  return asked
    ? { allowed: false, reason: 'it needs an approval, and nobody can give one here' }
    : undefined
}

/**
 * A value that only its maker changes. It stands in for getters where a delegation makes the value:
 * an object with a getter of its own gets a hidden class of its own, which keeps everything that the
 * getter can see until the next full collection.
 */
export type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }
