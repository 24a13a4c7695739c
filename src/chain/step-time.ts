import type { ShownRun, StepResult } from './result.ts'

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

/** The time of a step; empty for one that never started and where nobody knows it. */
export function stepDuration(
  step: Pick<StepResult, 'status' | 'startedAt' | 'durationMs'>,
): string {
  const ended = step.status !== 'cancelled' && step.status !== 'waiting'
  return step.startedAt === null || (!ended && step.durationMs === 0)
    ? ''
    : duration(step.durationMs)
}

/**
 * From the first begin to the last end in milliseconds, without the results that were taken over;
 * undefined where nothing has begun.
 */
export function spanOf(steps: readonly StepResult[]): Span | undefined {
  let start = Number.POSITIVE_INFINITY
  let end = Number.NEGATIVE_INFINITY
  for (const step of steps) {
    if (step.startedAt === null || step.reused === true) continue
    start = Math.min(start, startOf(step))
    end = Math.max(end, endOf(step))
  }
  return start > end ? undefined : { start, length: end - start }
}

export interface Span {
  start: number
  length: number
}

/** How long a run took, all of its attempts together. */
export function timeOf({ attempts }: Pick<ShownRun, 'attempts'>): number {
  return spanOf(attempts.flatMap(({ steps }) => steps))?.length ?? 0
}

/** Milliseconds since the epoch; 0 for a step that never started. */
export function startOf(step: StepResult): number {
  return step.startedAt === null ? 0 : Date.parse(step.startedAt)
}

export function endOf(step: StepResult): number {
  return startOf(step) + step.durationMs
}
