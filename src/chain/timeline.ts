import type { Screen } from '#core/command'
import { columnsOf, cutToColumns, padToColumns, safeLine, safeText } from '#core/text'
import type { StepResult, StepResultStatus } from './engine.ts'
import { saidInside, stepLabel, wordsOf } from './plan-model.ts'
import {
  countSucceeded,
  decidingAttempt,
  errorText,
  isFailed,
  type ShownRun,
} from './step-result.ts'

type StyleText = Screen['style']

export function renderTimeline(
  result: ShownRun,
  screen: Pick<Screen, 'width'> & Partial<Pick<Screen, 'style'>> & { showsResults?: boolean },
): string[] {
  const style: StyleText = (format, text) => screen.style?.(format, text) ?? text
  const rows = rowsOf(decidingAttempt(result)?.steps ?? [])
  const layout = { ...layoutOf(rows, screen.width), says: screen.showsResults ? saidOf : noteOf }
  const lines = rows.map((row) => line(row, layout, style))
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

interface Failure {
  result: string
  error?: string | undefined
  sandbox?: string | undefined
}

/** What a failed step answered, after the message of its first error, and that it was confined. */
export function saidOfFailure({ result, error, sandbox }: Failure): string {
  return saidInside(resultWithError(result, error) || noReason, sandbox)
}

function resultWithError(result: string, error: string | undefined): string {
  if (error === undefined || result.includes(error)) return result
  return error.includes(result.trim()) ? error : `${error} (${result})`
}

const noReason = 'it gave no reason'

/** Why a step was not executed, or what it answered and what was wrong with it. */
export function saidOf(step: StepResult): string {
  const { status, reason, result, errors, steps = [], sandbox, allowFailure, tries = [] } = step
  if (reason !== undefined) return reason
  const isOwn = isFailed(status) && failedLeaves(steps).length === 0
  const said = isOwn
    ? saidOfFailure({ result, error: errors[0]?.message, sandbox })
    : steps.length === 0
      ? result
      : countSucceeded(steps)
  const marks = wordsOf(
    isFailed(status) && allowFailure && 'allowed',
    tries.length > 0 && `attempt ${tries.length + 1}`,
  )
  return marks.length === 0 ? said : `${marks.join(', ')}: ${said}`
}

/** The step that failed first and made the run fail; a nested chain is passed over for its step. */
export function firstFailed(result: ShownRun): StepResult | undefined {
  if (result.status === 'success') return undefined
  const failed = failedLeaves(decidingAttempt(result)?.steps ?? [])
  return failed.toSorted((a, b) => endOf(a) - endOf(b))[0]
}

function failedLeaves(steps: readonly StepResult[]): StepResult[] {
  return steps.flatMap((step) => {
    if (!isFailed(step.status) || step.allowFailure) return []
    const below = failedLeaves(step.steps ?? [])
    return below.length === 0 ? [step] : below
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
  // A name gives way to its time, and a bar to what the step says.
  const names = Math.min(most(nameOf), Math.max(8, width - times - 4))
  const left = width - names - times - 4
  const room = left - 2 - 2 - leastNote
  const bars = room < leastBar ? 0 : Math.min(24, room)
  const notes = left - 2 - (bars === 0 ? 0 : bars + 2)
  return {
    names,
    times,
    bars,
    notes: notes < leastNote ? 0 : notes,
    span: spanOf(rows.map(({ step }) => step)) ?? { start: 0, length: 0 },
  }
}

const leastBar = 8
const leastNote = 12

function line(
  row: Row,
  layout: Layout & { says: (step: StepResult) => string },
  style: StyleText,
): string {
  const { step } = row
  const { mark, format } = statusMarks[step.status]
  const name = padToColumns(cutToColumns(nameOf(row), layout.names), layout.names)
  const time = stepDuration(step).padStart(layout.times)
  const note = cutToColumns(safeLine(layout.says(step)), layout.notes)
  const drawn = note === '' ? bar(step, layout).trimEnd() : bar(step, layout)
  const parts = [name, time, drawn === '' ? '' : style('dim', drawn), note]
  return `${style(format, mark)} ${parts.filter((part) => part !== '').join('  ')}`.trimEnd()
}

function nameOf({ step, depth }: Row): string {
  return `${'  '.repeat(depth)}${safeLine(stepLabel(step))}`
}

/** A success needs no words. */
function noteOf(step: StepResult): string {
  if (step.status !== 'success') return saidOf(step)
  const again = step.tries ? `attempt ${step.tries.length + 1}` : ''
  return step.reason ?? (step.reused ? 'taken over' : again)
}

function bar(step: StepResult, { bars, span }: Layout): string {
  if (bars === 0 || step.startedAt === null || step.reused) return ' '.repeat(bars)
  const total = Math.max(1, span.length)
  const left = Math.min(bars - 1, Math.floor(((startOf(step) - span.start) / total) * bars))
  const length = Math.round((step.durationMs / total) * bars)
  const filled = Math.max(1, Math.min(bars - left, length))
  return `${' '.repeat(left)}${'█'.repeat(filled)}`.padEnd(bars)
}

function firstFailure(result: ShownRun, style: StyleText): string[] {
  const failed = firstFailed(result)
  if (!failed) return []
  const tail = safeText(failed.log ?? '')
    .split('\n')
    .slice(-10)
    .filter((text, index, all) => text !== '' || all.length > 1)
  const errors = failed.errors.slice(0, 10).map(errorText)
  const reasons = errors.length === 0 ? [failed.result || noReason] : errors
  const hint = failed.hint === undefined ? [] : [failed.hint]
  return [
    '',
    `${style('red', 'failed first:')} ${safeLine(failed.step)}`,
    ...[...reasons, ...hint].map((text) => `  ${safeLine(text)}`),
    ...tail.map((text) => style('dim', `  | ${text}`)),
  ]
}

function attemptsLine(result: ShownRun): string {
  const statuses = result.attempts.map((attempt) => attempt.status).join(', ')
  const shown = decidingAttempt(result)
  const which = shown === result.attempts.at(-1) ? 'the last one' : `number ${shown?.attempt ?? 1}`
  return `${result.attempts.length} attempts (${statuses}); shown is ${which}`
}

/** `340 ms`, `3.2 s`, `4 min 05 s`, `3 h 20 min`, `2 d 04 h`. */
export function duration(milliseconds: number): string {
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

/** The time of a step; empty for one that never started and where it is unknown. */
export function stepDuration(
  step: Pick<StepResult, 'status' | 'startedAt' | 'durationMs'>,
): string {
  const ended = step.status !== 'cancelled' && step.status !== 'waiting'
  return step.startedAt === null || (!ended && step.durationMs === 0)
    ? ''
    : duration(step.durationMs)
}

/** From the first begin to the last end in milliseconds; undefined where nothing has started. */
export function spanOf(steps: readonly StepResult[]): Span | undefined {
  let start = Number.POSITIVE_INFINITY
  let end = Number.NEGATIVE_INFINITY
  for (const step of steps) {
    if (step.startedAt === null || step.reused) continue
    start = Math.min(start, startOf(step))
    end = Math.max(end, endOf(step))
  }
  return start > end ? undefined : { start, length: end - start }
}

export interface Span {
  start: number
  length: number
}

export function timeOf({ attempts }: ShownRun): number {
  return spanOf(attempts.flatMap(({ steps }) => steps))?.length ?? 0
}

function startOf(step: StepResult): number {
  return step.startedAt === null ? 0 : Date.parse(step.startedAt)
}

function endOf(step: StepResult): number {
  return startOf(step) + step.durationMs
}
