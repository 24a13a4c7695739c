import { safeLine } from '../base/index.ts'
import type { ToolCaution } from '../tools/index.ts'

/** A few words for a column: why a tool needs a second look. */
export function cautionMark(caution: ToolCaution | undefined): string {
  if (caution === undefined) return ''
  return caution.kind === 'changed' ? 'changed' : 'unavailable'
}

/** The same as a sentence. */
export function cautionText(caution: ToolCaution): string {
  if (caution.kind === 'unavailable') {
    return `Its server could not be listed at the last refresh: ${safeLine(caution.message)}`
  }
  const since = safeLine(caution.since)
  return `Its description or schema changed on ${since}. Look at it, then run \`skillrail tools refresh --accept\`.`
}
