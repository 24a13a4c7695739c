import { type Diagnostic, wrongUse } from '#core/errors'
import { didYouMean } from '#core/text'
import type { ReportedError, StepStatus } from '#exec/output-protocol'
import { conditionOf, defaultChainPolicy, policyKey } from '#skill/declarations'
import { metadataFields } from '#skill/field-table'
import type { ChainDeclaration, ChainPolicy, StepOptions } from '#skill/model'

/** How a result ends its chain: as a failure, or (`early_exit_on: success`) as a success. */
export type Stop = 'failed' | 'succeeded'

/** Whether a chain stops after a result; with `race_mode` only a success stops it. */
function stopAfter(policy: ChainPolicy, status: StepStatus): Stop | undefined {
  if (policy.raceMode) return status === 'success' ? 'succeeded' : undefined
  if (status === 'success') return policy.earlyExitOn === 'success' ? 'succeeded' : undefined
  if (!policy.continueOnError || policy.earlyExitOn === 'failure') return 'failed'
  return policy.earlyExitOn === 'critical' && status === 'critical' ? 'failed' : undefined
}

/** Whether everything after this result is skipped (`continue_on_success`). */
function skipsAfter(policy: ChainPolicy, status: StepStatus): boolean {
  return policy.continueOnSuccess && status !== 'success'
}

/** How a step ends its chain. `skipped`: later steps are skipped, running steps finish. */
export type StepEnd = Stop | 'won' | 'skipped' | 'rejected'

/** Applies the stop conditions to a result, then `continue_on_success`. */
export function endsChainAfter(
  policy: ChainPolicy,
  { allowFailure }: Pick<StepOptions, 'allowFailure'>,
  { status, isRejected }: { status: StepStatus; isRejected: boolean },
): StepEnd | undefined {
  if (isRejected) return 'rejected'
  if (status !== 'success' && allowFailure) return undefined
  const stop = stopAfter(policy, status)
  if (stop) return policy.raceMode ? 'won' : stop
  return skipsAfter(policy, status) ? 'skipped' : undefined
}

/** Returns the name of the step in a condition. */
export function stepInCondition(when: string): string {
  return conditionOf(when).step
}

/** Whether a step with the condition `when` runs if the step in the condition ended with `status`. */
export function conditionHolds(when: string, status: string): boolean {
  const { state, not } = conditionOf(when)
  const states: Partial<Record<string, string>> = { critical: 'failure', not_run: 'skipped' }
  return ((states[status] ?? status) === state) !== not
}

export function attemptStatus(
  policy: ChainPolicy,
  statuses: readonly StepStatus[],
  stop: Stop | undefined,
): StepStatus {
  if (policy.raceMode && stop !== 'succeeded' && statuses.length > 0) return 'failure'
  return worst(statuses)
}

export interface AttemptOutcome {
  status: StepStatus
  signature: string
}

export function afterAttempt(
  policy: ChainPolicy,
  attempts: readonly AttemptOutcome[],
): 'again' | StepStatus {
  const last = attempts.at(-1)
  if (!last) return 'again'
  const isExhausted = attempts.length >= attemptLimit(policy)
  switch (policy.retryUntil) {
    case 'none':
      return isExhausted ? worst(attempts.map((attempt) => attempt.status)) : 'again'
    case 'success':
      return last.status === 'success' || isExhausted ? last.status : 'again'
    case 'stable':
      if (isStable(attempts)) return last.status
      return isExhausted ? worst([last.status, 'failure']) : 'again'
  }
}

/** The maximum of attempts. `retry_until` without a `retry_count` allows 10. */
function attemptLimit(policy: ChainPolicy): number {
  return policy.retryUntil !== 'none' && policy.retryCount === 1 ? 10 : policy.retryCount
}

function worst(statuses: readonly StepStatus[]): StepStatus {
  if (statuses.includes('critical')) return 'critical'
  return statuses.includes('failure') ? 'failure' : 'success'
}

export function notStable(
  policy: ChainPolicy,
  attempts: readonly AttemptOutcome[],
): ReportedError | undefined {
  if (policy.retryUntil !== 'stable' || isStable(attempts)) return undefined
  const message = `no two of ${attempts.length} attempts in a row had equal statuses, results and errors`
  return { code: 'not-stable', message }
}

function isStable(attempts: readonly AttemptOutcome[]): boolean {
  const [previous, last] = attempts.slice(-2)
  if (!previous || !last) return false
  return previous.status === last.status && previous.signature === last.signature
}

/** Reads the `key=value` of `--set`: a policy key in the spelling of the metadata. */
export function parsePolicySetting(text: string): Record<string, string | number | boolean> {
  const [key = '', ...valueParts] = text.split('=')
  const value = valueParts.join('=').trim()
  const fields = Object.keys(defaultChainPolicy)
  const field = fields.find((name) => policyKey(name) === key)
  const definition = metadataFields.get(key)
  if (field === undefined || !definition) {
    const names = fields.map(policyKey)
    const hint = didYouMean(key, names) || `Known are ${names.join(', ')}.`
    throw wrongUse(`--set ${key} is not a setting of a chain`, hint)
  }
  const { kind, minimum = 0, choices = ['true', 'false'] } = definition
  if (kind === 'integer') {
    const number = /^\d{1,9}$/.test(value) ? Number(value) : -1
    if (number >= minimum) return { [field]: number }
  } else if (choices.includes(value)) {
    return { [field]: kind === 'boolean' ? value === 'true' : value }
  }
  const words = `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`
  const expected = kind === 'integer' ? `a whole number from ${minimum}` : words
  throw wrongUse(`--set ${text}: ${key} must be ${expected}`)
}

export function checkPolicy(chain: ChainDeclaration, path: string): Diagnostic[] {
  const { line } = chain
  return conflicts.flatMap(({ applies, ...diagnostic }) =>
    applies(chain) ? [{ ...diagnostic, path, line }] : [],
  )
}

interface Conflict extends Pick<Diagnostic, 'code' | 'severity' | 'message' | 'hint'> {
  applies: (chain: ChainDeclaration) => boolean
}

const conflicts: readonly Conflict[] = [
  {
    code: 'group-with-async',
    severity: 'error',
    message: 'async and race_mode cannot be used with &',
    hint: 'Remove async and race_mode, or the &.',
    applies: ({ policy, steps }) =>
      (policy.async || policy.raceMode) && steps.some(({ group }) => group !== undefined),
  },
  {
    code: 'race-without-async',
    severity: 'error',
    message: 'race_mode needs async: true; steps in sequence cannot race',
    hint: 'Set async: true, or remove race_mode.',
    applies: ({ policy }) => policy.raceMode && !policy.async,
  },
  {
    code: 'continue-on-success-with-async',
    severity: 'error',
    message: 'continue_on_success needs an order, and async: true has none',
    hint: 'Remove one of the two.',
    applies: ({ policy }) => policy.continueOnSuccess && policy.async,
  },
  {
    code: 'rework-with-async',
    severity: 'error',
    message: 'rework needs an order, and async: true has none',
    hint: 'Join parallel steps with & in place of async, or remove rework.',
    applies: ({ policy, steps }) =>
      policy.async && steps.some(({ rework }) => rework !== undefined),
  },
  {
    code: 'race-ignores-stop-conditions',
    severity: 'warning',
    message: 'race_mode ignores continue_on_error: false and early_exit_on',
    hint: 'Remove them.',
    applies: ({ policy }) =>
      policy.raceMode && (!policy.continueOnError || policy.earlyExitOn !== 'none'),
  },
]
