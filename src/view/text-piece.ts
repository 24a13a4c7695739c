import type { LongText, TextAnswer } from './answers/common.ts'
import { shownText } from './shown.ts'

/** Characters of a long text that are sent at once. */
const pieceSize = 65_536

/**
 * A piece of a text as the page may have it. Secrets are masked in the whole of it first: one that
 * lies across two pieces would be none in either.
 */
export function textPiece(text: string, from: number): TextAnswer {
  const whole = shownText(text)
  const end = from + pieceSize
  return {
    text: whole.slice(from, end),
    size: whole.length,
    next: end < whole.length ? end : undefined,
  }
}

/** The beginning of a text that is read whole only when somebody wants to. */
export function beginningOf(text: string, most: number): LongText {
  const whole = shownText(text)
  return { text: whole.slice(0, most), size: whole.length }
}
