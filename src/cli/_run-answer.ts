import { exitCode, type ExitCode, safeLine } from '../base/index.ts'
import { duration, lastAttempt, renderTimeline, type RunResult } from '../chain/index.ts'
import type { CommandContext } from './command.ts'

/** Prints the result of a run and returns its exit code. */
export function answerRun(context: CommandContext, result: RunResult): ExitCode {
  const { output } = context
  if (context.options.json) {
    output.json(result)
    return codeOfRun(result)
  }
  for (const line of renderTimeline(result, { width: output.width, style: output.style })) {
    output.line(line)
  }
  output.line('')
  output.line(summary(result, context))
  for (const line of whatNext(result)) output.line(line)
  return codeOfRun(result)
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
  const steps = lastAttempt(result)?.steps ?? []
  const succeeded = steps.filter((step) => step.status === 'success').length
  const begins = steps.flatMap((step) =>
    step.startedAt === null ? [] : Date.parse(step.startedAt),
  )
  const ends = steps.flatMap((step) =>
    step.startedAt === null ? [] : Date.parse(step.startedAt) + step.durationMs,
  )
  const took = begins.length === 0 ? 0 : Math.max(...ends) - Math.min(...begins)
  const colour =
    result.status === 'success' ? 'green' : result.status === 'waiting' ? 'cyan' : 'red'
  const status = context.output.style(colour, result.status)
  const count = `${succeeded} of ${steps.length} ${steps.length === 1 ? 'step' : 'steps'} succeeded`
  return `${safeLine(result.skill)}: ${status}, ${count}, ${duration(took)}, run ${result.runId}`
}

function whatNext(result: RunResult): string[] {
  const { runId, status } = result
  if (status === 'waiting') {
    return [`Go on: skillrail runs approve ${runId}  (or: skillrail runs reject ${runId})`]
  }
  if (status === 'interrupted' || status === 'cancelled') {
    return [`Go on: skillrail runs resume ${runId}`]
  }
  return status === 'success' ? [] : [`After a fix: skillrail runs retry ${runId}`]
}
