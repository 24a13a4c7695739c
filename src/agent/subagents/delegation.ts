import { messageOf, type Runtime, SkillrailError } from '../../base/index.ts'
import { SubagentDelegationError } from '../errors.ts'
import type { AgentEvent, LoopOutcome, RunStatus } from '../model.ts'
import type { Mutable } from '../mutable.ts'
import { subtractUsage } from '../usage/token-usage.ts'
import type { Child } from './child.ts'
import { createEventLog } from './event-log.ts'
import { inSubagent } from './nesting.ts'
import type { Queue } from './queue.ts'
import { resultOf, type SubagentResult } from './result.ts'
import type { Stopper } from './stopper.ts'

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

export interface DelegationInput {
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
