import type { JsonObject } from '../tools/index.ts'

/** For values that came out of JSON: whether it is an object, and no list. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
