import { allSteps, type PlannedChain, type PlannedStep, stepOfKey } from '#chain/plan-model'
import { voidKeys } from '#chain/rework'
import type { RunJournal } from '#chain/run-journal'
import type { Guard } from './session.ts'

/**
 * Returns the guarded calls of a plan. A guard is open while its step is the current one, which starts only
 * after its gate is open, and if no earlier step or nested chain failed without `allow-failure`.
 */
export function guardsOf(
  root: PlannedChain,
  journal: RunJournal | undefined,
  current: string | undefined,
): Guard[] {
  const steps = allSteps(root)
  const failed = failedSteps(journal)
  return steps.flatMap((step, index) => {
    if (step.guard === undefined) return []
    const isAbove = (one: PlannedStep): boolean => `${step.step}/`.startsWith(`${one.step}/`)
    const before = steps.slice(0, index).filter((one) => !isAbove(one) && !one.allowFailure)
    const isSound = before.every((one) => !failed.has(one.step))
    const isCurrent = current !== undefined && `${current}/`.startsWith(`${step.step}/`)
    return [{ step: step.step, calls: step.guard, isOpen: isCurrent && isSound }]
  })
}

function failedSteps(journal: RunJournal | undefined): ReadonlySet<string> {
  const failed = new Set<string>()
  if (!journal) return failed
  const rejected = voidKeys(journal)
  for (const [key, { outcome }] of journal.done) {
    if (rejected.has(key)) continue
    const step = stepOfKey(key)
    const isFailure = outcome.kind === 'finished' && outcome.output.status !== 'success'
    // The last attempt of a step counts.
    if (isFailure) failed.add(step)
    else failed.delete(step)
  }
  return failed
}
