import { stripVTControlCharacters } from 'node:util'
import type { Progress, Screen } from '#core/command'
import { exitCode, type ExitCode } from '#core/errors'
import { columnsOf, cutToColumns, linesText, safeLine } from '#core/text'
import { printedText } from '#core/printed-text'
import type { ChainEvent, RunResult } from '#chain/engine'
import {
  countSucceeded,
  decidingAttempt,
  errorText,
  isFailed,
  type ShownRun,
} from '#chain/step-result'
import {
  duration,
  renderTimeline,
  failureTextOf,
  notUtf8Mark,
  statusMarks,
  stepDuration,
  timeOf,
} from '#chain/timeline'
import { type ReportFormat, renderReport, reportFormats } from '#chain/report'
import { stepLabel } from '#chain/plan-model'
import type { RunAnswer } from '#chain/run-answer'
import { stepperAnswer } from '#chain/stepper'

export function renderRun(answer: RunAnswer, screen: Screen): string {
  const timeline = renderTimeline(answer, screen)
  return linesText([
    ...timeline,
    timeline.length > 0 && '',
    summary(answer, screen),
    ...errorsOfRun(answer),
    ...continuationLines(answer).map(screen.asCalled),
  ])
}

export function runNotes(answer: RunAnswer, { stdoutTaken }: Screen): string[] {
  return stdoutTaken ? continuationLines(answer) : []
}

export function codeOfRun({ status, timedOut }: RunAnswer): ExitCode {
  switch (status) {
    case 'success':
      return exitCode.done
    case 'failure':
    case 'critical':
      return exitCode.failed
    case 'waiting':
      return exitCode.waiting
    case 'interrupted':
    case 'cancelled':
      return timedOut ? exitCode.budget : exitCode.interrupted
  }
}

/** Makes the report formats, without text that helps only at a terminal. */
export function runFormats<R>(
  runOf: (result: R) => ShownRun,
): Record<string, (result: R) => string> {
  const render = (format: ReportFormat, shown: ShownRun): string => {
    const { runId, skill, status, attempts, winner } = shown
    return renderReport(format, { runId, skill, status, attempts, winner })
  }
  return Object.fromEntries(
    reportFormats.map((format) => [format, (result: R) => render(format, runOf(result))]),
  )
}

export const runShown = { progress: runProgress, render: renderRun, exitCode: codeOfRun } as const

export function headOfRun(run: {
  runId: string
  skill: string
  status: string
  startedAt: string
}): string {
  return `${safeLine(run.skill)}: ${run.status}, run ${run.runId}, started ${run.startedAt}`
}

export function errorsOfRun(result: ShownRun): string[] {
  const { errors = [] } = result.attempts.at(-1) ?? {}
  return errors.map((error) => `  ${safeLine(printedText(errorText(error)))}`)
}

export const argumentsAgain = 'Its arguments contained a secret: add -- and the same ones again.'

function summary(result: RunResult, screen: Screen): string {
  const steps = decidingAttempt(result)?.steps ?? []
  const colour =
    result.status === 'success' ? 'green' : result.status === 'waiting' ? 'cyan' : 'red'
  const status = screen.style(colour, result.status)
  const facts = [status, countSucceeded(steps), duration(timeOf(result)), `run ${result.runId}`]
  return `${safeLine(result.skill)}: ${facts.join(', ')}`
}

function continuationLines(answer: RunAnswer): string[] {
  const [first, ...others] = (answer.continueWith ?? []).map(safeLine)
  if (first === undefined) return []
  const again = answer.argumentsNeeded ? [argumentsAgain] : []
  if (isFailed(answer.status)) return [`After a fix: ${first}`, ...again]
  if (others.length === 0) return [`Continue: ${first}`, ...again]
  const rest =
    stepperAnswer(answer).kind === 'next'
      ? `then: ${others.map((line) => `${line} …`).join(' or ')}`
      : `or: ${others.join(' or ')}`
  return [`Continue: ${first}  (${rest})`, ...again]
}

/**
 * Prints one line for each step when it ends, indented below its chain. On a terminal the last line
 * shows the running steps; elsewhere, and with `--verbose`, the output of steps is printed as it
 * arrives.
 */
export function runProgress(screen: Screen): Progress<ChainEvent> {
  const running = new Map<string, { name: string; since: number }>()
  const streams = screen.verbose || !screen.isTerminal
  return {
    event(event) {
      switch (event.type) {
        case 'step-started':
          if (event.chain) return { line: `${indent(event.step)}▸ ${label(event)}` }
          running.set(event.key, { name: label(event), since: now() })
          return undefined
        case 'step-finished':
          running.delete(event.key)
          return { line: finishedLine(event, screen) }
        case 'step-output': {
          if (!streams) return undefined
          // Whole lines; only a very long line arrives in pieces.
          const lines = event.text.replace(/\n$/, '').split('\n')
          return { line: lines.map((line) => printedLine(event.step, line)).join('\n') }
        }
        case 'step-suspended':
          running.delete(event.key)
          return undefined
        case 'run-started':
        case 'run-finished':
          return undefined
      }
    },
    live: () =>
      [...running.values()]
        .map(({ name, since }) => `… ${name} ${duration(now() - since)}`)
        .join('  '),
  }
}

function finishedLine(event: ChainEvent & { type: 'step-finished' }, screen: Screen): string {
  const { mark, format } = statusMarks[event.status]
  const time = stepDuration({ ...event, startedAt: event.at })
  const line =
    `${indent(event.step)}${screen.style(format, mark)} ${label(event)}  ${time}`.trimEnd()
  const failed = isFailed(event.status)
  const whole = failed ? failureTextOf(event) : event.chain ? '' : event.result
  const note = event.notUtf8 && !event.chain ? `${notUtf8Mark}: ` : ''
  const usedColumns = columnsOf(stripVTControlCharacters(line)) + 2
  const room = screen.isTerminal ? screen.width - usedColumns : Infinity
  const suffix =
    room < 10
      ? ''
      : cutToColumns(safeLine(printedText(`${note}${whole}`)), Math.min(room, failed ? 120 : 60))
  return suffix === '' ? line : `${line}  ${screen.style('dim', suffix)}`
}

function printedLine(step: string, line: string): string {
  return `[${safeLine(step)}] ${safeLine(printedText(line))}`
}

/** Monotonic milliseconds; `performance` would have to be loaded first. */
function now(): number {
  return process.uptime() * 1000
}

function indent(step: string): string {
  return '  '.repeat(step.split('/').length - 1)
}

function label(event: { step: string }): string {
  return safeLine(stepLabel(event))
}
