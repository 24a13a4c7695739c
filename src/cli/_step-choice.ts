import type { Command } from 'commander'
import { contradiction } from '../base/errors.ts'

/** Which steps of a chain a call is about. */
export interface StepChoice {
  from?: string | undefined
  only?: string | undefined
}

export function declareStepChoice(program: Command): void {
  program
    .option('--from <step>', 'leave out the steps before this one')
    .option('--only <step>', 'leave out every other step')
}

/** @throws {UsageError} where both are given. */
export function askedSteps({ from, only }: StepChoice): StepChoice {
  if (from !== undefined && only !== undefined) {
    throw contradiction('--from', '--only', 'Run one step, or all from one on; say which.')
  }
  return { from, only }
}
