import type { ReportedError, StepOutput } from '../exec/index.ts'
import type { JsonValue } from '../skill/index.ts'
import type { PlannedChain, PlannedTask } from './plan-model.ts'
import type { AttemptResult, RunStatus, StepResult } from './result.ts'
import type { ChainState } from './state.ts'

/**
 * What the interpreter needs of a durable engine, and all it needs. An engine may be replayed: the
 * interpreter calls it with the same keys in the same order until the recorded results are used up,
 * so everything that could differ between two replays comes through here.
 *
 * Rules for an engine: a failure is a value, never a throw; it repeats nothing by itself; a result
 * is recorded before it is returned; `firstOf` gives the same answer on every replay.
 */
export interface Engine {
  /** Announces a step. It need not start before something waits for it in `firstOf`. */
  task(call: TaskCall): Running
  /** Announces a nested chain. `body` runs it on the engine it is given. */
  chain(call: ChainCall, body: (engine: Engine) => Promise<ChainResult>): Running
  /**
   * Waits until one of them has an outcome, the one that was recorded first. A suspended one is the
   * answer only when nothing else in the list can finish. Never called with an empty list.
   */
  firstOf(running: readonly Running[]): Promise<Ended>
  /** Ends them and waits until they have ended; in the order given. */
  cancel(running: readonly Running[]): Promise<readonly CancelledStep[]>
  /** Keeps a value that was decided once, such as the winner of a race. */
  record<T extends JsonValue>(key: string, decide: () => T): Promise<T>
}

/** A step that was announced. `key` is unique in the run: attempt and name, level by level. */
export interface Running {
  readonly key: string
  /** It has waited for somebody, so others took its place in the group; that stays so. */
  readonly waited?: boolean | undefined
}

export interface Ended {
  key: string
  outcome: Outcome
}

interface Call {
  key: string
  attempt: number
  /** What the step may see of those before it. */
  state: ChainState
  /** Bounds the step as a whole; 0 is no limit. */
  timeoutMs: number
}

export interface TaskCall extends Call {
  step: PlannedTask
}

export interface ChainCall extends Call {
  step: PlannedChain
}

export type Outcome =
  | FinishedOutcome
  /** The engine was told to end (a time-out or a stop further up); nothing below goes on. */
  | ({ kind: 'cancelled' } & CancelledStep)
  /** The run cannot go on now, but later. */
  | SuspendedOutcome

export interface FinishedOutcome extends Pick<StepResult, 'sandbox' | 'hint'> {
  kind: 'finished'
  output: StepOutput
  /** Milliseconds since the epoch. */
  startedAt: number
  durationMs: number
  /** The last lines that it printed. */
  log?: string | undefined
  /** Of everything that an agent or a model was told. */
  promptDigest?: string | undefined
  /** For a nested chain: what happened below. */
  chain?: ChainResult | undefined
  /** Taken over from another run. */
  reused?: true | undefined
  /** A person said no: the whole run ends as a failure. */
  rejected?: true | undefined
}

export interface SuspendedOutcome {
  kind: 'suspended'
  why: Suspension
  /** When it was handed out, for a step that an agent is working on. */
  startedAt?: number | undefined
  /** Its time for a report is over, and nobody has ended it yet. */
  overdue?: ReportedError | undefined
  /** How long it had run by then; undefined where nobody knows. */
  durationMs?: number | undefined
  /** For a nested chain: how far it came. */
  chain?: ChainResult | undefined
}

export interface CancelledStep {
  startedAt?: number | undefined
  durationMs?: number | undefined
  chain?: ChainResult | undefined
}

/** `approval`: of a person; `report`: of the agent that is driven; `interrupted`: to be resumed. */
export type Suspension = 'approval' | 'report' | 'interrupted'

/** How a chain ended, or where it stands. */
export interface ChainResult {
  status: RunStatus
  attempts: readonly AttemptResult[]
  winner?: string | undefined
  /** It did not come to its end: a person said no, or it was ended from above. */
  ended?: 'rejected' | 'cancelled' | 'suspended' | undefined
}
