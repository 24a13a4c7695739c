import type { AttemptResult, StepResult } from '../result.ts'
import { maxAnswerBytes, type RunAnswer } from './protocol.ts'

/** Characters of a result that are kept where the whole answer would be too large. */
const keptCharacters = 1000

/**
 * The answer of a run within the size that the server takes: what the steps printed goes first, then
 * long results are cut. What was done stays told in any case.
 */
export function fitAnswer(answer: RunAnswer, limit: number = maxAnswerBytes): RunAnswer {
  const mended = [answer, mend(answer, withoutLog), mend(answer, short)]
  const fitting = mended.find((candidate) => Buffer.byteLength(JSON.stringify(candidate)) <= limit)
  return fitting ?? mend(answer, short)
}

function mend(answer: RunAnswer, change: (step: StepResult) => StepResult): RunAnswer {
  const attempts = answer.result.attempts.map((attempt) => mendAttempt(attempt, change))
  return { ...answer, result: { ...answer.result, attempts } }
}

function mendAttempt(
  attempt: AttemptResult,
  change: (step: StepResult) => StepResult,
): AttemptResult {
  const state = attempt.chain_state
  const previous = state.previous_outputs.map((output) => ({
    ...output,
    result: cut(output.result),
  }))
  return {
    ...attempt,
    steps: attempt.steps.map((step) => mendStep(step, change)),
    chain_state: change === short ? { ...state, previous_outputs: previous } : state,
  }
}

function mendStep(step: StepResult, change: (step: StepResult) => StepResult): StepResult {
  const { steps, attempts, ...rest } = change(step)
  return {
    ...rest,
    ...(steps === undefined ? {} : { steps: steps.map((inner) => mendStep(inner, change)) }),
    ...(attempts === undefined
      ? {}
      : { attempts: attempts.map((attempt) => mendAttempt(attempt, change)) }),
  }
}

function withoutLog(step: StepResult): StepResult {
  const { log, ...rest } = step
  return log === undefined ? step : rest
}

function short(step: StepResult): StepResult {
  return { ...withoutLog(step), result: cut(step.result) }
}

function cut(text: string): string {
  if (text.length <= keptCharacters) return text
  return `${text.slice(0, keptCharacters)}… (cut: the answer was too large for the server)`
}
