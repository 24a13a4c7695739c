import { isObject } from '../../core/json.ts'
import type { JsonValue } from '../../skill/model.ts'
import { typeText } from '../call/check-parameters.ts'
import type { JsonObject } from '../model.ts'
import { readStrings } from './cache-file.ts'

export interface ParameterDescription {
  /** `filter.state` for a field of an object. */
  name: string
  required: boolean
  /** `string`, `number[]`, `"open" | "closed"`. */
  type: string
  description: string
  default?: string | undefined
  /** `at least 1`, `format uri`. */
  limits: readonly string[]
}

/** Objects below a parameter that are described field by field. */
const deepest = 3
const mostParameters = 200

/**
 * The parameters of an input schema in its order, required ones first, each field of an object
 * after the object. Understands what servers use; the rest of a schema stays in `--json`.
 */
export function describeParameters(schema: JsonObject): ParameterDescription[] {
  const found: ParameterDescription[] = []
  collect(schema, '', 1, { root: schema, found })
  return found
}

type Walk = { root: JsonObject; found: ParameterDescription[] }

function collect(schema: JsonObject, prefix: string, depth: number, walk: Walk): void {
  const properties = schema['properties']
  if (!isObject(properties)) return
  const required = new Set(readStrings(schema['required']))
  const names = Object.keys(properties).toSorted(
    (a, b) => Number(required.has(b)) - Number(required.has(a)),
  )
  for (const name of names) {
    if (walk.found.length >= mostParameters) return
    const value = resolve(properties[name], walk.root)
    walk.found.push({
      name: prefix + name,
      required: required.has(name),
      type: typeText(value),
      description: typeof value['description'] === 'string' ? value['description'] : '',
      default: value['default'] === undefined ? undefined : JSON.stringify(value['default']),
      limits: limitsOf(value),
    })
    if (depth < deepest) {
      collect(value, `${prefix}${name}.`, depth + 1, walk)
      collect(resolve(value['items'], walk.root), `${prefix}${name}[].`, depth + 1, walk)
    }
  }
}

/** The schema itself, or what its `$ref` into the same document names. */
function resolve(value: JsonValue | undefined, root: JsonObject): JsonObject {
  let schema: JsonValue | undefined = value
  for (let jumps = 0; jumps < 10; jumps++) {
    if (!isObject(schema)) return {}
    const reference = schema['$ref']
    if (typeof reference !== 'string') return schema
    schema = reference.startsWith('#/') ? pointed(root, reference.slice(2)) : undefined
  }
  return {}
}

function pointed(root: JsonObject, pointer: string): JsonValue | undefined {
  let value: JsonValue | undefined = root
  for (const part of pointer.split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined
    value = value[key]
  }
  return value
}

const limitTexts: Readonly<Record<string, string>> = {
  exclusiveMaximum: 'less than',
  exclusiveMinimum: 'more than',
  format: 'format',
  maxItems: 'items at most',
  maxLength: 'characters at most',
  maximum: 'at most',
  minItems: 'items at least',
  minLength: 'characters at least',
  minimum: 'at least',
  pattern: 'pattern',
}

/** The largest numbers of JavaScript, which schema generators write down, limit nothing. */
function limitsOf(schema: JsonObject): string[] {
  return Object.entries(limitTexts).flatMap(([key, text]) => {
    const limit = schema[key]
    const isLimit = typeof limit === 'number' && Math.abs(limit) < Number.MAX_SAFE_INTEGER
    return isLimit || typeof limit === 'string' ? [`${text} ${limit}`] : []
  })
}
