import { exitCode, type ExitCode, safeLine } from '../base/index.ts'
import {
  countSucceeded,
  decidingAttempt,
  duration,
  lastAttempt,
  renderTimeline,
  type RunJournal,
  type RunResult,
  stepperAnswer,
  timeOf,
} from '../chain/index.ts'
import type { CommandContext } from './command.ts'

/** Prints the result of a run and returns its exit code. */
export function answerRun(context: CommandContext, result: RunResult): ExitCode {
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
  for (const line of whatNext(result)) output.line(line)
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

function whatNext(result: RunResult): string[] {
  const { runId, status } = result
  if (status === 'waiting') {
    const answer = stepperAnswer(result)
    if (answer.kind === 'next') {
      const report = answer.next.map(({ step }) => `--step ${safeLine(step)}`).join(' or ')
      return [
        `Go on: skillrail chain next ${runId}  (then: skillrail chain report ${runId} ${report} …)`,
      ]
    }
    return [`Go on: skillrail runs approve ${runId}  (or: skillrail runs reject ${runId})`]
  }
  if (status === 'interrupted' || status === 'cancelled') {
    return [`Go on: skillrail runs resume ${runId}`]
  }
  return status === 'success' ? [] : [`After a fix: skillrail runs retry ${runId}`]
}
