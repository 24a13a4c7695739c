import { redactText } from '../core/redact.ts'
import { safeText } from '../core/text.ts'
import type { LongText } from './answers.ts'

/** The same of one text. */
export function shownText(text: string): string {
  return safeText(redactText(text))
}

/** The beginning of a text that is read whole only when somebody wants to. */
export function beginningOf(text: string, most: number): LongText {
  const whole = shownText(text)
  return { text: whole.slice(0, most), size: whole.length }
}
