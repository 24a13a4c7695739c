import type { RunResult, ShownRun, StepResult } from './result.ts'
import type { RunJournal } from './run-journal.ts'
import { walkResult } from './walk-result.ts'

/**
 * The result of a run that a process executes: what has begun and not ended is running, what has not
 * begun is to come.
 *
 * @param now in milliseconds since the epoch.
 */
export function whileRunning(journal: RunJournal, result: RunResult, now: number): ShownRun {
  const open = new Set(
    walkResult(result)
      .filter(({ key, step }) => step.status === 'cancelled' && !journal.done.has(key))
      .map(({ step }) => step),
  )
  const shown = (step: StepResult): StepResult => {
    const steps = step.steps?.map(shown)
    const below = steps === undefined ? {} : { steps }
    if (!open.has(step)) return { ...step, ...below }
    const { reason: _reason, ...rest } = step
    if (!hasBegun(step)) return { ...rest, ...below, status: 'not_run', reason: 'has not begun' }
    const durationMs =
      step.startedAt === null ? 0 : Math.max(0, Math.round(now - Date.parse(step.startedAt)))
    return { ...rest, ...below, status: 'running', durationMs }
  }
  const last = result.attempts.length - 1
  return {
    ...result,
    status: 'running',
    attempts: result.attempts.map((attempt, index) =>
      index < last
        ? attempt
        : { ...attempt, status: 'running', steps: attempt.steps.map((step) => shown(step)) },
    ),
  }
}

function hasBegun({ startedAt, steps = [] }: StepResult): boolean {
  return startedAt !== null || steps.some(hasBegun)
}
