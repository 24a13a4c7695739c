import { redactText, redactValue, safeText } from '../base/index.ts'

/**
 * A value as the page may have it: secrets masked, and what a text hides made visible, in every string
 * and every key. Copies; never mutates.
 */
export function shown(value: unknown): unknown {
  return made(redactValue(value))
}

/** The same of one text. */
export function shownText(text: string): string {
  return safeText(redactText(text))
}

function made(value: unknown): unknown {
  if (typeof value === 'string') return safeText(value)
  if (Array.isArray(value)) return value.map(made)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [safeText(key), made(item)]))
}
