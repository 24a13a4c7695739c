import { lockHolder } from '../core/file-lock.ts'
import type { AttemptResult, RunResult, RunStatus, StepResult } from './engine.ts'
import type { RunJournal } from './run-journal.ts'

/** A run as it is shown: perhaps while a process executes it. */
export interface ShownRun extends Omit<RunResult, 'status' | 'attempts'> {
  status: RunStatus | 'running'
  attempts: readonly ShownAttempt[]
}

export interface ShownAttempt extends Omit<AttemptResult, 'status'> {
  status: RunStatus | 'running'
}

export function lastAttempt<Attempt extends Pick<AttemptResult, 'steps'>>(result: {
  attempts: readonly Attempt[]
}): Attempt | undefined {
  return result.attempts.at(-1)
}

export interface WalkedStep {
  key: string
  attempt: number
  step: StepResult
  leaf: boolean
}

/** The steps of the attempts that count, level by level: of each chain its last attempt. */
export function walkResult(result: Pick<ShownRun, 'attempts'>): WalkedStep[] {
  const last = result.attempts.at(-1)
  return last === undefined ? [] : resultsBelow(last.steps, '', last.attempt)
}

function resultsBelow(steps: readonly StepResult[], prefix: string, attempt: number): WalkedStep[] {
  return steps.flatMap((step) => {
    const label = step.step.slice(step.step.lastIndexOf('/') + 1)
    const key = `${prefix}${attempt}:${label}`
    const walked = { key, attempt, step, leaf: step.steps === undefined }
    const inner = step.attempts?.at(-1)?.attempt ?? 1
    return [walked, ...resultsBelow(step.steps ?? [], `${key}/`, inner)]
  })
}

/** How a run stands now: `running` while a process holds it, `interrupted` when none does. */
export function statusOfRun(journal: RunJournal, path: string): RunStatus | 'running' {
  if (lockHolder(path) !== undefined) return 'running'
  return journal.status ?? (journal.run.mode === 'stepper' ? 'waiting' : 'interrupted')
}
