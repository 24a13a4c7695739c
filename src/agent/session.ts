import type { LanguageModel, ModelMessage } from 'ai'
import { AgentUsageError } from './agent-errors.ts'
import { type ConversationLimits, createCompactor } from './conversation/compactor.ts'
import { messageTexts } from './conversation/message-text.ts'
import { runLoop } from './loop/run-loop.ts'
import type { AgentEvent, AgentTool, CallSettings, LoopOutcome } from './model.ts'
import type { Mutable } from './mutable.ts'
import type { JsonObject } from '../tools/index.ts'
import { joinParts, type SessionPart } from './session-part.ts'
import type { UsageLedger } from './usage/ledger.ts'

/** The turns of an agent that nobody gave a number (PRD 5.6). */
export const defaultMaxTurns = 50

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
