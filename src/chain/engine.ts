import type { Evidence, ReportedError, StepOutput, StepStatus } from '#exec/output-protocol'
import type { JsonValue } from '#core/json'
import type { PlannedChain, PlannedTask, TaskExecutor } from './plan-model.ts'
import type { ChainState, PreviousOutput } from './step-result.ts'

/**
 * What the interpreter needs of a durable engine. An engine may be replayed: it is called with the
 * same keys in the same order until the recorded results are used up. Rules: a failure is a value,
 * never a throw; an engine repeats nothing by itself; a result is recorded before it is returned;
 * `firstOf` gives the same answer on every replay.
 */
export interface Engine {
  /** Announces a step. It need not start before `firstOf` waits for it. */
  task(call: TaskCall): Running
  chain(call: ChainCall, body: (engine: Engine) => Promise<ChainResult>): Running
  firstOf(running: readonly Running[]): Promise<Ended>
  /** Whether nobody has to approve a step with a gate any more. */
  isOpen(call: Call): boolean
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
  /** It starts no sooner than `ms` after the time `since`, both in milliseconds. */
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
  /** Ended by a time-out or a stop further up; nothing below continues. */
  | ({ kind: 'cancelled' } & CancelledStep)
  | SuspendedOutcome

interface StepFacts {
  /** The output with secrets masked, where it has some. */
  shown?: StepOutput | undefined
  log?: string | undefined
  promptDigest?: string | undefined
  /** The sandbox that its scripts ran in, where they did: `bubblewrap` or `seatbelt`. */
  sandbox?: string | undefined
  hint?: string | undefined
}

export interface FinishedOutcome extends StepFacts {
  kind: 'finished'
  output: StepOutput
  startedAt: number
  durationMs: number
  chain?: ChainResult | undefined
  reused?: true | undefined
  /** A user rejected it: the whole run ends as a failure. */
  rejected?: true | undefined
}

export interface SuspendedOutcome extends CancelledStep {
  kind: 'suspended'
  why: Suspension
  /** Its time is over, which what continues the run will say. */
  overdue?: ReportedError | undefined
}

export interface CancelledStep {
  startedAt?: number | undefined
  /** How long it had run by then; undefined where it is not known. */
  durationMs?: number | undefined
  chain?: ChainResult | undefined
}

/** `approval`: of a user; `report`: of the agent that is driven; `interrupted`: to be resumed. */
export type Suspension = 'approval' | 'report' | 'interrupted'

export interface ChainResult {
  status: RunStatus
  attempts: readonly AttemptResult[]
  winner?: string | undefined
  /** Why it has no result of its own. */
  ended?: 'rejected' | 'cancelled' | 'suspended'
}

/**
 * What became of a planned step. `skipped`: by `continue_on_success`; `not_run`: the chain had
 * stopped or has not reached it; `cancelled`: ended while it ran; `waiting`: for a user or a
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
  /** 0 also where it is unknown: for a step that a crash interrupted, or that waits. */
  durationMs: number
  /** Why it was not executed, or what it waits for. */
  reason?: string | undefined
  allowFailure?: true | undefined
  /** Its attempts before this one, where it may be repeated by itself. */
  tries?: readonly StepResult[] | undefined
  /** The result was taken over from another run, with its times. */
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
}

export interface RunResult extends Omit<ChainResult, 'ended'> {
  runId: string
  skill: string
}

/** What happens in a run while it happens; one NDJSON line each with `--events`. Times ISO 8601. */
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
      durationMs: number
      at: string
      /** It was finished before; only its recorded result was read. */
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
  /** Run, step and attempt: the same again when the step is repeated after a crash. */
  idempotencyKey: string
  arguments: readonly string[]
}

export type StepAnswer =
  | OutputAnswer
  /** Nothing to execute here: the step was handed out, and somebody will report. */
  | { kind: 'pending'; handedAt: number }

export interface OutputAnswer extends StepFacts {
  kind: 'output'
  output: StepOutput
  /** How long an agent had it, from handing out to its report, before it was executed here. */
  workedMs?: number
  /** `scripts/verify` was stopped before it finished. */
  endedInVerification?: true | undefined
}
