import type { ModelMessage } from 'ai'
import type { JsonObject } from '#core/json'
import { requireOptions, runLimits } from './check-options.ts'
import { Compactor } from './conversation/compact.ts'
import { hasText } from './conversation/messages.ts'
import { usageError } from './errors.ts'
import { runLoop } from './loop/run-loop.ts'
import type { RequestedCall } from './loop/sdk.ts'
import { Stopper } from './stopper.ts'
import { jsonSchemaOf, needsApproval } from './tool.ts'
import type {
  JoinedSession,
  PromptContext,
  SessionOptions,
  SessionPart,
} from './session-contract.ts'
import type { AgentTool, LoopOutcome, Permission, RunOptions, ToolContext } from './types.ts'

/** Maximum number of turns of an agent without the option `maxTurns`. */
export const defaultMaxTurns = 50

/** A conversation: its history, and the parts that take part in its turns. Every delegation has its own. */
export class AgentSession implements JoinedSession {
  readonly #options: SessionOptions
  readonly #parts: SessionPart[] = []
  readonly #compactor: Compactor
  #messages: readonly ModelMessage[]
  /** The messages of the current step, which may be ahead of `#messages`. */
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

  /** Prepares the parts: servers start, subagents are found. Returns the instructions of the parts. */
  async prepare(run: PromptContext) {
    return await this.#texts((part) => part.instructions?.(run))
  }

  /** Without a prompt, the last turn continues: with its waiting calls, or after an interruption. */
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
    const { before: history, open } = await this.#beginTurn(prompt, run, context)
    const addMessages = async (newMessages: readonly ModelMessage[]) => {
      this.#messages = [...history, ...newMessages]
      await this.#options.onMessages?.()
    }
    // If the process ends before a call has its result, nobody knows whether the call had an effect.
    this.#waiting = []
    await addMessages([])
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
      messages: history,
      offeredTools: () => this.tools(),
      permit: (...call) => this.#permit(...call),
      afterTool: async (...call) => {
        const hookTexts = await this.#texts((part) => part.afterTool?.(...call))
        return hookTexts.length === 0 ? undefined : hookTexts.join('\n\n')
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
      onMessages: addMessages,
      maxTurns: run.maxTurns ?? maxTurns ?? defaultMaxTurns,
      steering: () => this.#steered.splice(0),
      prepareMessages: (messages, ask) => {
        this.#current = messages
        return this.#compactor.fit(messages, ask)
      },
      onUsage: usage.record,
    })
    this.#messages = [...history, ...outcome.messages]
    this.#current = this.#messages
    this.#waiting = (outcome.waiting ?? []).map(({ id }) => id)
    return outcome
  }

  /** Returns the messages with which the turn begins, and the calls in them that are made first. */
  async #beginTurn(
    prompt: string | undefined,
    { files = [] }: RunOptions,
    context: PromptContext,
  ): Promise<{ before: readonly ModelMessage[]; open: readonly RequestedCall[] }> {
    const calls = callsWithoutResult(this.#messages)
    const open = prompt === undefined ? calls.filter(({ id }) => this.#waiting.includes(id)) : []
    const lostCalls = calls.filter((call) => !open.includes(call))
    const history = [...this.#messages]
    if (lostCalls.length > 0) history.push(notDone(lostCalls, this.#waiting))
    if (prompt === undefined) {
      if (open.length === 0 && history.at(-1)?.role === 'assistant') {
        const message = 'The last turn is complete: there is nothing to continue.'
        throw usageError('turn-complete', message, 'Give the next prompt.')
      }
      for (const part of this.#parts) await part.resume?.(context)
      return { before: history, open }
    }
    let text = prompt
    for (const part of this.#parts) text = (await part.prompt?.(text, context)) ?? text
    const content = files.length === 0 ? text : [{ type: 'text' as const, text }, ...files]
    return { before: [...history, { role: 'user', content }], open }
  }

  async #permit(tool: AgentTool, input: JsonObject, context: ToolContext): Promise<Permission> {
    let usedInput = input
    if (needsApproval(tool, input) && this.#parts.every(({ permit }) => !permit)) {
      return { allowed: false, reason: 'it needs an approval, and this session cannot ask for one' }
    }
    for (const part of this.#parts) {
      const permission = await part.permit?.(tool, usedInput, context)
      if (permission?.allowed === false) return permission
      usedInput = permission?.input ?? usedInput
    }
    for (const part of this.#parts) {
      if (!part.beforeTool) continue
      // Nothing starts for a call that was cancelled.
      context.signal.throwIfAborted()
      await part.beforeTool(tool, usedInput, context)
    }
    return { allowed: true, input: usedInput }
  }

  async #texts(question: (part: SessionPart) => Promise<string | undefined> | undefined) {
    const texts: string[] = []
    for (const part of this.#parts) texts.push(...[(await question(part)) ?? []].flat())
    return texts
  }
}

/** Returns the calls of the last answer that have no result. */
function callsWithoutResult(messages: readonly ModelMessage[]): RequestedCall[] {
  const last = messages.findLastIndex(({ role }) => role === 'assistant')
  const contentOf = (message: ModelMessage | undefined) =>
    typeof message?.content === 'string' ? [] : [...(message?.content ?? [])]
  const results = messages.slice(last + 1).flatMap((message) => contentOf(message))
  const answeredIds = new Set(results.map((part) => part.type === 'tool-result' && part.toolCallId))
  return contentOf(messages[last]).flatMap((part) => {
    if (part.type !== 'tool-call' || part.providerExecuted) return []
    const { toolCallId: id, toolName: name, input } = part
    return answeredIds.has(id) ? [] : { id, name, input }
  })
}

/** Results for calls that are not made any more: providers refuse a call without a result. */
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
