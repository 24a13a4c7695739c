import { deepestJson, tooDeepAt } from '../base/index.ts'
import type { JsonValue } from '../skill/index.ts'

/** The text of an answer as JSON; undefined where it is none, or has too many levels. */
export function answerJson(text: string): JsonValue | undefined {
  if (isDeepJson(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether a text that is JSON would have more levels than are read. */
export function isDeepJson(text: string): boolean {
  return /^\s*[[{]/.test(text) && tooDeepAt(text) !== undefined
}

/** Whether a value has more levels than are read. */
export function isDeepValue(value: unknown): boolean {
  return exceeds(value, deepestJson)
}

function exceeds(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  const members: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
  return members.some((member) => exceeds(member, levels - 1))
}
