import type { Runtime } from '#core/runtime'
import { endOrphans } from '#exec/process-group'
import { failedOutput } from '#exec/output-protocol'
import { overdue, timeLimit, untilDue } from '#chain/attempt'
import type { EventListener, FinishedOutcome, Outcome, TaskCall } from '#chain/engine'
import { RunFilesError } from '#chain/errors'
import type { PlannedStep } from '#chain/plan-model'
import { finishedEvent } from '#chain/step-result'
import type { StepRunner } from '#chain/step-runner'

export type Sdk = typeof import('@restatedev/restate-sdk')

export type Refused =
  | { kind: 'refused'; code: 'skill-not-trusted' | 'sandbox-missing'; reason: string }
  | { kind: 'elsewhere'; reason: string }

export interface StepRules {
  /** Returns undefined if this worker may execute the step. */
  accept(step: PlannedStep): Refused | undefined
  /** Makes the server open a new connection, which a load balancer can send to another worker. */
  closeSessions(): void
  /** How long the server retries a step before the step fails. */
  patienceMs: number
  resultLimit: number
}

interface StepExecutionOptions extends StepRules {
  sdk: Sdk
  runId: string
  runner: StepRunner
  clock: Runtime
  defaultTimeoutMs: number
  /** Aborted when another worker has the invocation. */
  attempt: AbortSignal
  /** Whether an earlier execution of this run may have left processes here. */
  isRepeated(): boolean
  onEvent: EventListener
}

export class StepExecution {
  readonly patience: { maxRetryDuration: number }
  readonly #options: StepExecutionOptions
  readonly #working = new Set<Promise<Outcome>>()

  constructor(options: StepExecutionOptions) {
    this.#options = options
    this.patience = { maxRetryDuration: options.patienceMs }
  }

  /** Returns the outcome to record. Throws to make the server retry on another worker. */
  async execute(call: TaskCall, signal: AbortSignal): Promise<Outcome> {
    await untilDue(call, this.#options.clock, signal)
    if (signal.aborted) return { kind: 'cancelled' }
    const refusal = await this.refusalOutcome(call.step, signal)
    if (refusal !== undefined) return refusal
    const execution = this.#work(call, signal)
    this.#working.add(execution)
    const outcome = await execution
      .catch((error: unknown) => {
        if (error instanceof RunFilesError) return error
        throw error
      })
      .finally(() => this.#working.delete(execution))
    // Another worker may have space for the step's files.
    if (outcome instanceof RunFilesError) return await this.#retryElsewhere(outcome.message, signal)
    if (isChanged(outcome)) {
      return await this.#retryElsewhere(
        `${otherVersion}: ${call.step.path} was changed here`,
        signal,
      )
    }
    const at = new Date(this.#options.clock.now()).toISOString()
    this.#options.onEvent(finishedEvent(call.key, call.step, outcome, at))
    return outcome
  }

  async refusalOutcome(step: PlannedStep, signal: AbortSignal): Promise<Outcome | undefined> {
    // No worker has such a skill, which the runner reports.
    if (step.executor === 'missing') return undefined
    const refusal = this.#options.accept(step)
    if (!refusal) return undefined
    if (refusal.kind === 'elsewhere') {
      return await this.#retryElsewhere(`${otherVersion}: ${refusal.reason}`, signal)
    }
    const output = failedOutput(refusal.code, refusal.reason)
    return finishedOutcome(output, this.#options.clock.now(), 0)
  }

  async #work(call: TaskCall, signal: AbortSignal): Promise<Outcome> {
    const { clock, runId, onEvent, attempt, runner, ...options } = this.#options
    const { step, key } = call
    if (options.isRepeated()) endOrphans(new Set([`${runId}/${key}`]))
    const startedAt = clock.now()
    const startMs = clock.elapsed()
    const at = new Date(startedAt).toISOString()
    onEvent({ type: 'step-started', key, step: step.step, skill: step.skill, chain: false, at })
    const late = new AbortController()
    const limit = timeLimit(call, () => late.abort(), { defaultMs: options.defaultTimeoutMs })
    try {
      const scope = AbortSignal.any([signal, attempt, late.signal])
      const answer = await runner.run(call, { signal: scope })
      const durationMs = Math.round(clock.elapsed() - startMs)
      // The execution on the other worker counts.
      if (attempt.aborted) throw new Error('the server switched to another worker')
      if (answer.kind === 'pending') throw new Error('an agent cannot be driven by a worker')
      if (limit.over()) {
        return finishedOutcome(overdue(limit, answer.endedInVerification), startedAt, durationMs)
      }
      if (signal.aborted) return { kind: 'cancelled', startedAt, durationMs }
      const { output, shown, log, notUtf8, promptDigest } = answer
      const outcome = {
        ...finishedOutcome(output, startedAt, durationMs),
        shown,
        log,
        notUtf8,
        promptDigest,
      }
      return limitSize(outcome, options.resultLimit)
    } finally {
      limit.clear()
    }
  }

  async #retryElsewhere(message: string, signal: AbortSignal): Promise<Outcome> {
    // Parallel steps finish first, because the retry ends this worker's part in the run.
    while (this.#working.size > 0 && !signal.aborted) await Promise.allSettled(this.#working)
    if (signal.aborted) return { kind: 'cancelled' }
    this.#options.closeSessions()
    throw new this.#options.sdk.RetryableError(message, { retryAfter: retryAfterMs })
  }
}

const otherVersion = 'no worker has this version of the skill'

const retryAfterMs = 250

function isChanged(outcome: Outcome): boolean {
  if (outcome.kind !== 'finished') return false
  return outcome.output.errors.some(({ code }) => code === 'digest-changed')
}

function finishedOutcome(
  output: FinishedOutcome['output'],
  startedAt: number,
  durationMs: number | null,
): FinishedOutcome {
  return { kind: 'finished', output, startedAt, durationMs }
}

/** A result that the server refuses must not block the whole run. */
function limitSize(outcome: FinishedOutcome, limit: number): FinishedOutcome {
  const bytes = Buffer.byteLength(JSON.stringify(outcome))
  if (bytes <= limit) return outcome
  const message = `its result has ${bytes} bytes, more than ${limit}; write it to a file in SKILLRAIL_SCRATCH and return its path in artifacts`
  return finishedOutcome(
    failedOutput('result-too-large', message),
    outcome.startedAt,
    outcome.durationMs,
  )
}
