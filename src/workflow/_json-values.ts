import { isObject } from '../base/index.ts'
import type { JsonValue } from '../skill/index.ts'

/** `Array.isArray` does not see that a read-only list is one. */
export function isJsonList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value)
}

/** Every text in it, in order; keys are none. */
export function textsOf(value: JsonValue): string[] {
  if (typeof value === 'string') return [value]
  if (isJsonList(value)) return value.flatMap(textsOf)
  return isObject(value) ? Object.values(value).flatMap(textsOf) : []
}
