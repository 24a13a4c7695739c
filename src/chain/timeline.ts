import { safeLine, safeText } from '../base/index.ts'
import { lastAttempt, type ShownRun, type StepResult, type StepResultStatus } from './result.ts'

export type StyleText = (
  format: 'green' | 'red' | 'yellow' | 'dim' | 'bold' | 'cyan',
  text: string,
) => string

export interface TimelineOptions {
  /** Columns there are. */
  width: number
  style?: StyleText | undefined
}

/** The steps of a run with their times as bars, and what failed first with its last output. */
export function renderTimeline(
  result: Pick<ShownRun, 'attempts' | 'winner'>,
  options: TimelineOptions,
): string[] {
  const style = options.style ?? ((_format, text) => text)
  const attempt = lastAttempt(result)
  const rows = flatten(attempt?.steps ?? [], 0)
  const lines = rows.map((row) => line(row, rows, options.width, style))
  if (result.attempts.length > 1) lines.push(style('dim', attemptsLine(result)))
  if (result.winner !== undefined) lines.push(`won by ${safeLine(result.winner)}`)
  return [...lines, ...firstFailure(result, style)]
}

/** One character and a colour for each status. */
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

/** `340 ms`, `3.2 s`, `4 min 05 s`. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`
  if (milliseconds < 59_950) return `${(milliseconds / 1000).toFixed(1)} s`
  const seconds = Math.round(milliseconds / 1000)
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`
}

/** The time of a step; empty for one that never started and where nobody knows it. */
export function stepDuration(
  step: Pick<StepResult, 'status' | 'startedAt' | 'durationMs'>,
): string {
  const ended = step.status !== 'cancelled' && step.status !== 'waiting'
  return step.startedAt === null || (!ended && step.durationMs === 0)
    ? ''
    : duration(step.durationMs)
}

/** What a step answered, behind the message of its first error unless the answer says that itself. */
export function resultWithError(result: string, error: string | undefined): string {
  if (error === undefined || result.includes(error)) return result
  return error.includes(result.trim()) ? error : `${error} (${result})`
}

/** From the first begin to the last end in milliseconds, without the results that were taken over. */
export function spanOf(steps: readonly StepResult[]): { start: number; length: number } {
  const own = steps.filter((step) => step.startedAt !== null && step.reused !== true)
  if (own.length === 0) return { start: 0, length: 0 }
  const start = Math.min(...own.map(startOf))
  return { start, length: Math.max(...own.map(endOf)) - start }
}

/** The failed step of a run that ended first; a nested chain is passed over for its step. */
export function firstFailed(result: Pick<ShownRun, 'attempts'>): StepResult | undefined {
  const failed = flatten(lastAttempt(result)?.steps ?? [], 0)
    .map((row) => row.step)
    .filter((step) => step.status === 'failure' || step.status === 'critical')
  const leaves = failed.filter(
    (step) => !failed.some((other) => other.step.startsWith(`${step.step}/`)),
  )
  return leaves.toSorted((a, b) => endOf(a) - endOf(b))[0]
}

interface Row {
  step: StepResult
  depth: number
}

function flatten(steps: readonly StepResult[], depth: number): Row[] {
  return steps.flatMap((step) => [{ step, depth }, ...flatten(step.steps ?? [], depth + 1)])
}

function line(row: Row, rows: readonly Row[], width: number, style: StyleText): string {
  const { step, depth } = row
  const { mark, format } = statusMarks[step.status]
  const name = `${'  '.repeat(depth)}${safeLine(label(step))}`
  const names = Math.max(...rows.map((other) => label(other.step).length + 2 * other.depth))
  const time = stepDuration(step)
  const note = step.reason ?? noteOf(step)
  const room = Math.max(10, width - names - 4 - 12 - barWidth - 2)
  const said = safeLine(note).slice(0, room)
  return `${style(format, mark)} ${name.padEnd(names)}  ${time.padStart(10)}  ${style('dim', bar(step, rows))}  ${said}`.trimEnd()
}

function noteOf({ status, reused, result, errors }: StepResult): string {
  if (reused === true && status === 'success') return 'taken over'
  return status === 'success' ? '' : resultWithError(result, errors[0]?.message)
}

const barWidth = 24

/** Where in the run the step lay, to an eighth of a column. */
function bar(step: StepResult, rows: readonly Row[]): string {
  if (step.startedAt === null || step.reused === true) return ' '.repeat(barWidth)
  const { start, length: span } = spanOf(rows.map((row) => row.step))
  const total = Math.max(1, span)
  const left = Math.min(barWidth - 1, Math.floor(((startOf(step) - start) / total) * barWidth))
  const length = Math.round((step.durationMs / total) * barWidth)
  const filled = Math.max(1, Math.min(barWidth - left, length))
  return `${' '.repeat(left)}${'█'.repeat(filled)}`.padEnd(barWidth)
}

function firstFailure(result: Pick<ShownRun, 'attempts'>, style: StyleText): string[] {
  const failed = firstFailed(result)
  if (failed === undefined) return []
  const tail = safeText(failed.log ?? '')
    .split('\n')
    .slice(-10)
    .filter((text, index, all) => text !== '' || all.length > 1)
  const errors = failed.errors.map((error) => `  ${safeLine(`${error.code}: ${error.message}`)}`)
  return [
    '',
    `${style('red', 'failed first:')} ${safeLine(failed.step)}`,
    ...errors.slice(0, 10),
    ...tail.map((text) => style('dim', `  | ${text}`)),
  ]
}

function attemptsLine(result: Pick<ShownRun, 'attempts'>): string {
  const statuses = result.attempts.map((attempt) => attempt.status).join(', ')
  return `${result.attempts.length} attempts (${statuses}); shown is the last one`
}

function label(step: StepResult): string {
  return step.step.slice(step.step.lastIndexOf('/') + 1)
}

function startOf(step: StepResult): number {
  return step.startedAt === null ? 0 : Date.parse(step.startedAt)
}

function endOf(step: StepResult): number {
  return startOf(step) + step.durationMs
}
