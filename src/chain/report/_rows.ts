import type { ShownRun, StepResult } from '../result.ts'

/** A step of a report with its place in the tree. */
export interface ReportRow {
  step: StepResult
  depth: number
  attempt: number
}

/** Every step of every attempt, chains before their steps. */
export function reportRows(result: ShownRun): ReportRow[] {
  return result.attempts.flatMap((attempt) => below(attempt.steps, 0, attempt.attempt))
}

/** The part of a step's name that its chain does not say. */
export function stepLabel(step: StepResult): string {
  return step.step.slice(step.step.lastIndexOf('/') + 1)
}

function below(steps: readonly StepResult[], depth: number, attempt: number): ReportRow[] {
  return steps.flatMap((step) => [
    { step, depth, attempt },
    ...below(step.steps ?? [], depth + 1, attempt),
  ])
}
