import type { Screen } from '#core/command'
import { columnsOf, cutToColumns, padToColumns, safeLine, safeText } from '#core/text'
import { printedText } from '#core/printed-text'
import type { AttemptResult, StepResult, StepResultStatus } from './engine.ts'
import { sandboxedText, stepLabel, wordsOf } from './plan-model.ts'
import {
  countSucceeded,
  decidingAttempt,
  errorText,
  isFailed,
  type ShownAttempt,
  type ShownRun,
  voidSteps,
} from './step-result.ts'

type StyleText = Screen['style']

export function renderTimeline(
  result: ShownRun,
  screen: Pick<Screen, 'width'> & Partial<Pick<Screen, 'style'>> & { showsResults?: boolean },
): string[] {
  const style: StyleText = (format, text) => screen.style?.(format, text) ?? text
  const attempt = decidingAttempt(result)
  const rows = rowsOf(attempt?.steps ?? [])
  const layout = {
    ...layoutOf(rows, screen.width),
    says: screen.showsResults ? stepOutcomeText : noteOf,
  }
  const lines = rows.map((row) => line(row, layout, style))
  const reworks = attempt ? reworkTexts(attempt) : []
  lines.push(...reworks.map((text) => style('dim', safeLine(text))))
  if (result.attempts.length > 1) lines.push(style('dim', attemptsLine(result)))
  if (result.winner !== undefined) lines.push(`won by ${safeLine(result.winner)}`)
  return [...lines, ...firstFailure(result, style)]
}

export const statusMarks = {
  success: { mark: '✓', format: 'green' },
  failure: { mark: '✗', format: 'red' },
  critical: { mark: '‼', format: 'red' },
  skipped: { mark: '-', format: 'dim' },
  not_run: { mark: '·', format: 'dim' },
  cancelled: { mark: '⊘', format: 'yellow' },
  waiting: { mark: '…', format: 'cyan' },
  running: { mark: '▸', format: 'cyan' },
} as const satisfies Record<StepResultStatus, { mark: string; format: Parameters<StyleText>[0] }>

/** Describes the rejections that led back, with their reasons, including those of nested chains. */
export function reworkTexts({ steps, reworks = [] }: ShownAttempt | AttemptResult): string[] {
  const texts = reworks.map(({ step, to, reason }, index) => {
    const reasonText = reason === undefined ? '' : ` (${printedText(reason)})`
    return `round ${index + 2}: ${step} was rejected${reasonText}; done again from ${to}`
  })
  const innerTexts = steps.flatMap(({ status, attempts = [] }) => {
    const attempt = decidingAttempt({ status, attempts })
    return attempt ? reworkTexts(attempt) : []
  })
  return [...texts, ...innerTexts]
}

interface Failure {
  result: string
  error?: string | undefined
  sandbox?: string | undefined
}

/** Returns the first error and the result of a failed step, and its sandbox. */
export function failureTextOf({ result, error, sandbox }: Failure): string {
  return sandboxedText(resultWithError(result, error) || noReason, sandbox)
}

function resultWithError(result: string, error: string | undefined): string {
  if (error === undefined || result.includes(error)) return result
  return error.includes(result.trim()) ? error : `${error} (${result})`
}

/** Marks a result with replacement characters. */
export const notUtf8Mark = 'not UTF-8'

const noReason = 'it gave no reason'

/** Returns why a step was not executed, or its result and errors. */
export function stepOutcomeText(step: StepResult): string {
  const { status, reason, result, errors, steps = [], sandbox, allowFailure } = step
  if (reason !== undefined) return reason
  const hasOwnFailure = isFailed(status) && failedLeaves(steps).length === 0
  const text = hasOwnFailure
    ? failureTextOf({ result, error: errors[0]?.message, sandbox })
    : steps.length === 0
      ? result
      : countSucceeded(steps)
  const isAllowed = isFailed(status) && allowFailure
  const marks = wordsOf(
    step.notUtf8 && notUtf8Mark,
    isAllowed && 'allowed',
    ...executionMarks(step),
  )
  return marks.length === 0 ? text : `${marks.join(', ')}: ${text}`
}

/** Names the attempt and the round of a step that was executed more than once. */
function executionMarks({ tries = [], round }: StepResult): string[] {
  return wordsOf(
    tries.length > 0 && `attempt ${tries.length + 1}`,
    round !== undefined && `round ${round}`,
  )
}

/** Returns the first failed step that made the run fail. For a nested chain, this is a step in it. */
export function firstFailed(result: ShownRun): StepResult | undefined {
  if (result.status === 'success') return undefined
  const failedSteps = failedLeaves(decidingAttempt(result)?.steps ?? [])
  return failedSteps.toSorted((a, b) => endOf(a) - endOf(b))[0]
}

function failedLeaves(steps: readonly StepResult[]): StepResult[] {
  return steps.flatMap((step) => {
    if (!isFailed(step.status) || step.allowFailure) return []
    const innerFailures = failedLeaves(step.steps ?? [])
    return innerFailures.length === 0 ? [step] : innerFailures
  })
}

interface Row {
  step: StepResult
  depth: number
}

export function rowsOf(steps: readonly StepResult[], depth = 0): Row[] {
  return steps.flatMap((step) => [{ step, depth }, ...rowsOf(step.steps ?? [], depth + 1)])
}

interface Layout {
  names: number
  times: number
  bars: number
  notes: number
  span: Span
}

function layoutOf(rows: readonly Row[], width: number): Layout {
  const most = (of: (row: Row) => string): number =>
    rows.reduce((columns, row) => Math.max(columns, columnsOf(of(row))), 0)
  const times = most(({ step }) => stepDuration(step))
  // If the screen is narrow, names become shorter, and then bars disappear.
  const names = Math.min(most(nameOf), Math.max(8, width - times - 4))
  const remainingWidth = width - names - times - 4
  const room = remainingWidth - 2 - 2 - minNote
  const bars = room < minBar ? 0 : Math.min(24, room)
  const notes = remainingWidth - 2 - (bars === 0 ? 0 : bars + 2)
  return {
    names,
    times,
    bars,
    notes: notes < minNote ? 0 : notes,
    span: spanOf(rows.map(({ step }) => step)) ?? noSpan,
  }
}

const minBar = 8
const minNote = 12

function line(
  row: Row,
  layout: Layout & { says: (step: StepResult) => string },
  style: StyleText,
): string {
  const { step } = row
  const { mark, format } = statusMarks[step.status]
  const name = padToColumns(cutToColumns(nameOf(row), layout.names), layout.names)
  const time = stepDuration(step).padStart(layout.times)
  const note = cutToColumns(safeLine(printedText(layout.says(step))), layout.notes)
  const barText = note === '' ? bar(step, layout).trimEnd() : bar(step, layout)
  const parts = [name, time, barText === '' ? '' : style('dim', barText), note]
  return `${style(format, mark)} ${parts.filter((part) => part !== '').join('  ')}`.trimEnd()
}

function nameOf({ step, depth }: Row): string {
  return `${'  '.repeat(depth)}${safeLine(stepLabel(step))}`
}

/** A successful step has no text, only marks. */
function noteOf(step: StepResult): string {
  if (step.status !== 'success') return stepOutcomeText(step)
  const executions = step.reused ? ['taken over'] : executionMarks(step)
  return step.reason ?? wordsOf(...executions, step.notUtf8 && notUtf8Mark).join(', ')
}

function bar(step: StepResult, { bars, span }: Layout): string {
  const place = placeOf(step, span)
  if (bars === 0 || !place) return ' '.repeat(bars)
  const offset = Math.min(bars - 1, Math.floor(place.left * bars))
  const barWidth = Math.max(1, Math.min(bars - offset, Math.round(place.width * bars)))
  return `${' '.repeat(offset)}${'█'.repeat(barWidth)}`.padEnd(bars)
}

function firstFailure(result: ShownRun, style: StyleText): string[] {
  const failedStep = firstFailed(result)
  if (!failedStep) return []
  const tail = safeText(printedText(failedStep.log ?? ''))
    .split('\n')
    .slice(-10)
    .filter((text, index, all) => text !== '' || all.length > 1)
  const errors = failedStep.errors.slice(0, 10).map(errorText)
  const reasons = errors.length === 0 ? [failedStep.result || noReason] : errors
  const hint = failedStep.hint === undefined ? [] : [failedStep.hint]
  return [
    '',
    `${style('red', 'failed first:')} ${safeLine(failedStep.step)}`,
    ...[...reasons, ...hint].map((text) => `  ${safeLine(printedText(text))}`),
    ...tail.map((text) => style('dim', `  | ${text}`)),
  ]
}

function attemptsLine(result: ShownRun): string {
  const statuses = result.attempts.map((attempt) => attempt.status).join(', ')
  const decisive = decidingAttempt(result)
  const position =
    decisive === result.attempts.at(-1) ? 'the last one' : `number ${decisive?.attempt ?? 1}`
  return `${result.attempts.length} attempts (${statuses}); shown is ${position}`
}

/** `340 ms`, `3.2 s`, `4 min 05 s`, `3 h 20 min`, `2 d 04 h`, `unknown`. */
export function duration(milliseconds: number | null | undefined): string {
  if (milliseconds === null || milliseconds === undefined) return 'unknown'
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`
  if (milliseconds < 59_950) return `${(milliseconds / 1000).toFixed(1)} s`
  const seconds = Math.round(milliseconds / 1000)
  if (seconds < 3600) return inTwo(seconds, 60, 'min', 's')
  const minutes = Math.round(seconds / 60)
  if (minutes < 2880) return inTwo(minutes, 60, 'h', 'min')
  return inTwo(Math.round(minutes / 60), 24, 'd', 'h')
}

function inTwo(amount: number, of: number, large: string, small: string): string {
  return `${Math.floor(amount / of)} ${large} ${String(amount % of).padStart(2, '0')} ${small}`
}

/** The time of a step; empty for one that never started or that has no result. */
export function stepDuration(
  step: Pick<StepResult, 'status' | 'startedAt' | 'durationMs'>,
): string {
  const hasEnded = step.status !== 'cancelled' && step.status !== 'waiting'
  return step.startedAt === null || (!hasEnded && step.durationMs === 0)
    ? ''
    : duration(step.durationMs)
}

/**
 * Returns the time from the first begin to the last end, corrected by clock shifts; undefined if nothing
 * has started.
 */
export function spanOf(steps: readonly StepResult[]): Span | undefined {
  const timedSteps = steps.filter((step) => step.startedAt !== null && !step.reused)
  const [first] = timedSteps.toSorted((a, b) => startOf(a) - startOf(b))
  if (!first) return undefined
  const start = startOf(first)
  const end = timedSteps.reduce((latest, step) => Math.max(latest, endOf(step)), start)
  const isKnown = timedSteps.every((step) => step.durationMs !== null && step.clockShiftMs !== null)
  return { beganAt: wallStartOf(first), start, length: isKnown ? end - start : undefined }
}

export const noSpan: Span = { beganAt: 0, start: 0, length: 0 }

export interface Span {
  /** By the wall clock. */
  beganAt: number
  start: number
  /** Milliseconds; undefined if unknown, because the clock was set back. */
  length: number | undefined
}

/** Returns the duration of a run; undefined if unknown. */
export function timeOf({ attempts }: ShownRun): number | undefined {
  const span = spanOf(attempts.flatMap(({ steps, reworks }) => [...voidSteps(reworks), ...steps]))
  return span ? span.length : 0
}

/** Returns the place of a step on the time axis, in shares of the span; undefined if unknown. */
export function placeOf(step: StepResult, span: Span): { left: number; width: number } | undefined {
  const { startedAt, durationMs, reused } = step
  const isKnown = startedAt !== null && !reused && durationMs !== null
  if (!isKnown || span.length === undefined) return undefined
  const total = Math.max(1, span.length)
  const share = (milliseconds: number): number => Math.min(1, Math.max(0, milliseconds / total))
  return { left: share(startOf(step) - span.start), width: share(durationMs) }
}

function wallStartOf({ startedAt }: StepResult): number {
  return startedAt === null ? 0 : Date.parse(startedAt)
}

function startOf(step: StepResult): number {
  return wallStartOf(step) - (step.clockShiftMs ?? 0)
}

function endOf(step: StepResult): number {
  return startOf(step) + (step.durationMs ?? 0)
}
