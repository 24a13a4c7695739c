import type { JsonObject } from '#core/json'
import { safeLine } from '#core/text'
import type { ToolDefinition } from '#tools/model'
import { schemaPattern } from '#tools/schema/pattern'
import { readSchema, type SchemaPlace, typeText } from '#tools/schema/read-schema'

export interface ParameterDescription {
  /** `filter.state` for a field of an object. */
  name: string
  required: boolean
  /** `string`, `number[]`, `"open" | "closed"`. */
  type: string
  description: string
  default?: string | undefined
  /** As in the schema: `minimum 1`, `format uri`. */
  limits: readonly string[]
}

/** Levels of nested objects whose fields are described. */
const deepest = 3
const maxParameters = 200

/**
 * Describes the parameters of an input schema in its order, required ones first, the fields of an object
 * after the object. Understands the keywords that servers use; `--json` shows the rest of a schema.
 */
export function describeParameters(root: JsonObject): ParameterDescription[] {
  const descriptions: ParameterDescription[] = []
  collect(readSchema(root), '', 1)
  return descriptions

  function collect(holder: SchemaPlace, prefix: string, depth: number): void {
    const requiredNames = new Set(holder.required)
    const properties = [...holder.properties].toSorted(
      ([a], [b]) => Number(requiredNames.has(b)) - Number(requiredNames.has(a)),
    )
    for (const [name, place] of properties) {
      if (descriptions.length >= maxParameters) return
      const { description, default: preset, items } = place
      descriptions.push({
        name: prefix + name,
        required: requiredNames.has(name),
        type: typeText(place),
        description,
        default: preset === undefined ? undefined : JSON.stringify(preset),
        limits: limitsOf(place),
      })
      if (depth === deepest) continue
      collect(place, `${prefix}${name}.`, depth + 1)
      if (items) collect(items, `${prefix}${name}[].`, depth + 1)
    }
  }
}

/**
 * Describes a required parameter: `owner (The account)`. The text is the server's: not yet safe to print.
 */
export function neededText({ inputSchema }: ToolDefinition, name: string): string {
  const about = describeParameters(inputSchema).find((one) => one.name === name)?.description
  return about ? `${name} (${safeLine(about).slice(0, 200)})` : name
}

/** The largest numbers of JavaScript, which schema generators add, are not limits of the server. */
function limitsOf({ limits }: SchemaPlace): string[] {
  return Object.entries(limits).flatMap(([keyword, limit]) => {
    const isLimit = typeof limit === 'string' || Math.abs(limit) < Number.MAX_SAFE_INTEGER
    if (!isLimit) return []
    const isUnread = keyword === 'pattern' && !schemaPattern(String(limit))
    return [`${keyword} ${limit}${isUnread ? ' (not checked: RE2 cannot read it)' : ''}`]
  })
}
