import { isObject } from '../../core/json.ts'
import type { JsonValue } from '../../skill/model.ts'
import type { JsonObject } from '../model.ts'

export type ParameterKind =
  | 'string'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'array'
  | 'object'
  | 'unknown'

/** One property of a tool's input schema, as far as a request can fill it. */
export interface Parameter {
  name: string
  /** The words of the name: `from_uid` is `from uid`. */
  words: readonly string[]
  kind: ParameterKind
  required: boolean
  description: string
  /** Values of `enum`, `const` or string alternatives of `anyOf`. */
  choices: readonly JsonValue[]
  format?: string | undefined
  pattern?: string | undefined
  minimum?: number | undefined
  maximum?: number | undefined
  /** For an array: what its items are. */
  items?: Parameter | undefined
}

/** The properties of an object schema, in its order; anything else has none. */
export function parametersOf(schema: JsonObject): Parameter[] {
  const properties = objectOf(schema['properties'])
  const required = new Set(arrayOf(schema['required']))
  return Object.entries(properties).map(([name, property]) =>
    parameterOf(name, objectOf(property), required.has(name)),
  )
}

function parameterOf(name: string, given: JsonObject, required: boolean): Parameter {
  const schema = withoutNull(given)
  const kind = kindOf(schema)
  return {
    name,
    words: wordsOf(name),
    kind,
    required,
    description: textOf(given['description']) ?? textOf(schema['description']) ?? '',
    choices: choicesOf(schema),
    format: textOf(schema['format']),
    pattern: textOf(schema['pattern']),
    minimum: numberOf(schema['minimum']),
    maximum: numberOf(schema['maximum']),
    items: kind === 'array' ? parameterOf(name, objectOf(schema['items']), false) : undefined,
  }
}

/** The words of a name, in lower case: `pullNumber`, `pull_number` and `pull-number` are the same. */
export function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
}

/** Of `anyOf: [T, null]` or `type: [T, "null"]` only T: a request never says null. */
function withoutNull(schema: JsonObject): JsonObject {
  const options = [...arrayOf(schema['anyOf']), ...arrayOf(schema['oneOf'])].map(objectOf)
  const real = options.filter((option) => option['type'] !== 'null')
  const [only] = real
  if (only !== undefined && real.length === 1) return { ...schema, ...only }
  const first = arrayOf(schema['type']).find((type) => type !== 'null')
  return first === undefined ? schema : { ...schema, type: first }
}

function kindOf(schema: JsonObject): ParameterKind {
  const type = textOf(schema['type'])
  if (isKind(type)) return type
  const [choice] = choicesOf(schema)
  if (typeof choice === 'string') return 'string'
  if (typeof choice === 'number') return 'number'
  return 'unknown'
}

function isKind(type: string | undefined): type is ParameterKind {
  return ['string', 'integer', 'number', 'boolean', 'array', 'object'].includes(type ?? '')
}

function choicesOf(schema: JsonObject): readonly JsonValue[] {
  if (schema['const'] !== undefined) return [schema['const']]
  const own = arrayOf(schema['enum'])
  if (own.length > 0) return own
  const options = [...arrayOf(schema['anyOf']), ...arrayOf(schema['oneOf'])].map(objectOf)
  return options.flatMap((option) => (option['const'] === undefined ? [] : [option['const']]))
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isObject<JsonValue>(value) ? value : {}
}

function arrayOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : []
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function numberOf(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined
}
