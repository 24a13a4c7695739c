import { AsyncLocalStorage } from 'node:async_hooks'
import { type JsonValue, present } from '#core/json'
import { SubagentDelegationError, SubagentNestingError, SubagentTimeoutError } from '#agent/errors'
import { EventLog } from '#agent/events'
import { failureText } from '#agent/loop/results'
import { maxTurnsExceeded } from '#agent/loop/run-loop'
import type { Queue } from '#agent/queue'
import type { Stopper, StopReason } from '#agent/stopper'
import type { AgentEvent, LoopOutcome, RunStatus, TokenUsage } from '#agent/types'
import type { DelegationRequest, SubagentSession } from './subagent-session.ts'

export type DelegationStatus = 'queued' | 'running' | RunStatus

/** `capped`: it reached its maximum of turns or tokens, or repeated itself. */
type EndReason = 'done' | 'capped' | 'cancelled' | 'parent-cancelled' | 'timeout' | 'failed'

/** The result of a delegation, also of one that failed or was cancelled. */
export interface SubagentResult {
  /** The ID of the delegation, for `resume`. */
  id: string
  subagentName: string
  task: string
  success: boolean
  status: RunStatus
  endReason: EndReason
  /** The final answer; a summary if `capped`; without either, the text written so far. */
  output: string
  /** The final answer as JSON, if the delegation has an output schema. */
  structured?: JsonValue | undefined
  /** Tokens of all model calls of this delegation. */
  usage: TokenUsage
  durationMs: number
  /** The outcome of the tool loop; undefined if the model was never called. */
  result: LoopOutcome | undefined
  error?: string | undefined
  /** Sentences about tools that the subagent should have had and did not get. */
  notices: readonly string[]
}

/** @internal */
interface DelegationInput extends Pick<DelegationRequest, 'task' | 'options'> {
  subagent: SubagentSession
  queue: Queue
  stopper: Stopper
  /** Called once the result is known. */
  onEnd: () => void
}

/** A delegation that is queued, running or over. */
export class DelegationHandle {
  readonly id: string
  readonly subagentName: string
  readonly task: string
  readonly #input: DelegationInput
  readonly #log = new EventLog<AgentEvent>()
  readonly #done: Promise<SubagentResult>
  #status: DelegationStatus = 'queued'

  /** @internal */
  constructor(input: DelegationInput) {
    this.id = input.subagent.id
    this.subagentName = input.subagent.config.name
    this.task = input.task
    this.#input = input
    this.#done = this.#run()
  }

  get status(): DelegationStatus {
    return this.#status
  }

  get isComplete(): boolean {
    return this.#status !== 'queued' && this.#status !== 'running'
  }

  /** All events of the delegation, from its beginning to its end. */
  get events(): AsyncIterable<AgentEvent> {
    return { [Symbol.asyncIterator]: () => this.#log.read() }
  }

  /** Waits for the end. Never rejects: a failure is a result too. */
  result(): Promise<SubagentResult> {
    return this.#done
  }

  cancel(): void {
    this.#input.stopper.stop('cancelled')
  }

  /** Sends a message that the subagent reads before its next step. @throws {SubagentDelegationError} after the end. */
  send(text: string): void {
    if (!this.isComplete) return this.#input.subagent.conversation.steer(text)
    const message = `The delegation ${this.id} to ${this.subagentName} has ended and takes no more messages.`
    const hint = 'Resume it with the message as its next task.'
    throw new SubagentDelegationError({ code: 'delegation-over', message, hint })
  }

  async #run(): Promise<SubagentResult> {
    const { subagent, queue, stopper, onEnd } = this.#input
    const { id, subagentName, task } = this
    const { runtime } = subagent.parent.environment
    const startedAt = runtime.elapsed()
    let outcome: LoopOutcome | undefined
    let failure: string | undefined
    try {
      const work = (): Promise<LoopOutcome> =>
        runningSubagent.run(subagentName, () => this.#carryOut())
      outcome = await queue.run(stopper.signal, work)
    } catch (error) {
      failure = stopper.signal.aborted ? undefined : failureText(error)
    }
    const endReason = endReasonOf(outcome, stopper.reason, failure)
    stopper.end()
    const { status, error, defaultError } = endings[endReason]
    const success = endReason === 'done'
    this.#status = status
    this.#reportStatus(status)
    this.#log.end()
    onEnd()
    return {
      id,
      subagentName,
      task,
      success,
      status,
      endReason,
      output: outcome?.text ?? '',
      ...present({ structured: outcome?.output }),
      usage: subagent.used,
      durationMs: Math.round(runtime.elapsed() - startedAt),
      result: outcome,
      ...(success ? {} : { error: error ?? failure ?? outcome?.error ?? defaultError }),
      notices: subagent.notices,
    }
  }

  async #carryOut(): Promise<LoopOutcome> {
    const { subagent, stopper, options } = this.#input
    const { stream = false } = options
    const context = options.context?.trim() ?? ''
    const suffix = context === '' ? '' : `\n\n<context>\n${context}\n</context>`
    this.#status = 'running'
    this.#reportStatus('started')
    return await subagent.conversation.run(`${this.task}${suffix}`, {
      signal: stopper.signal,
      onEvent: (event) => this.#report(event),
      stream,
      outputSchema: subagent.outputSchema,
    })
  }

  #reportStatus(status: 'started' | RunStatus) {
    const { id: delegation, subagentName } = this
    const agent = this.#input.subagent.parent.environment.name
    this.#report({ type: 'delegation', agent, delegation, subagent: subagentName, status })
  }

  #report(event: AgentEvent): void {
    const { options, subagent } = this.#input
    this.#log.add(event)
    try {
      if (options.onEvent) options.onEvent(event)
      else subagent.parent.onEvent(event)
    } catch {
      // The listener is responsible for its errors.
    }
  }
}

/** A run that finished before it was stopped counts as finished. */
function endReasonOf(
  outcome: LoopOutcome | undefined,
  stopReason: StopReason | undefined,
  failure: string | undefined,
): EndReason {
  if (outcome?.status === 'completed') return 'done'
  if (outcome?.status === 'capped') return 'capped'
  if (stopReason) return stopReason
  return outcome?.status === 'cancelled' && failure === undefined ? 'cancelled' : 'failed'
}

interface Ending {
  status: RunStatus
  /** Takes precedence over the error of the run. */
  error?: string
  /** Used if the run has no error. */
  defaultError?: string
}

const endings: Readonly<Record<EndReason, Ending>> = {
  done: { status: 'completed' },
  capped: { status: 'capped', defaultError: maxTurnsExceeded },
  cancelled: { status: 'cancelled', error: 'The delegation was cancelled.' },
  'parent-cancelled': {
    status: 'cancelled',
    error: 'The delegation was cancelled with the run that waited for it.',
  },
  timeout: { status: 'failed', error: 'The delegation took longer than it may.' },
  failed: { status: 'failed', defaultError: 'The delegation failed.' },
}

/**
 * Returns the result of a successful delegation, and throws for any other.
 *
 * @throws {SubagentTimeoutError} if the delegation reached its maximum of turns or its time limit.
 * @throws {SubagentDelegationError} if it failed or was cancelled.
 * @example
 * const { output } = requireSuccess(await agent.delegate('reviewer', 'Review src/a.ts'))
 */
export function requireSuccess(result: SubagentResult): SubagentResult {
  const { success, endReason, id, subagentName, error = '' } = result
  if (success) return result
  const isLimit = endReason === 'capped' || endReason === 'timeout'
  const Failure = isLimit ? SubagentTimeoutError : SubagentDelegationError
  const message = `The delegation ${id} to ${subagentName} did not succeed: ${error}`
  throw new Failure({ code: `delegation-${endReason}`, message })
}

/**
 * The name of the subagent in whose run this code is executed. A subagent has no tools that delegate,
 * but the code of one of its tools can call a manager itself.
 */
const runningSubagent = new AsyncLocalStorage<string>()

/** @throws {SubagentNestingError} if a subagent's run delegates. */
export function refuseNesting(target: string): void {
  const subagent = runningSubagent.getStore()
  if (subagent === undefined) return
  const message = `The subagent ${subagent} may not delegate to ${target}: subagents are one level deep.`
  throw new SubagentNestingError({ code: 'subagent-nesting', message })
}
