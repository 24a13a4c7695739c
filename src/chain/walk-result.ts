import type { ShownRun, StepResult } from './result.ts'

/** A step of a result with the key that the journal has for it. */
export interface WalkedStep {
  key: string
  attempt: number
  step: StepResult
  /** Chains have no results of their own to take over. */
  leaf: boolean
}

/** The steps of the attempts that count, level by level: of each chain its last attempt. */
export function walkResult(result: Pick<ShownRun, 'attempts'>): WalkedStep[] {
  const last = result.attempts.at(-1)
  return last === undefined ? [] : below(last.steps, '', last.attempt)
}

function below(steps: readonly StepResult[], prefix: string, attempt: number): WalkedStep[] {
  return steps.flatMap((step) => {
    const label = step.step.slice(step.step.lastIndexOf('/') + 1)
    const key = `${prefix}${attempt}:${label}`
    const walked = { key, attempt, step, leaf: step.steps === undefined }
    const inner = step.attempts?.at(-1)?.attempt ?? 1
    return [walked, ...below(step.steps ?? [], `${key}/`, inner)]
  })
}
