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

export function answerWith(
  result: RunResult,
  { line, argumentsNeeded }: { line: RunLine; argumentsNeeded?: true | undefined },
): RunAnswer {
  const continueWith = continuations(result, line)
  if (continueWith.length === 0) return result
  return { ...result, continueWith, argumentsNeeded }
}

function continuations(result: RunResult, line: RunLine): string[] {
  const { runId, status } = result
  switch (status) {
    case 'success':
      return []
    case 'waiting': {
      const answer = stepperAnswer(result)
      if (answer.kind !== 'next') return [line('runs approve', runId), line('runs reject', runId)]
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
