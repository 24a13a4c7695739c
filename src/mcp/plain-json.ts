import { isObject } from '../base/index.ts'
import type { JsonValue } from '../skill/index.ts'
import type { JsonObject } from '../tools/index.ts'

/** A value of ours as it arrives on the wire: nothing undefined is in it. */
export function plainJson(value: object): JsonObject {
  const plain: unknown = JSON.parse(JSON.stringify(value))
  return isObject<JsonValue>(plain) ? plain : {}
}
