import { StepNotFoundError } from './errors.ts'
import type { DoneRecord } from './journal-records.ts'
import { allSteps, isChain, type Plan } from './plan-model.ts'
import { type WalkedStep, walkResult } from './result.ts'
import { type RunResult } from './engine.ts'
import type { RunJournal } from './run-journal.ts'

/**
 * The results that a new run takes over from an old one. `retry`: the successes. `fork`: every
 * result before `from`. Steps whose plan changed are executed again.
 */
export function reusedResults(
  journal: RunJournal,
  result: RunResult,
  plan: Plan,
  choice: { kind: 'retry' } | { kind: 'fork'; from: string },
): DoneRecord[] {
  const planned = allSteps(plan.root)
  const before = new Map(allSteps(journal.plan.root).map((step) => [step.step, step.digest]))
  const limit = choice.kind === 'fork' ? positionOf(planned, choice.from, plan) : planned.length
  const wanted = new Map(
    planned
      .slice(0, limit)
      .filter((step) => !isChain(step) && before.get(step.step) === step.digest)
      .map((step) => [step.step, step]),
  )
  return walkResult(result).flatMap((walked) => {
    const record = journal.done.get(walked.key)
    if (!walked.leaf || record === undefined || !wanted.has(walked.step.step)) return []
    const { outcome } = record
    if (outcome.kind !== 'finished' || outcome.rejected === true) return []
    if (choice.kind === 'retry' && outcome.output.status !== 'success') return []
    return [{ type: 'done', key: firstAttemptKey(walked), outcome, reused: true }]
  })
}

function positionOf(steps: readonly { step: string }[], from: string, plan: Plan): number {
  const position = steps.findIndex((step) => step.step === from)
  if (position !== -1) return position
  throw new StepNotFoundError({
    code: 'step-unknown',
    message: `${plan.skill} has no step ${from}`,
    hint: `Its steps are ${steps.map((step) => step.step).join(', ')}.`,
  })
}

function firstAttemptKey(walked: WalkedStep): string {
  return walked.key.replace(/(^|\/)\d+:/g, '$11:')
}
