import { setTimeout as wait } from 'node:timers/promises'
import { ToolCallError } from '../errors.ts'
import type { ToolOutcome } from '../model.ts'
import { type AttemptFailure, classifyError, classifyOutcome } from './classify.ts'
import { decideRetry, type RetryDecision } from './retry-policy.ts'

export interface AttemptRules {
  replaySafe: boolean
  waitsMs: readonly number[]
  signal: AbortSignal
  /** Told before each wait. */
  onRetry: (attempt: number, failure: AttemptFailure, waitMs: number) => void
}

export type AttemptsResult =
  | { ok: true; outcome: ToolOutcome; failures: readonly AttemptFailure[] }
  | {
      ok: false
      /** The last answer, where it was one of a failure. */
      outcome?: ToolOutcome | undefined
      /** At least one, in order. */
      failures: readonly AttemptFailure[]
      last: AttemptFailure
      because: (RetryDecision & { retry: false })['because']
    }

/** Attempts a call until it succeeds, must not be repeated, or has been repeated often enough. */
export async function attemptCall(
  call: () => Promise<ToolOutcome>,
  rules: AttemptRules,
): Promise<AttemptsResult> {
  const failures: AttemptFailure[] = []
  for (;;) {
    const { outcome, failure } = await attemptOnce(call, rules.signal)
    if (failure === undefined) return { ok: true, outcome, failures }
    failures.push(failure)
    const { replaySafe, waitsMs } = rules
    const decision = decideRetry({ ...failure, attempt: failures.length, replaySafe, waitsMs })
    if (!decision.retry) {
      return { ok: false, outcome, failures, last: failure, because: decision.because }
    }
    rules.onRetry(failures.length, failure, decision.waitMs)
    if (decision.waitMs > 0) await pause(decision.waitMs, rules.signal)
  }
}

type Attempt =
  | { outcome: ToolOutcome; failure: undefined }
  | { outcome?: ToolOutcome | undefined; failure: AttemptFailure }

async function attemptOnce(
  call: () => Promise<ToolOutcome>,
  signal: AbortSignal,
): Promise<Attempt> {
  if (signal.aborted) throw cancelled('no')
  try {
    const outcome = await call()
    return { outcome, failure: classifyOutcome(outcome) }
  } catch (error) {
    const failure = classifyError(error)
    if (failure.kind === 'cancelled' || signal.aborted) throw error
    return { failure }
  }
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  try {
    await wait(milliseconds, undefined, { signal })
  } catch {
    throw cancelled('no')
  }
}

function cancelled(delivered: 'no'): ToolCallError {
  return new ToolCallError({ kind: 'cancelled', message: 'the call was cancelled', delivered })
}
