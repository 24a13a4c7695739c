import { objectOf, type JsonValue, type JsonObject } from '#core/json'
import { safeLine } from '#core/text'
import { typeText } from '#tools/call/check-parameters'
import type { ToolDefinition } from '#tools/model'
import { valueAt } from '#tools/workflow/references'
import { readStrings } from './cache-file.ts'

export interface ParameterDescription {
  /** `filter.state` for a field of an object. */
  name: string
  required: boolean
  /** `string`, `number[]`, `"open" | "closed"`. */
  type: string
  description: string
  default?: string | undefined
  /** As the schema has them: `minimum 1`, `format uri`. */
  limits: readonly string[]
}

/** Objects below a parameter that are described field by field. */
const deepest = 3
const mostParameters = 200

/**
 * The parameters of an input schema in its order, required ones first, each field of an object
 * after the object. Understands what servers use; the rest of a schema stays in `--json`.
 */
export function describeParameters(root: JsonObject): ParameterDescription[] {
  const found: ParameterDescription[] = []
  collect(root, '', 1)
  return found

  function collect(schema: JsonObject, prefix: string, depth: number): void {
    const required = new Set(readStrings(schema['required']))
    const properties = Object.entries(objectOf<JsonValue>(schema['properties'])).toSorted(
      ([a], [b]) => Number(required.has(b)) - Number(required.has(a)),
    )
    for (const [name, property] of properties) {
      if (found.length >= mostParameters) return
      const value = resolve(property, root)
      const { description, default: preset } = value
      found.push({
        name: prefix + name,
        required: required.has(name),
        type: typeText(value),
        description: typeof description === 'string' ? description : '',
        default: preset === undefined ? undefined : JSON.stringify(preset),
        limits: limitsOf(value),
      })
      if (depth === deepest) continue
      collect(value, `${prefix}${name}.`, depth + 1)
      collect(resolve(value['items'], root), `${prefix}${name}[].`, depth + 1)
    }
  }
}

/** Why a parameter is asked for: `owner (The account)`. Of a server: not yet safe to print. */
export function neededText({ inputSchema }: ToolDefinition, name: string): string {
  const about = describeParameters(inputSchema).find((one) => one.name === name)?.description
  return about ? `${name} (${safeLine(about).slice(0, 200)})` : name
}

/** The schema itself, or what its `$ref` into the same document names. */
function resolve(value: unknown, root: JsonObject, jumps = 10): JsonObject {
  const schema = objectOf<JsonValue>(value)
  const reference = schema['$ref']
  if (typeof reference !== 'string') return schema
  if (jumps === 0 || !reference.startsWith('#/')) return {}
  const keys = reference.slice(2).split('/')
  const path = keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  return resolve(valueAt(root, path), root, jumps - 1)
}

const limiting =
  'format pattern minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength minItems maxItems'.split(
    ' ',
  )

/** The largest numbers of JavaScript, which schema generators write down, limit nothing. */
function limitsOf(schema: JsonObject): string[] {
  return limiting.flatMap((key) => {
    const limit = schema[key]
    const isLimit = typeof limit === 'number' && Math.abs(limit) < Number.MAX_SAFE_INTEGER
    return isLimit || typeof limit === 'string' ? [`${key} ${limit}`] : []
  })
}
