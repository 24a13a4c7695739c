import { deepestJson, isObject, messageOf, tooDeepAt } from '../../base/index.ts'
import type { JsonValue } from '../../skill/index.ts'
import type { JsonObject } from '../model.ts'

export function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value)
}

/** The value as an object; anything else has no members. */
export function objectOf(value: JsonValue | undefined): JsonObject {
  return value !== undefined && isObject(value) ? value : {}
}

/** The text as JSON that can be walked through and written again, or what it is instead. */
export function readJson(
  text: string,
): { ok: true; value: JsonValue } | { ok: false; problem: string } {
  if (tooDeepAt(text) !== undefined) {
    return { ok: false, problem: `nested deeper than ${deepestJson} levels` }
  }
  try {
    return { ok: true, value: JSON.parse(text) }
  } catch (error) {
    return { ok: false, problem: `no JSON: ${messageOf(error)}` }
  }
}
