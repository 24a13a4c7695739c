import type { RunResult } from './engine.ts'
import type { RunLine } from './run-line.ts'
import { stepperAnswer } from './stepper.ts'

/** The result of a run with the command lines that continue it. */
export interface RunAnswer extends RunResult {
  /** Command lines. The first one continues the run; the others are alternatives. */
  continueWith?: readonly string[]
  /** The arguments contained a secret and were not stored, so the user has to repeat them. */
  argumentsNeeded?: true | undefined
  timedOut?: true
}

/** How the command lines are written, and what `runs approve` needs for the gate of a step. */
export interface AnswerPlace {
  line: RunLine
  approveOptions: (step: string) => readonly string[]
}

export function answerWith(
  result: RunResult,
  { argumentsNeeded, ...place }: AnswerPlace & { argumentsNeeded?: true | undefined },
): RunAnswer {
  const continueWith = continuations(result, place)
  if (continueWith.length === 0) return result
  return { ...result, continueWith, argumentsNeeded }
}

function continuations(result: RunResult, { line, approveOptions }: AnswerPlace): string[] {
  const { runId, status } = result
  switch (status) {
    case 'success':
      return []
    case 'waiting': {
      const answer = stepperAnswer(result)
      if (answer.kind !== 'next') {
        const options = answer.kind === 'approval' ? approveOptions(answer.step) : []
        return [line('runs approve', runId, options), line('runs reject', runId)]
      }
      const reports = answer.next.map(({ step }) => line('chain report', runId, ['--step', step]))
      return [line('chain next', runId), ...reports]
    }
    case 'interrupted':
    case 'cancelled':
      return [line('runs resume', runId)]
    case 'failure':
    case 'critical':
      return [line('runs retry', runId)]
  }
}
