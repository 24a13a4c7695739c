import type { JsonValue } from '../../skill/index.ts'
import type { JsonObject } from '../model.ts'

export function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value)
}

/** The value as an object; anything else has no members. */
export function objectOf(value: JsonValue | undefined): JsonObject {
  return value !== undefined && isObject(value) ? value : {}
}

export function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !isList(value)
}

/** The text as JSON, or undefined. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
