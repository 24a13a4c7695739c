import { AsyncLocalStorage } from 'node:async_hooks'
import { type JsonValue, present } from '#core/json'
import { SubagentDelegationError, SubagentNestingError, SubagentTimeoutError } from '#agent/errors'
import { EventLog } from '#agent/events'
import { failureText } from '#agent/loop/results'
import { maxTurnsExceeded } from '#agent/loop/run-loop'
import type { Queue } from '#agent/queue'
import type { Stopper, StopReason } from '#agent/stopper'
import type { AgentEvent, LoopOutcome, RunStatus, TokenUsage } from '#agent/types'
import type { Child, Work } from './child.ts'

export type DelegationStatus = 'queued' | 'running' | RunStatus

/** `capped`: its turns were used up, or it repeated itself. */
type EndReason = 'done' | 'capped' | 'cancelled' | 'parent-cancelled' | 'timeout' | 'failed'

/** What a delegation came to. There is one however it ended. */
export interface SubagentResult {
  /** The delegation; `resume` takes it. */
  id: string
  subagentName: string
  task: string
  success: boolean
  status: RunStatus
  endReason: EndReason
  /** The final answer; the text until then where there is none; the summary where capped. */
  output: string
  /** The final answer as JSON, where a schema was given. */
  structured?: JsonValue | undefined
  /** Of all model calls of this delegation, however it ended. */
  usage: TokenUsage
  durationMs: number
  /** The run of the tool loop; undefined where the model was never asked. */
  result: LoopOutcome | undefined
  error?: string | undefined
  /** What was asked for and could not be given, such as unknown tools. */
  notices: readonly string[]
}

/** @internal */
interface DelegationInput extends Pick<Work, 'task' | 'options'> {
  child: Child
  queue: Queue
  stopper: Stopper
  onEnd: () => void
}

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
    this.id = input.child.id
    this.subagentName = input.child.config.name
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

  /** What happens in it, from the beginning until its end. */
  get events(): AsyncIterable<AgentEvent> {
    return { [Symbol.asyncIterator]: () => this.#log.read() }
  }

  /** Waits for the end. Never rejects: a failure is a result. */
  result(): Promise<SubagentResult> {
    return this.#done
  }

  cancel(): void {
    this.#input.stopper.stop('cancelled')
  }

  /** Sends a message for its next step. @throws {SubagentDelegationError} when it is over. */
  send(text: string): void {
    if (!this.isComplete) return this.#input.child.session.steer(text)
    const message = `The delegation ${this.id} to ${this.subagentName} has ended and takes no more messages.`
    const hint = 'Resume it with the message as its next task.'
    throw new SubagentDelegationError({ code: 'delegation-over', message, hint })
  }

  async #run(): Promise<SubagentResult> {
    const { child, queue, stopper, onEnd } = this.#input
    const { id, subagentName, task } = this
    const { runtime } = child.parent.environment
    const began = runtime.elapsed()
    let outcome: LoopOutcome | undefined
    let failure: string | undefined
    try {
      const work = (): Promise<LoopOutcome> => current.run(subagentName, () => this.#work())
      outcome = await queue.run(stopper.signal, work)
    } catch (error) {
      failure = stopper.signal.aborted ? undefined : failureText(error)
    }
    const endReason = reasonOf(outcome, stopper.reason, failure)
    stopper.end()
    const { status, told, fallback } = endings[endReason]
    const success = endReason === 'done'
    this.#status = status
    this.#tellStatus(status)
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
      usage: child.used,
      durationMs: Math.round(runtime.elapsed() - began),
      result: outcome,
      ...(success ? {} : { error: told ?? failure ?? outcome?.error ?? fallback }),
      notices: child.notices,
    }
  }

  async #work(): Promise<LoopOutcome> {
    const { child, stopper, options } = this.#input
    const { stream = false, context = '' } = options
    const more = context.trim() === '' ? '' : `\n\n<context>\n${context.trim()}\n</context>`
    this.#status = 'running'
    this.#tellStatus('started')
    return await child.session.run(`${this.task}${more}`, {
      signal: stopper.signal,
      onEvent: (event) => this.#tell(event),
      stream,
      outputSchema: child.outputSchema,
    })
  }

  #tellStatus(status: 'started' | RunStatus) {
    const { id: delegation, subagentName: subagent } = this
    const agent = this.#input.child.parent.environment.name
    this.#tell({ type: 'delegation', agent, delegation, subagent, status })
  }

  #tell(event: AgentEvent): void {
    const { options, child } = this.#input
    this.#log.add(event)
    try {
      if (!options.onEvent) child.parent.onEvent(event)
      else options.onEvent(event)
    } catch {
      // The listener is responsible for its errors.
    }
  }
}

/** A run that was done when it was stopped is done. */
function reasonOf(
  outcome: LoopOutcome | undefined,
  stopped: StopReason | undefined,
  failure: string | undefined,
): EndReason {
  if (outcome?.status === 'completed') return 'done'
  if (outcome?.status === 'capped') return 'capped'
  if (stopped) return stopped
  return outcome?.status === 'cancelled' && failure === undefined ? 'cancelled' : 'failed'
}

/** `told` is the error whatever else is known; `fallback` where nothing is. */
const endings: Readonly<
  Record<EndReason, { status: RunStatus; told?: string; fallback?: string }>
> = {
  done: { status: 'completed' },
  capped: { status: 'capped', fallback: maxTurnsExceeded },
  cancelled: { status: 'cancelled', told: 'The delegation was cancelled.' },
  'parent-cancelled': {
    status: 'cancelled',
    told: 'The delegation was cancelled with the run that waited for it.',
  },
  timeout: { status: 'failed', told: 'The delegation took longer than it may.' },
  failed: { status: 'failed', fallback: 'The delegation failed.' },
}

/**
 * Returns the result, for callers that prefer an error to looking at `success`.
 *
 * @throws {SubagentTimeoutError} when its turns or its time ran out.
 * @throws {SubagentDelegationError} when it failed or was cancelled.
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

/** The subagent that is running: a tool of it may reach a manager by its own means. */
const current = new AsyncLocalStorage<string>()

export function refuseNesting(wanted: string): void {
  const subagent = current.getStore()
  if (subagent === undefined) return
  const message = `The subagent ${subagent} may not delegate to ${wanted}: subagents are one level deep.`
  throw new SubagentNestingError({ code: 'subagent-nesting', message })
}
