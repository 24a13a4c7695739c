import type { ReportedError, StepStatus } from '../exec/index.ts'
import type { ChainPolicy } from '../skill/index.ts'

/** How a result ends its chain: as a failure, or (`early_exit_on: success`) as a success. */
export type Stop = 'failed' | 'succeeded'

/**
 * Whether a chain stops after a result. The stop conditions are a union: `continue_on_error: false`
 * is as if `early_exit_on: failure` were there too. With `race_mode` only a success stops.
 */
export function stopAfter(policy: ChainPolicy, status: StepStatus): Stop | undefined {
  if (policy.raceMode) return status === 'success' ? 'succeeded' : undefined
  if (status === 'success') return policy.earlyExitOn === 'success' ? 'succeeded' : undefined
  if (!policy.continueOnError || policy.earlyExitOn === 'failure') return 'failed'
  return policy.earlyExitOn === 'critical' && status === 'critical' ? 'failed' : undefined
}

/** Whether everything after this result is skipped (`continue_on_success`). */
export function skipsAfter(policy: ChainPolicy, status: StepStatus): boolean {
  return policy.continueOnSuccess && status !== 'success'
}

/** The status of one attempt, from the results of the steps that ran and how it stopped. */
export function attemptStatus(
  policy: ChainPolicy,
  statuses: readonly StepStatus[],
  stop: Stop | undefined,
): StepStatus {
  if (stop === 'succeeded') return 'success'
  if (policy.raceMode && statuses.length > 0) return 'failure'
  return worst(statuses)
}

/** What `retry_until: stable` compares of an attempt; equal text means equal outcome. */
export interface AttemptOutcome {
  status: StepStatus
  /** Status, result and errors of every step as one text; no metrics. */
  signature: string
}

/** Whether the chain runs once more, or the status it ends with. */
export function afterAttempt(
  policy: ChainPolicy,
  attempts: readonly AttemptOutcome[],
): 'again' | StepStatus {
  const last = attempts.at(-1)
  if (last === undefined) return 'again'
  const exhausted = attempts.length >= attemptLimit(policy)
  switch (policy.retryUntil) {
    case 'none':
      return exhausted ? worst(attempts.map((attempt) => attempt.status)) : 'again'
    case 'success':
      return last.status === 'success' || exhausted ? last.status : 'again'
    case 'stable':
      if (isStable(attempts)) return last.status
      return exhausted ? worst([last.status, 'failure']) : 'again'
  }
}

/** How often a chain runs at most: `retry_until` without a `retry_count` gives up after 10. */
export function attemptLimit(policy: ChainPolicy): number {
  return policy.retryUntil !== 'none' && policy.retryCount === 1 ? 10 : policy.retryCount
}

export function worst(statuses: readonly StepStatus[]): StepStatus {
  if (statuses.includes('critical')) return 'critical'
  return statuses.includes('failure') ? 'failure' : 'success'
}

/** What is wrong with attempts that were to become stable and did not. */
export function notStable(
  policy: ChainPolicy,
  attempts: readonly AttemptOutcome[],
): ReportedError | undefined {
  if (policy.retryUntil !== 'stable' || isStable(attempts)) return undefined
  const message = `no two of ${attempts.length} attempts in a row had the same statuses, results and errors, as retry_until: stable asks for`
  return { code: 'not-stable', message }
}

function isStable(attempts: readonly AttemptOutcome[]): boolean {
  const [before, last] = attempts.slice(-2)
  if (before === undefined || last === undefined) return false
  return before.status === last.status && before.signature === last.signature
}
