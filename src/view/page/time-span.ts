import type { ShownStep } from '../answers/run.ts'

/** In milliseconds. */
export interface Span {
  start: number
  length: number
}

/** From the first start to the last end, or to now. */
export function spanOf(steps: readonly ShownStep[], now: number | undefined): Span {
  let start = Number.POSITIVE_INFINITY
  let end = now ?? Number.NEGATIVE_INFINITY
  for (const { startedAt, durationMs } of steps) {
    if (startedAt === null) continue
    const at = Date.parse(startedAt)
    start = Math.min(start, at)
    end = Math.max(end, at + durationMs)
  }
  return { start, length: Math.max(1, end - start) }
}

/** Where the bar of a step lies on the line, in percent; undefined for one that has not begun. */
export function barPlace(
  { startedAt, durationMs, status }: ShownStep,
  span: Span,
  now: number,
): { left: number; width: number } | undefined {
  if (startedAt === null) return undefined
  const at = Date.parse(startedAt)
  const took = status === 'running' ? now - at : durationMs
  const left = percent(at - span.start, span)
  return { left, width: Math.min(100 - left, percent(took, span)) }
}

function percent(milliseconds: number, { length }: Span): number {
  return Math.min(100, Math.max(0, (milliseconds / length) * 100))
}
