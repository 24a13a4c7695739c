import type { ModelMessage } from 'ai'
import type { JsonObject } from '#core/json'
import type { AgentOptions } from './agent-options.ts'
import { requireOptions, runLimits } from './check-options.ts'
import { Compactor, hasText } from './conversation/compact.ts'
import { usageError } from './errors.ts'
import { runLoop } from './loop/run-loop.ts'
import type { RequestedCall } from './loop/sdk.ts'
import { Stopper } from './stopper.ts'
import { jsonSchemaOf, needsApproval } from './tool.ts'
import type {
  AfterTool,
  AgentEvent,
  AgentTool,
  LoopOutcome,
  ModelObject,
  Permission,
  Permit,
  RunOptions,
  ToolContext,
} from './types.ts'
import type { UsageLedger } from './usage.ts'

/** Maximum number of turns of an agent that sets none (PRD 5.6). */
export const defaultMaxTurns = 50

export interface SessionOptions extends Pick<
  AgentOptions,
  'maxTurns' | 'timeoutMs' | 'messages' | 'limits' | 'callSettings' | 'telemetry'
> {
  agent: string
  delegation?: string | undefined
  /** Asked at the start of every run; its errors reach the caller of `run`. */
  model: () => ModelObject | Promise<ModelObject>
  parts?: readonly SessionPart[] | undefined
  usage: Pick<UsageLedger, 'record' | 'exhausted'>
  onMessages?: (() => Promise<void>) | undefined
}

/** Something that takes part in a conversation: skills, approvals, delegation, MCP servers. */
export interface SessionPart {
  attach?: ((session: AgentSession) => void) | undefined
  instructions?: ((run: PromptContext) => Promise<string | undefined>) | undefined
  prompt?: ((text: string, run: PromptContext) => Promise<string>) | undefined
  /** In place of `prompt`, where the last turn continues. */
  resume?: ((run: PromptContext) => Promise<void>) | undefined
  tools?: (() => readonly AgentTool[]) | undefined
  /** Whether the model may see a tool now; every part must agree. */
  offers?: ((tool: AgentTool) => boolean) | undefined
  /** A model in place of the agent's own; asked before every step, the last part with one takes precedence. */
  model?: (() => ModelObject | undefined) | undefined
  /** Asked in order until one refuses; each sees the input that the one before it returned. */
  permit?: Permit | undefined
  /** Runs before a call that is allowed; throwing prevents the call. */
  beforeTool?: ((...call: Parameters<Permit>) => Promise<void>) | undefined
  afterTool?: AfterTool | undefined
  /** Text that makes the model continue instead of ending its turn; the first part with one takes precedence. */
  beforeStop?: ((text: string) => Promise<string | undefined>) | undefined
  turnEnded?: (() => Promise<void>) | undefined
  close?: (() => Promise<void>) | undefined
}

export interface PromptContext {
  onEvent: (event: AgentEvent) => void
  signal: AbortSignal | undefined
}

/** One conversation: its history and what may change in it. Every delegation gets its own. */
export class AgentSession {
  readonly #options: SessionOptions
  readonly #parts: SessionPart[] = []
  readonly #compactor: Compactor
  #messages: readonly ModelMessage[]
  #current: readonly ModelMessage[]
  /** IDs of calls that wait for an approval. */
  #waiting: readonly string[] = []
  #running: { stopper: Stopper; ended: Promise<unknown> } | undefined
  #steered: string[] = []

  constructor(options: SessionOptions) {
    this.#options = options
    this.#compactor = new Compactor(options.limits)
    this.#messages = structuredClone(options.messages ?? [])
    this.#current = this.#messages
    for (const part of options.parts ?? []) this.join(part)
  }

  get running() {
    return this.#running !== undefined
  }

  get messages() {
    return this.#messages
  }

  get waiting() {
    return this.#waiting
  }

  restore(messages: readonly ModelMessage[], waiting: readonly string[]) {
    this.#messages = messages
    this.#waiting = waiting
  }

  tools() {
    const tools = this.#parts.flatMap((part) => part.tools?.() ?? [])
    return tools.filter((tool) => this.#parts.every((part) => part.offers?.(tool) ?? true))
  }

  /** Lets the parts get ready: servers start, subagents are found. Returns their instructions. */
  async prepare(run: PromptContext) {
    return await this.#texts((part) => part.instructions?.(run))
  }

  /** Without a prompt, the last turn continues: with its calls that wait, or from where it broke off. */
  async run(prompt: string | undefined, run: RunOptions = {}): Promise<LoopOutcome> {
    if (prompt?.trim() === '') {
      throw usageError('task-empty', 'The task is empty: an agent needs to be told what to do.')
    }
    requireOptions(runLimits, run, 'a run')
    if (this.#running) {
      const message = `The agent ${this.#options.agent} is still working on the last prompt.`
      throw usageError('agent-busy', message, 'Wait for it, or send it a message with steer.')
    }
    const timeoutMs = run.timeoutMs ?? this.#options.timeoutMs
    const stopper = new Stopper(run.signal, timeoutMs)
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    this.#running = { stopper, ended }
    try {
      const outcome = await this.#turn(prompt, { ...run, signal: stopper.signal })
      if (outcome.status !== 'cancelled' || stopper.reason !== 'timeout') return outcome
      const error = `The run took longer than ${(timeoutMs ?? 0) / 1000} s`
      return { ...outcome, status: 'capped', error }
    } finally {
      stopper.end()
      this.#running = undefined
      for (const part of this.#parts) await part.turnEnded?.()
      end()
    }
  }

  steer(text: string) {
    this.#steered.push(text)
  }

  /** Whether the conversation contains this text, in a prompt, an answer or a tool's result. */
  contains(text: string) {
    return hasText(this.#compactor.visible(this.#current), text)
  }

  join(part: SessionPart) {
    this.#parts.push(part)
    part.attach?.(this)
  }

  /** Ends a run first, as a cancellation. */
  async close() {
    this.#running?.stopper.stop('cancelled')
    await this.#running?.ended
    for (const part of this.#parts) await part.close?.()
  }

  async #turn(prompt: string | undefined, run: RunOptions): Promise<LoopOutcome> {
    const { agent, delegation, usage, maxTurns, callSettings, telemetry } = this.#options
    const model = await this.#options.model()
    const { outputSchema } = run
    const context = { onEvent: run.onEvent ?? (() => undefined), signal: run.signal }
    const texts = await this.prepare(context)
    const all = openCalls(this.#messages)
    const open = prompt === undefined ? all.filter(({ id }) => this.#waiting.includes(id)) : []
    const lost = all.filter((call) => !open.includes(call))
    const before = [...this.#messages]
    if (lost.length > 0) before.push(notDone(lost, this.#waiting))
    if (prompt === undefined) {
      if (open.length === 0 && before.at(-1)?.role === 'assistant') {
        const message = 'The last turn is complete: there is nothing to continue.'
        throw usageError('turn-complete', message, 'Give the next prompt.')
      }
      for (const part of this.#parts) await part.resume?.(context)
    } else {
      let content = prompt
      for (const part of this.#parts) content = (await part.prompt?.(content, context)) ?? content
      const { files = [] } = run
      const parts = [{ type: 'text' as const, text: content }, ...files]
      before.push({ role: 'user', content: files.length === 0 ? content : parts })
    }
    const grown = async (added: readonly ModelMessage[]) => {
      this.#messages = [...before, ...added]
      await this.#options.onMessages?.()
    }
    // Whether a call that is made now had an effect is not known if the process ends before its result.
    this.#waiting = []
    await grown([])
    const outcome = await runLoop({
      ...run,
      ...context,
      agent,
      delegation,
      callSettings,
      telemetry,
      outputSchema: outputSchema && jsonSchemaOf('the answer', outputSchema),
      model: () => this.#parts.flatMap((part) => part.model?.() ?? []).at(-1) ?? model,
      instructions: texts.filter((text) => text !== '').join('\n\n'),
      messages: before,
      offered: () => this.tools(),
      permit: (...call) => this.#permit(...call),
      afterTool: async (...call) => {
        const added = await this.#texts((part) => part.afterTool?.(...call))
        return added.length === 0 ? undefined : added.join('\n\n')
      },
      beforeStop: async (text) => {
        for (const part of this.#parts) {
          const more = await part.beforeStop?.(text)
          if (more !== undefined) return more
        }
        return undefined
      },
      open,
      exhausted: usage.exhausted,
      onMessages: grown,
      maxTurns: run.maxTurns ?? maxTurns ?? defaultMaxTurns,
      steering: () => this.#steered.splice(0),
      prepareMessages: (messages, ask) => {
        this.#current = messages
        return this.#compactor.fit(messages, ask)
      },
      onUsage: usage.record,
    })
    this.#messages = [...before, ...outcome.messages]
    this.#current = this.#messages
    this.#waiting = (outcome.waiting ?? []).map(({ id }) => id)
    return outcome
  }

  async #permit(tool: AgentTool, input: JsonObject, context: ToolContext): Promise<Permission> {
    let used = input
    if (needsApproval(tool, input) && this.#parts.every(({ permit }) => !permit)) {
      return { allowed: false, reason: 'it needs an approval, and this session cannot ask for one' }
    }
    for (const part of this.#parts) {
      const permission = await part.permit?.(tool, used, context)
      if (permission?.allowed === false) return permission
      used = permission?.input ?? used
    }
    for (const part of this.#parts) {
      if (!part.beforeTool) continue
      // Nothing starts for a call that was cancelled.
      context.signal.throwIfAborted()
      await part.beforeTool(tool, used, context)
    }
    return { allowed: true, input: used }
  }

  async #texts(question: (part: SessionPart) => Promise<string | undefined> | undefined) {
    const texts: string[] = []
    for (const part of this.#parts) texts.push(...[(await question(part)) ?? []].flat())
    return texts
  }
}

function openCalls(messages: readonly ModelMessage[]): RequestedCall[] {
  const last = messages.findLastIndex(({ role }) => role === 'assistant')
  const contentOf = (message: ModelMessage | undefined) =>
    typeof message?.content === 'string' ? [] : [...(message?.content ?? [])]
  const results = messages.slice(last + 1).flatMap((message) => contentOf(message))
  const done = new Set(results.map((part) => part.type === 'tool-result' && part.toolCallId))
  return contentOf(messages[last]).flatMap((part) => {
    if (part.type !== 'tool-call' || part.providerExecuted) return []
    const { toolCallId: id, toolName: name, input } = part
    return done.has(id) ? [] : { id, name, input }
  })
}

/** Results for calls that are not made any more: no provider takes a call without one. */
function notDone(calls: readonly RequestedCall[], waiting: readonly string[]): ModelMessage {
  const content = calls.map(({ id, name }) => ({
    type: 'tool-result' as const,
    toolCallId: id,
    toolName: name,
    output: {
      type: 'error-text' as const,
      value: waiting.includes(id)
        ? 'Error: this was not approved; the user continued with another message.'
        : 'Error: the process ended before this was done. Check whether it had an effect.',
    },
  }))
  return { role: 'tool', content }
}
