import type { Evidence, ReportedError, StepStatus } from '../exec/index.ts'
import type { JsonValue } from '../skill/index.ts'
import type { ChainState } from './state.ts'

/**
 * What became of a step that was planned. `skipped`: by `continue_on_success`; `not_run`: the chain
 * had stopped, or has not come to it; `cancelled`: it was running then; `waiting`: for a person, or
 * for a report; `running`: a process executes it while it is looked at.
 */
export type StepResultStatus =
  | StepStatus
  | 'skipped'
  | 'not_run'
  | 'cancelled'
  | 'waiting'
  | 'running'

/** How a run stands. `interrupted` and `waiting` can go on. */
export type RunStatus = StepStatus | 'waiting' | 'interrupted' | 'cancelled'

/** One step in the result of a run. */
export interface StepResult {
  step: string
  skill: string
  status: StepResultStatus
  result: string
  errors: readonly ReportedError[]
  metrics: Readonly<Record<string, JsonValue>>
  /** Null for a step that did not run to its end. */
  evidence: Evidence | null
  /** ISO 8601, or null for a step that never started. */
  startedAt: string | null
  /** 0 also where nobody knows it: for a step that was cut off by a crash, or waits. */
  durationMs: number
  /** Why it was not executed, or what it waits for. */
  reason?: string | undefined
  /** The result was taken over from another run, with its times. */
  reused?: true | undefined
  /** The last lines that it printed. */
  log?: string | undefined
  /** The sandbox that its scripts ran in, where they did: `bubblewrap` or `seatbelt`. */
  sandbox?: string | undefined
  /** What can be done about its failure. */
  hint?: string | undefined
  /** The steps of a nested chain, in the attempt that decided. */
  steps?: readonly StepResult[] | undefined
  /** Every attempt of a nested chain that was repeated. */
  attempts?: readonly AttemptResult[] | undefined
}

export interface AttemptResult {
  /** From 1. */
  attempt: number
  status: RunStatus
  steps: readonly StepResult[]
  chain_state: ChainState
  /** What is wrong with the attempts as a whole; only on the last one. */
  errors?: readonly ReportedError[] | undefined
}

/** The result of a run: what `--json` prints. */
export interface RunResult {
  runId: string
  skill: string
  status: RunStatus
  attempts: readonly AttemptResult[]
  /** The step that won the race. */
  winner?: string | undefined
}

/** A run as it is shown: perhaps while a process executes it. */
export interface ShownRun extends Omit<RunResult, 'status' | 'attempts'> {
  status: RunStatus | 'running'
  attempts: readonly ShownAttempt[]
}

export interface ShownAttempt extends Omit<AttemptResult, 'status'> {
  status: RunStatus | 'running'
}

/** The attempt that decided the run: the last one. */
export function lastAttempt<Attempt extends Pick<AttemptResult, 'steps'>>(result: {
  attempts: readonly Attempt[]
}): Attempt | undefined {
  return result.attempts.at(-1)
}

/** The last attempt, but where every attempt has to pass the last one that failed as the whole did. */
export function decidingAttempt<Attempt extends { status: string; errors?: unknown }>(result: {
  status: string
  attempts: readonly Attempt[]
}): Attempt | undefined {
  const last = result.attempts.at(-1)
  if (last?.errors !== undefined) return last
  return result.attempts.findLast((attempt) => attempt.status === result.status) ?? last
}

/** `2 of 3 steps succeeded`. */
export function countSucceeded(steps: readonly { status: string }[]): string {
  if (steps.length === 0) return 'no steps'
  const succeeded = steps.filter(({ status }) => status === 'success').length
  return `${succeeded} of ${steps.length} ${steps.length === 1 ? 'step' : 'steps'} succeeded`
}
