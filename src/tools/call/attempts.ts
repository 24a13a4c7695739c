import { setTimeout as wait } from 'node:timers/promises'
import { exitCode } from '#core/errors'
import { plainText } from '#core/json'
import { ToolCallError } from '#tools/errors'
import type { CallFailure, ToolOutcome } from '#tools/model'
import { outcomeText } from './content.ts'

interface AttemptRules extends Pick<RetrySettings, 'waitsMs'> {
  replaySafe: boolean
  signal: AbortSignal
  /** Whether the server no longer lists the tool; asked once, after an error of the server. */
  isGone?: (() => Promise<boolean>) | undefined
  onRetry: (attempt: number, failure: AttemptFailure, waitMs: number) => void
}

export type AttemptsResult =
  | { ok: true; outcome: ToolOutcome; failures: readonly AttemptFailure[] }
  | {
      ok: false
      outcome?: ToolOutcome | undefined
      failures: readonly AttemptFailure[]
      last: AttemptFailure
      because: Exclude<RetryDecision, number>
    }

export async function attemptCall(
  call: () => Promise<ToolOutcome>,
  rules: AttemptRules,
): Promise<AttemptsResult> {
  const { signal, isGone, onRetry } = rules
  const failures: AttemptFailure[] = []
  for (;;) {
    if (signal.aborted) {
      const message = 'the call was cancelled'
      throw new ToolCallError({ kind: 'cancelled', message, delivered: 'no' })
    }
    let outcome: ToolOutcome | undefined
    let failure: AttemptFailure | undefined
    try {
      outcome = await call()
      failure = classifyOutcome(outcome)
      if (!failure) return { ok: true, outcome, failures }
    } catch (error) {
      failure = classifyError(error)
      if (failure.kind === 'cancelled' || signal.aborted) throw error
    }
    if (failures.length === 0 && fromServer.has(failure.kind) && (await isGone?.())) {
      failure = { ...failure, kind: 'tool-not-found' }
    }
    failures.push(failure)
    const decision = decideRetry({ ...failure, ...rules, attempt: failures.length })
    if (typeof decision === 'string') {
      return { ok: false, outcome, failures, last: failure, because: decision }
    }
    onRetry(failures.length, failure, decision)
    // Rejects when the call is cancelled, which the next attempt says.
    await wait(decision, undefined, { signal }).catch(() => undefined)
  }
}

/** `execution`: the tool itself reported an error. */
export type FailureKind = CallFailure['kind'] | 'execution'

export interface RetrySettings {
  /** Milliseconds before the second, third … attempt: their number bounds the attempts. */
  waitsMs: readonly number[]
  replaySafe: readonly string[]
  /** Tools that are never repeated; takes precedence. */
  neverReplay: readonly string[]
}

/** Milliseconds to wait. `unsafe`: the call may have had its effect, and could have it again. */
type RetryDecision = number | 'pointless' | 'unsafe' | 'exhausted'

/**
 * Errors that servers also give for a tool that they do not have: the protocol has no code of its own
 * for it.
 */
const fromServer: ReadonlySet<FailureKind> = new Set([
  'execution',
  'invalid-parameters',
  'protocol',
])

/** These end the same way however often they are tried. */
const pointless: ReadonlySet<FailureKind> = new Set([
  'tool-not-found',
  'invalid-parameters',
  'input-required',
  'too-large',
  'cancelled',
])

/** A call that may have reached the server is made again only when the tool may be repeated. */
export function decideRetry({
  kind,
  delivered,
  replaySafe,
  waitsMs,
  attempt,
}: Pick<AttemptFailure & AttemptRules, 'kind' | 'delivered' | 'replaySafe' | 'waitsMs'> & {
  attempt: number
}): RetryDecision {
  if (pointless.has(kind)) return 'pointless'
  if (delivered !== 'no' && !replaySafe) return 'unsafe'
  return waitsMs[attempt - 1] ?? 'exhausted'
}

interface AttemptFailure extends Pick<CallFailure, 'message' | 'delivered'> {
  kind: FailureKind
}

/** The failure of an answer with `isError`; undefined for a good one. */
export function classifyOutcome(outcome: ToolOutcome): AttemptFailure | undefined {
  if (!outcome.isError) return undefined
  const { structured = 'the tool reported an error and did not say which' } = outcome
  const message = outcomeText(outcome).trim() || plainText(structured)
  return { kind: 'execution', message, delivered: 'yes' }
}

/** The failure of a rejected call. Rethrows a refusal, and every other error. */
export function classifyError(error: unknown): AttemptFailure {
  if (!(error instanceof ToolCallError) || error.exitCode === exitCode.refused) throw error
  const { kind, message, delivered } = error.failure
  return { kind, message, delivered }
}
