import { runAttempt } from './attempt.ts'
import type { AttemptResult, ChainResult, Engine } from './engine.ts'
import type { PlannedChain } from './plan-model.ts'
import { afterAttempt, type AttemptOutcome, notStable } from './policy.ts'
import { signatureOf } from './step-result.ts'
import { type ChainState, emptyState } from './state.ts'

/**
 * Runs a planned chain on an engine: the one place that knows the semantics of a chain. It decides
 * on values only. `state` is what the parent passes to a nested chain; `prefix` stands before the
 * keys of its steps.
 */
export async function runChain(
  chain: PlannedChain,
  engine: Engine,
  state: ChainState = emptyState,
  prefix = '',
): Promise<ChainResult> {
  const attempts: AttemptResult[] = []
  const outcomes: AttemptOutcome[] = []
  for (;;) {
    const number = attempts.length + 1
    const { ended, winner, decided, ...attempt } = await runAttempt(chain, engine, {
      number,
      prefix,
      state,
      runNested: runChain,
    })
    attempts.push({ attempt: number, ...attempt })
    if (ended !== undefined) return { status: attempt.status, attempts, winner, ended }
    outcomes.push({ status: decided, signature: signatureOf(attempt.steps) })
    const next = afterAttempt(chain.policy, outcomes)
    if (next === 'again') continue
    const error = notStable(chain.policy, outcomes)
    const last = {
      attempt: number,
      ...attempt,
      ...(error === undefined ? {} : { errors: [error] }),
    }
    return { status: next, attempts: [...attempts.slice(0, -1), last], winner }
  }
}
