import type { CallFailure } from '../model.ts'

/** What went wrong, finer than what the connection can say: an answer may also be an error. */
export type FailureKind =
  | CallFailure['kind']
  | 'permission-denied'
  | 'rate-limited'
  | 'element-missing'
  | 'not-found'
  /** The answer came and is larger than what is read. */
  | 'too-large'
  /** Any other answer that is an error. */
  | 'execution'

export interface RetrySettings {
  /** Milliseconds before the second, third … attempt: their number bounds the attempts. */
  waitsMs: readonly number[]
  /** Tools that may be repeated, in the user's own word; `*` stands for any characters. */
  replaySafe: readonly string[]
  /** Tools that are never repeated; wins. */
  neverReplay: readonly string[]
}

export interface FailedAttempt {
  kind: FailureKind
  delivered: CallFailure['delivered']
  /** 1 for the first. */
  attempt: number
  replaySafe: boolean
  waitsMs: readonly number[]
}

export type RetryDecision =
  | { retry: true; waitMs: number }
  /** `unsafe`: the call may have had its effect, and a second one could have it again. */
  | { retry: false; because: 'pointless' | 'unsafe' | 'exhausted' }

/** These end the same way however often they are tried. */
const pointless: ReadonlySet<FailureKind> = new Set([
  'tool-not-found',
  'invalid-parameters',
  'input-required',
  'permission-denied',
  'not-found',
  'too-large',
  'cancelled',
])

/**
 * Whether a failed call is made again. What certainly never reached the server is; everything else
 * only when the tool may be repeated.
 */
export function decideRetry(failed: FailedAttempt): RetryDecision {
  if (pointless.has(failed.kind)) return { retry: false, because: 'pointless' }
  if (failed.delivered !== 'no' && !failed.replaySafe) return { retry: false, because: 'unsafe' }
  const waitMs = failed.waitsMs[failed.attempt - 1]
  return waitMs === undefined ? { retry: false, because: 'exhausted' } : { retry: true, waitMs }
}
