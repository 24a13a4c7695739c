import type { Evidence, ReportedError, StepOutput, StepStatus } from '#exec/output-protocol'
import type { JsonValue } from '#core/json'
import type { PlannedChain, PlannedStep, PlannedTask, TaskExecutor } from './plan-model.ts'
import type { ChainState, PreviousOutput } from './step-result.ts'

/**
 * A durable engine, as the interpreter needs one. The interpreter may replay a run: it calls the engine
 * with the same keys in the same order until the recorded results are used up. A failure is a value,
 * never a throw. An engine repeats nothing by itself, and records a result before it returns it.
 * `firstOf` returns the same answer on every replay.
 */
export interface Engine {
  /** Announces a step, which need not start before `firstOf` waits for it. */
  task(call: TaskCall): Running
  chain(call: ChainCall, body: (engine: Engine) => Promise<ChainResult>): Running
  firstOf(running: readonly Running[]): Promise<Ended>
  /** Whether the gate of a step needs no further approval. */
  isOpen(call: Call & { step: PlannedStep }): boolean
  cancel(running: readonly Running[]): Promise<readonly CancelledStep[]>
  record<T extends JsonValue>(key: string, decide: () => T): Promise<T>
}

export interface Running {
  readonly key: string
  readonly waited?: boolean
}

export interface Ended {
  key: string
  outcome: Outcome
}

export interface Call {
  key: string
  attempt: number
  state: ChainState
  /** Bounds the step as a whole; 0 means no limit. */
  timeoutMs: number
  /** The step starts no sooner than `ms` after the time `since`, both in milliseconds. */
  wait?: { ms: number; since: number } | undefined
}

export interface TaskCall extends Call {
  step: PlannedTask
}

export interface ChainCall extends Call {
  step: PlannedChain
}

export type Outcome =
  | FinishedOutcome
  /** Ended by a time limit or a stop in a chain above. Its own steps do not continue. */
  | ({ kind: 'cancelled' } & CancelledStep)
  | SuspendedOutcome

interface StepFacts {
  /** The output with its secrets masked, if it has any. */
  shown?: StepOutput | undefined
  log?: string | undefined
  promptDigest?: string | undefined
  /** The sandbox of its scripts, if they ran in one: `bubblewrap` or `seatbelt`. */
  sandbox?: string | undefined
  hint?: string | undefined
  /** The step printed bytes that are not UTF-8, which became replacement characters. */
  notUtf8?: true | undefined
}

export interface FinishedOutcome extends StepFacts {
  kind: 'finished'
  output: StepOutput
  startedAt: number
  /** Null if it is unknown because the clock was set back. */
  durationMs: number | null
  clockShiftMs?: ClockShift
  chain?: ChainResult | undefined
  reused?: true | undefined
  /** A user rejected the step. The whole run ends as a failure, unless the step has `rework`. */
  rejected?: true | undefined
  /** Why the user rejected the step. */
  reason?: string | undefined
}

export interface SuspendedOutcome extends CancelledStep {
  kind: 'suspended'
  why: Suspension
  /** The time limit has passed. The step gets this error when the run continues. */
  overdue?: ReportedError | undefined
}

/**
 * How far the clock had been set forward when a step began, compared with the monotonic clock of the
 * process; negative if it was set back. Null if an earlier process of the run had a later time; undefined
 * for less than a second.
 */
export type ClockShift = number | null | undefined

export interface CancelledStep {
  startedAt?: number | undefined
  /** How long the step had run; undefined after a crash, null if the clock was set back. */
  durationMs?: number | null | undefined
  clockShiftMs?: ClockShift
  chain?: ChainResult | undefined
}

/** `approval`: a user must approve; `report`: an agent must report; `interrupted`: a user can resume. */
export type Suspension = 'approval' | 'report' | 'interrupted'

export interface ChainResult {
  status: RunStatus
  attempts: readonly AttemptResult[]
  winner?: string | undefined
  /** Why the chain has no final result. */
  ended?: 'rejected' | 'cancelled' | 'suspended'
}

/**
 * The status of a planned step. `skipped`: by `continue_on_success`; `not_run`: the chain stopped
 * before the step or has not reached it; `cancelled`: ended while it ran; `waiting`: for a user or a
 * report; `running`: a process executes it now.
 */
export type StepResultStatus =
  | StepStatus
  | 'skipped'
  | 'not_run'
  | 'cancelled'
  | 'waiting'
  | 'running'

export type RunStatus = StepStatus | 'waiting' | 'interrupted' | 'cancelled'

export interface StepResult
  extends Omit<StepFacts, 'promptDigest'>, Omit<PreviousOutput, 'status'> {
  status: StepResultStatus
  evidence: Evidence | null
  /** ISO 8601, or null for a step that never started. */
  startedAt: string | null
  /**
   * Also 0 for a step that a crash interrupted or that waits. Null if it is unknown because the clock was
   * set back.
   */
  durationMs: number | null
  clockShiftMs?: ClockShift
  /** Why the step was not executed, or what it waits for. */
  reason?: string | undefined
  allowFailure?: true | undefined
  /** The round in its chain's attempt, from 2, if rejections sent the chain back. */
  round?: number | undefined
  /** The earlier attempts of a step with `retry`. */
  tries?: readonly StepResult[] | undefined
  /** The result and its times come from another run. */
  reused?: true | undefined
  steps?: readonly StepResult[] | undefined
  attempts?: readonly AttemptResult[] | undefined
}

export interface AttemptResult {
  attempt: number
  status: RunStatus
  steps: readonly StepResult[]
  chain_state: ChainState
  /** What is wrong with the attempts as a whole; only on the last one. */
  errors?: readonly ReportedError[]
  /** The rejections that sent the chain back, in their order. */
  reworks?: readonly Rework[] | undefined
}

/** A rejection at the gate of a step with `rework`, which made results void. */
export interface Rework {
  /** The step that was rejected. */
  step: string
  /** The step from which the chain was done again. */
  to: string
  /** The user's reason, if there is one. */
  reason?: string | undefined
  /** The void results, from `to` up to the rejected step. */
  steps: readonly StepResult[]
}

export interface RunResult extends Omit<ChainResult, 'ended'> {
  runId: string
  skill: string
}

/** An event of a run in progress, one NDJSON line each with `--events`. Times are ISO 8601. */
export type ChainEvent =
  | { type: 'run-started'; runId: string; skill: string; steps: number; at: string }
  | { type: 'step-started'; key: string; step: string; skill: string; chain: boolean; at: string }
  | { type: 'step-output'; key: string; step: string; stream: 'stdout' | 'stderr'; text: string }
  | {
      type: 'step-finished'
      key: string
      step: string
      skill: string
      chain: boolean
      status: StepResultStatus
      result: string
      error?: string | undefined
      sandbox?: string | undefined
      notUtf8?: true | undefined
      /** Null if it is unknown because the clock was set back. */
      durationMs: number | null
      at: string
      /** The step had finished before; only its recorded result was read. */
      replayed: boolean
    }
  | { type: 'step-suspended'; key: string; step: string; why: Suspension; at: string }
  | { type: 'run-finished'; runId: string; status: RunStatus; at: string }

export type EventListener = (event: ChainEvent) => void

/** Executes the steps of one kind that the plan names: a script, an agent client, a model. */
export interface Executor {
  readonly kind: TaskExecutor
  /** Executes the step; a failure is an output. Must end soon after an abort. */
  execute(request: StepRequest): Promise<StepAnswer>
}

export interface StepContext {
  signal: AbortSignal
  onOutput?: ((chunk: Buffer, stream: 'stdout' | 'stderr') => void) | undefined
}

export interface StepRequest extends StepContext {
  call: TaskCall
  runId: string
  /** Run, step and attempt; the same if the step is repeated after a crash. */
  idempotencyKey: string
  arguments: readonly string[]
}

export type StepAnswer =
  | OutputAnswer
  /** The step was handed out, and an agent will report it. */
  | { kind: 'pending'; handedAt: number }

export interface OutputAnswer extends StepFacts {
  kind: 'output'
  output: StepOutput
  /** The milliseconds from handing the step out to the report of the agent; null if unknown. */
  workedMs?: number | null
  /** The check was stopped before it finished. */
  endedInVerification?: true | undefined
  /** The check ran before the report, or a user accepted the result without a check. */
  isConfirmed?: true | undefined
}
