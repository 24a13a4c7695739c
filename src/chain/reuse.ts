import { sha256 } from '../base/index.ts'
import { RunStateError, StepNotFoundError } from './errors.ts'
import type { DoneRecord } from './journal-records.ts'
import { allSteps, isChain, type Plan } from './plan-model.ts'
import type { RunResult } from './result.ts'
import type { RunJournal } from './run-journal.ts'
import { type WalkedStep, walkResult } from './walk-result.ts'

/**
 * The results that a new run takes over from an old one. `retry`: the successes. `fork`: every
 * result of a step before `from`. Only those of steps that are planned as they were: what changed is
 * executed again.
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

/**
 * The arguments of a run, for executing something of it again.
 * @throws {RunStateError} when they held a secret and were not given again, and when others are given.
 */
export function argumentsOf(journal: RunJournal, given: readonly string[]): readonly string[] {
  const chosen = given.length > 0 ? given : journal.run.arguments
  if (sha256(JSON.stringify(chosen)) === journal.run.argumentsDigest) return chosen
  const { runId } = journal.run
  const kept = keepsArguments(journal)
  if (given.length > 0) {
    throw new RunStateError({
      code: 'arguments-differ',
      message: `the run ${runId} was started with other arguments, and goes on with those alone`,
      hint: kept
        ? 'Leave them out: they are given again only where they held a secret. For others, start a new run.'
        : 'They held a secret and are not kept: give exactly the same ones again, behind --.',
    })
  }
  throw new RunStateError({
    code: 'arguments-needed',
    message: `the arguments of the run ${runId} held a secret, and secrets are not kept`,
    hint: 'Give the same arguments again after the id of the run, behind --.',
  })
}

/** Not where they held a secret: then they have to be given again. */
export function keepsArguments({ run }: Pick<RunJournal, 'run'>): boolean {
  return sha256(JSON.stringify(run.arguments)) === run.argumentsDigest
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

/** The new run begins with the first attempt on every level. */
function firstAttemptKey(walked: WalkedStep): string {
  return walked.key.replace(/(^|\/)\d+:/g, '$11:')
}
