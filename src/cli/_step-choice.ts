import type { Command } from 'commander'
import { UsageError } from '../base/index.ts'
import { contradiction } from './_contradiction.ts'

/** Which steps of a chain a call is about. */
export interface StepChoice {
  from?: string | undefined
  only?: string | undefined
}

export function declareStepChoice(program: Command): void {
  program
    .option('--from <step>', 'leave out the steps before this one', single('--from'))
    .option('--only <step>', 'leave out every other step', single('--only'))
}

/** @throws {UsageError} where both are given. */
export function askedSteps({ from, only }: StepChoice): StepChoice {
  if (from !== undefined && only !== undefined) {
    throw contradiction('--from', '--only', 'Run one step, or all from one on; say which.')
  }
  return { from, only }
}

/** Of two values the last would count, and the other one go unheeded. */
function single(option: string): (value: string, before: string | undefined) => string {
  return (value, before) => {
    if (before === undefined) return value
    throw new UsageError({
      code: 'wrong-use',
      message: `${option} is given twice, as ${before} and as ${value}`,
      hint: 'Name one step. A nested chain, named as one, brings all of its steps.',
    })
  }
}
