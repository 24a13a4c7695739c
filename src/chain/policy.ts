import type { Diagnostic } from '../core/diagnostic.ts'
import { nearest } from '../core/text.ts'
import { UsageError } from '../core/errors.ts'
import type { ReportedError, StepStatus } from '../exec/output-protocol.ts'
import type { ChainDeclaration, ChainPolicy } from '../skill/model.ts'

/** How a result ends its chain: as a failure, or (`early_exit_on: success`) as a success. */
export type Stop = 'failed' | 'succeeded'

/**
 * Whether a chain stops after a result. `continue_on_error: false` acts as a further
 * `early_exit_on: failure`. With `race_mode` only a success stops.
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

export interface AttemptOutcome {
  status: StepStatus
  signature: string
}

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
  const message = `no two of ${attempts.length} attempts in a row had the same statuses, results and errors, as retry_until: stable asks for`
  return { code: 'not-stable', message }
}

function isStable(attempts: readonly AttemptOutcome[]): boolean {
  const [before, last] = attempts.slice(-2)
  if (before === undefined || last === undefined) return false
  return before.status === last.status && before.signature === last.signature
}

/**
 * Reads `key=value` as given to `--set`: a policy key in the spelling of the metadata.
 * Throws {@link UsageError} for an unknown key and for a value that the key does not allow.
 */
export function parsePolicySetting(text: string): Partial<ChainPolicy> {
  const equals = text.indexOf('=')
  const key = equals === -1 ? text : text.slice(0, equals)
  const read = Object.hasOwn(readers, key) ? readers[key] : undefined
  if (read === undefined) throw unknownKey(key)
  const value = text.slice(equals + 1).trim()
  const setting = equals === -1 ? undefined : read.parse(value)
  if (setting === undefined) {
    throw new UsageError({
      code: 'wrong-use',
      message: `--set ${text}: ${key} must be ${read.allowed}`,
    })
  }
  return setting
}

interface SettingReader {
  allowed: string
  parse(value: string): Partial<ChainPolicy> | undefined
}

const readers: Readonly<Record<string, SettingReader>> = {
  async: flag((async) => ({ async })),
  continue_on_error: flag((continueOnError) => ({ continueOnError })),
  timeout: integer(0, (timeout) => ({ timeout })),
  max_depth: integer(1, (maxDepth) => ({ maxDepth })),
  parallel_limit: integer(1, (parallelLimit) => ({ parallelLimit })),
  validate_on_load: flag((validateOnLoad) => ({ validateOnLoad })),
  cleanup_after: flag((cleanupAfter) => ({ cleanupAfter })),
  early_exit_on: {
    allowed: 'none, failure, success or critical',
    parse: (value) =>
      value === 'none' || value === 'failure' || value === 'success' || value === 'critical'
        ? { earlyExitOn: value }
        : undefined,
  },
  continue_on_success: flag((continueOnSuccess) => ({ continueOnSuccess })),
  pass_state: flag((passState) => ({ passState })),
  retry_count: integer(1, (retryCount) => ({ retryCount })),
  retry_until: {
    allowed: 'none, stable or success',
    parse: (value) =>
      value === 'none' || value === 'stable' || value === 'success'
        ? { retryUntil: value }
        : undefined,
  },
  race_mode: flag((raceMode) => ({ raceMode })),
}

function flag(set: (value: boolean) => Partial<ChainPolicy>): SettingReader {
  return {
    allowed: 'true or false',
    parse: (value) => (value === 'true' || value === 'false' ? set(value === 'true') : undefined),
  }
}

function integer(minimum: number, set: (value: number) => Partial<ChainPolicy>): SettingReader {
  return {
    allowed: `a whole number from ${minimum}`,
    parse: (value) =>
      /^\d{1,9}$/.test(value) && Number(value) >= minimum ? set(Number(value)) : undefined,
  }
}

function unknownKey(key: string): UsageError {
  const names = Object.keys(readers)
  const meant = nearest(key, names)
  return new UsageError({
    code: 'wrong-use',
    message: `--set ${key}: there is no such setting of a chain`,
    hint: meant === undefined ? `Known are ${names.join(', ')}.` : `Did you mean ${meant}?`,
  })
}

export function checkPolicy(chain: ChainDeclaration, path: string): Diagnostic[] {
  const found = conflicts.flatMap(({ applies, ...finding }) => (applies(chain) ? [finding] : []))
  const place = { path, line: chain.line }
  return found.map((finding) => ({ ...finding, ...place }))
}

interface Conflict extends Pick<Diagnostic, 'code' | 'severity' | 'message' | 'hint'> {
  applies: (chain: ChainDeclaration) => boolean
}

const conflicts: readonly Conflict[] = [
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
    code: 'race-ignores-stop-conditions',
    severity: 'warning',
    message:
      'with race_mode the first success decides; continue_on_error: false and early_exit_on are ignored',
    hint: 'Remove them.',
    applies: ({ policy }) =>
      policy.raceMode && (!policy.continueOnError || policy.earlyExitOn !== 'none'),
  },
]
