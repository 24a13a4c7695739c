import { exitCode, type ExitCode, safeLine } from '../base/index.ts'
import {
  countSucceeded,
  decidingAttempt,
  duration,
  lastAttempt,
  renderTimeline,
  type RunJournal,
  type RunLine,
  type RunResult,
  stepperAnswer,
  timeOf,
} from '../chain/index.ts'
import type { CommandContext } from './command.ts'
import { linesAgain } from './_lines-again.ts'

/**
 * Prints the result of a run and returns its exit code.
 *
 * @param going what the lines that go on with it say besides.
 */
export function answerRun(
  context: CommandContext,
  result: RunResult,
  going: GoingOn = { line: linesAgain(context) },
): ExitCode {
  const { output } = context
  if (context.options.json) {
    output.json(result)
    return codeOfRun(result)
  }
  const timeline = renderTimeline(result, { width: output.width, style: output.style })
  for (const line of timeline) output.line(line)
  if (timeline.length > 0) output.line('')
  output.line(summary(result, context))
  for (const line of errorsOfRun(result)) output.line(line)
  for (const line of whatNext(result, going)) output.line(line)
  return codeOfRun(result)
}

/** The line above the steps of a run that is looked at. */
export function headOfRun({ run }: RunJournal, status: string): string {
  return `${safeLine(run.skill)}: ${status}, run ${run.runId}, begun ${run.at}`
}

/** What is wrong with a run and with no step of it. */
export function errorsOfRun(result: RunResult): string[] {
  const { errors = [] } = lastAttempt(result) ?? {}
  return errors.map(({ code, message }) => `  ${safeLine(`${code}: ${message}`)}`)
}

/** The exit code of a run. */
export function codeOfRun(result: RunResult): ExitCode {
  switch (result.status) {
    case 'success':
      return exitCode.done
    case 'failure':
    case 'critical':
      return exitCode.badAnswer
    case 'waiting':
      return exitCode.waiting
    case 'interrupted':
    case 'cancelled':
      return exitCode.interrupted
  }
}

function summary(result: RunResult, context: CommandContext): string {
  const steps = decidingAttempt(result)?.steps ?? []
  const colour =
    result.status === 'success' ? 'green' : result.status === 'waiting' ? 'cyan' : 'red'
  const status = context.output.style(colour, result.status)
  const facts = [status, countSucceeded(steps), duration(timeOf(result)), `run ${result.runId}`]
  return `${safeLine(result.skill)}: ${facts.join(', ')}`
}

export interface GoingOn {
  line: RunLine
  /** Of a run whose arguments held a secret. */
  withoutArguments?: boolean | undefined
}

/** How to go on with a run, on lines to be typed. */
export function whatNext(result: RunResult, { line, withoutArguments }: GoingOn): string[] {
  const lines = linesThatGoOn(result, (...words) => safeLine(line(...words)))
  return lines.length > 0 && withoutArguments === true ? [...lines, argumentsAgain] : lines
}

/** What no line can hold. */
export const argumentsAgain =
  'Its arguments held a secret and are not kept: add -- and the same ones again.'

function linesThatGoOn(result: RunResult, line: RunLine): string[] {
  const { runId, status } = result
  if (status === 'waiting') {
    const answer = stepperAnswer(result)
    if (answer.kind === 'next') {
      const reports = answer.next.map(({ step }) => line('chain report', runId, ['--step', step]))
      return [`Go on: ${line('chain next', runId)}  (then: ${reports.join(' … or ')} …)`]
    }
    return [`Go on: ${line('runs approve', runId)}  (or: ${line('runs reject', runId)})`]
  }
  if (status === 'interrupted' || status === 'cancelled') {
    return [`Go on: ${line('runs resume', runId)}`]
  }
  return status === 'success' ? [] : [`After a fix: ${line('runs retry', runId)}`]
}
