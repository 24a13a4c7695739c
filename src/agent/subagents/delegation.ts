import { AsyncLocalStorage } from 'node:async_hooks'
import { messageOf, type Runtime, SkillrailError } from '../../base/index.ts'
import type { JsonValue } from '../../skill/index.ts'
import { SubagentDelegationError, SubagentNestingError, SubagentTimeoutError } from '../errors.ts'
import { maxTurnsExceeded } from '../loop/run-loop.ts'
import type { Mutable } from '../session.ts'
import type { AgentEvent, LoopOutcome, RunStatus, TokenUsage } from '../types.ts'
import { subtractUsage } from '../usage.ts'
import type { Child } from './child.ts'
import { createEventLog } from './event-log.ts'

export type DelegationStatus = 'queued' | 'running' | RunStatus

/** A delegation that goes on, or is over. */
export interface DelegationHandle {
  readonly id: string
  readonly subagentName: string
  readonly task: string
  readonly status: DelegationStatus
  readonly isComplete: boolean
  /** Waits for the end. Never rejects: a failure is a result. */
  result(): Promise<SubagentResult>
  /** Ends it; does nothing when it is over. */
  cancel(): void
  /**
   * A message to the subagent, which it reads before its next step.
   * @throws {SubagentDelegationError} when it is over.
   */
  send(message: string): void
  /** What happens in it, from the beginning (at most the last 1,000 events) until its end. */
  readonly events: AsyncIterable<AgentEvent>
}

interface DelegationInput {
  child: Child
  /** As it was given, and as the subagent reads it. */
  task: string
  prompt: string
  queue: Queue
  runtime: Pick<Runtime, 'elapsed'>
  /** The parent's name, for the event that says where a delegation stands. */
  parent: string
  /** Runs already; ended with the delegation. */
  stopping: Stopper
  onEvent: (event: AgentEvent) => void
  stream: boolean
  onEnd: (result: SubagentResult) => void
}

/** Starts a run of a subagent. */
export function startDelegation(input: DelegationInput): DelegationHandle {
  const { child, task, prompt, queue, runtime, parent, stopping } = input
  const { id, session } = child
  const subagent = child.config.name
  const log = createEventLog()
  const began = runtime.elapsed()
  const before = child.used()
  const handle: Mutable<DelegationHandle> = {
    id,
    subagentName: subagent,
    task,
    status: 'queued',
    isComplete: false,
    result: () => done,
    cancel: () => stopping.stop('cancelled'),
    send(message) {
      if (handle.isComplete) throw tooLate(id, subagent)
      session.steer(message)
    },
    events: { [Symbol.asyncIterator]: () => log.read() },
  }
  const done = run()
  return handle

  async function run(): Promise<SubagentResult> {
    let outcome: LoopOutcome | undefined
    let failure: string | undefined
    try {
      const leave = await queue.enter(stopping.signal)
      try {
        handle.status = 'running'
        tell({ type: 'delegation', agent: parent, delegation: id, subagent, status: 'started' })
        outcome = await inSubagent(subagent, work)
      } finally {
        leave()
      }
    } catch (error) {
      failure = stopping.signal.aborted ? undefined : sentence(error)
    } finally {
      stopping.end()
    }
    const result = resultOf({
      id,
      subagentName: subagent,
      task,
      outcome,
      stopped: stopping.reason(),
      failure,
      usage: subtractUsage(child.used(), before),
      durationMs: Math.round(runtime.elapsed() - began),
      notices: child.notices(),
    })
    handle.isComplete = true
    handle.status = result.status
    tell({ type: 'delegation', agent: parent, delegation: id, subagent, status: result.status })
    log.end()
    input.onEnd(result)
    return result
  }

  async function work(): Promise<LoopOutcome> {
    child.refresh()
    for (const message of child.notices()) tell({ type: 'notice', agent: subagent, message })
    return await session.run(prompt, {
      signal: stopping.signal,
      onEvent: tell,
      stream: input.stream,
      outputSchema: child.outputSchema,
    })
  }

  /** A listener that throws is no reason for a delegation to fail. */
  function tell(event: AgentEvent): void {
    log.add(event)
    try {
      input.onEvent(event)
    } catch {
      // its own affair
    }
  }
}

function sentence(error: unknown): string {
  const message = messageOf(error)
  return error instanceof SkillrailError && error.hint !== undefined
    ? `${message} ${error.hint}`
    : message
}

function tooLate(id: string, subagent: string): SubagentDelegationError {
  return new SubagentDelegationError({
    code: 'delegation-over',
    message: `The delegation ${id} to ${subagent} is over; nobody reads a message to it.`,
    hint: 'Resume it with the message as its next task.',
  })
}

/** Why a delegation is over. */
export type EndReason =
  | 'done'
  /** Its turns were used up, or it repeated itself. */
  | 'capped'
  | 'cancelled'
  /** The run that waited for it was cancelled. */
  | 'parent-cancelled'
  | 'timeout'
  | 'failed'

/** What a delegation came to. There is one however it ended. */
export interface SubagentResult {
  /** The delegation; `resume` takes it. */
  id: string
  subagentName: string
  task: string
  success: boolean
  status: RunStatus
  endReason: EndReason
  /** The final answer; what was written until then where there is none; the summary where capped. */
  output: string
  /** The final answer as JSON, where a schema was asked for. */
  structured?: JsonValue | undefined
  /** Of this delegation, and of all its model calls however it ended. */
  usage: TokenUsage
  durationMs: number
  /** The run of the tool loop; undefined where the model was never asked. */
  result: LoopOutcome | undefined
  error?: string | undefined
  /** What was asked for and could not be given, such as tools that are not there. */
  notices: readonly string[]
}

interface EndedRun {
  id: string
  subagentName: string
  task: string
  outcome: LoopOutcome | undefined
  /** Why it was stopped, where it was. */
  stopped: Extract<EndReason, 'cancelled' | 'parent-cancelled' | 'timeout'> | undefined
  /** What was thrown, where something was. */
  failure: string | undefined
  usage: TokenUsage
  durationMs: number
  notices: readonly string[]
}

/** Puts a run, or what was thrown in place of one, into the form that every caller gets. */
function resultOf(run: EndedRun): SubagentResult {
  const { id, subagentName, task, outcome, usage, durationMs, notices } = run
  const endReason = reasonOf(run)
  const { status, told, fallback } = endings[endReason]
  return {
    id,
    subagentName,
    task,
    success: endReason === 'done',
    status,
    endReason,
    output: outcome?.text ?? '',
    ...(outcome?.output === undefined ? {} : { structured: outcome.output }),
    usage,
    durationMs,
    result: outcome,
    ...(endReason === 'done' ? {} : { error: told ?? run.failure ?? outcome?.error ?? fallback }),
    notices,
  }
}

/** A run that was done when it was stopped is done. */
function reasonOf({ outcome, stopped, failure }: EndedRun): EndReason {
  if (outcome?.status === 'completed') return 'done'
  if (outcome?.status === 'capped') return 'capped'
  if (stopped !== undefined) return stopped
  return outcome?.status === 'cancelled' && failure === undefined ? 'cancelled' : 'failed'
}

/** `told` is said whatever else is known; `fallback` where nothing is. */
const endings: Readonly<
  Record<EndReason, { status: RunStatus; told?: string; fallback?: string | undefined }>
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
 * The result, for callers that would rather have an error than look at `success`.
 *
 * @throws {SubagentTimeoutError} when its turns or its time ran out.
 * @throws {SubagentDelegationError} when it failed or was cancelled.
 * @example
 * const { output } = requireSuccess(await agent.delegate('reviewer', 'Review src/a.ts'))
 */
export function requireSuccess(result: SubagentResult): SubagentResult {
  const { success, endReason, id, subagentName, error = '' } = result
  if (success) return result
  const ranOut = endReason === 'capped' || endReason === 'timeout'
  const facts = {
    code: `delegation-${endReason}`,
    message: `The delegation ${id} to ${subagentName} did not succeed: ${error}`,
  }
  throw ranOut ? new SubagentTimeoutError(facts) : new SubagentDelegationError(facts)
}

type StopReason = Extract<EndReason, 'cancelled' | 'parent-cancelled' | 'timeout'>

/** What ends a delegation: a cancellation of it or of what waits for it, or the end of its time. */
export interface Stopper {
  readonly signal: AbortSignal
  stop(reason: StopReason): void
  /** The first reason for which it was stopped. */
  reason(): StopReason | undefined
  /** Takes away the timer and the listener. */
  end(): void
}

/** Its time, in milliseconds, begins now. */
export function stopper(parent: AbortSignal | undefined, timeoutMs: number | undefined): Stopper {
  const controller = new AbortController()
  let first: StopReason | undefined
  let over = false
  const stop = (reason: StopReason): void => {
    if (first !== undefined || over) return
    first = reason
    controller.abort(new DOMException('The delegation was stopped.', 'AbortError'))
  }
  const withParent = (): void => stop('parent-cancelled')
  const timer = timeoutMs === undefined ? undefined : setTimeout(stop, timeoutMs, 'timeout')
  if (parent?.aborted === true) withParent()
  else parent?.addEventListener('abort', withParent, { once: true })
  return {
    signal: controller.signal,
    stop,
    reason: () => first,
    end() {
      over = true
      clearTimeout(timer)
      parent?.removeEventListener('abort', withParent)
    },
  }
}

/** Lets a number of delegations work at once; the others wait in the order in which they came. */
export interface Queue {
  /**
   * Waits for a free place. The function that is returned gives it back.
   *
   * Rejects with the signal's reason when that comes first.
   */
  enter(signal: AbortSignal): Promise<() => void>
  readonly waiting: number
}

export function createQueue(places: number): Queue {
  let free = places
  const line: (() => void)[] = []

  return {
    get waiting() {
      return line.length
    },
    async enter(signal) {
      signal.throwIfAborted()
      if (free > 0) free -= 1
      else await wait(signal)
      let left = false
      return () => {
        if (left) return
        left = true
        const next = line.shift()
        if (next === undefined) free += 1
        else next()
      }
    },
  }

  function wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = (): void => {
        line.splice(line.indexOf(enter), 1)
        reject(signal.reason)
      }
      line.push(enter)
      signal.addEventListener('abort', leave, { once: true })
    })
  }
}

/**
 * Which subagent the running code belongs to. A tool of a subagent that reaches a manager by its own
 * means is found out by this, so that no way leads to a second level.
 */
const current = new AsyncLocalStorage<{ subagent: string }>()

function inSubagent<T>(subagent: string, work: () => Promise<T>): Promise<T> {
  return current.run({ subagent }, work)
}

/** @throws {SubagentNestingError} inside a subagent, or for an agent that is one. */
export function refuseNesting(parent: { name: string; isSubagent: boolean }, wanted: string): void {
  const subagent = parent.isSubagent ? parent.name : current.getStore()?.subagent
  if (subagent === undefined) return
  throw new SubagentNestingError({
    code: 'subagent-nesting',
    message: `The subagent ${subagent} may not delegate to ${wanted}: subagents are one level deep.`,
    hint: 'Let it do the task itself, or say in its answer what should be delegated next.',
  })
}
