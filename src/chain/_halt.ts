import type { StepStatus } from '../exec/index.ts'
import { notExecuted } from './_outcome.ts'
import type { PlannedStep } from './plan-model.ts'
import type { Stop } from './policy.ts'
import type { StepResult } from './result.ts'

/** Why nothing more of a chain starts. */
export type Halt =
  | { kind: 'stopped'; step: string; stop: Stop; status: StepStatus }
  | { kind: 'won'; step: string }
  | { kind: 'skipped'; step: string; status: StepStatus }
  | { kind: 'rejected'; step: string }
  /** The chain was ended from above. */
  | { kind: 'cancelled' }
  | { kind: 'suspended' }

/** Says of every step that has no result yet why it has none. */
export function fillRest(
  steps: readonly PlannedStep[],
  slots: Map<PlannedStep, StepResult>,
  halt: Halt | undefined,
): void {
  for (const step of steps) {
    if (!slots.has(step)) slots.set(step, restOf(step, halt))
  }
}

function restOf(step: PlannedStep, halt: Halt | undefined): StepResult {
  if (step.excluded === true) return notExecuted(step, 'not_run', 'left out of this run')
  return notExecuted(step, halt?.kind === 'skipped' ? 'skipped' : 'not_run', reasonOf(halt))
}

function reasonOf(halt: Halt | undefined): string {
  switch (halt?.kind) {
    case 'stopped':
      return halt.stop === 'succeeded'
        ? `the chain had succeeded with ${halt.step}`
        : `the chain had stopped after ${halt.step} (${halt.status})`
    case 'won':
      return `${halt.step} had won the race`
    case 'skipped':
      return `${halt.step} did not succeed (${halt.status})`
    case 'rejected':
      return `${halt.step} was rejected`
    case 'cancelled':
      return 'the chain was ended'
    case 'suspended':
    case undefined:
      return 'not reached yet'
  }
}
