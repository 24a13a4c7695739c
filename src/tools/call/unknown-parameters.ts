import { isObject, nearest } from '../../base/index.ts'
import type { JsonValue } from '../../skill/index.ts'
import type { JsonObject, ToolDefinition } from '../model.ts'
import { isList, objectOf } from './_json.ts'

/**
 * A sentence for each parameter that the schema allows without knowing it, at any depth: often a
 * misspelt optional one, which the server would pass over in silence. Where a schema says itself that
 * it takes other names, only what looks misspelt.
 */
export function unknownParameters(tool: ToolDefinition, params: JsonObject): string[] {
  const found = unknownIn(tool.inputSchema, params, '').filter(({ isForbidden }) => !isForbidden)
  return found.map((one) => sentence(one, tool.id))
}

/** The same for each parameter that the schema forbids: a call with it is refused. */
export function forbiddenParameters(tool: ToolDefinition, params: JsonObject): string[] {
  const found = unknownIn(tool.inputSchema, params, '').filter(({ isForbidden }) => isForbidden)
  return found.map((one) => sentence(one, tool.id))
}

/** The names at the top that the schema does not know, whether it allows them or not. */
export function unknownNames(tool: ToolDefinition, params: JsonObject): string[] {
  const names = new Set(unknownIn(tool.inputSchema, params, '').map(({ name }) => name))
  return Object.keys(params).filter((name) => names.has(name))
}

interface Unknown {
  name: string
  known: readonly string[]
  meant: string | undefined
  /** The check of the schema says so already. */
  isForbidden: boolean
}

function unknownIn(schema: JsonObject, params: JsonObject, prefix: string): Unknown[] {
  const { properties } = schema
  // Other keywords may know more names.
  if (properties === undefined || !isObject(properties) || hasAlternatives(schema)) return []
  const isForbidden =
    schema['additionalProperties'] === false || schema['unevaluatedProperties'] === false
  const isOpen = isOpenByItself(schema)
  const known = Object.keys(properties)
  const left = known.filter((name) => !Object.hasOwn(params, name))
  return Object.entries(params).flatMap(([name, value]) => {
    if (Object.hasOwn(properties, name)) {
      return within(objectOf(properties[name]), value, `${prefix}${name}`)
    }
    const meant = nearest(name, left)
    if (isOpen && meant === undefined) return []
    const full = meant === undefined ? undefined : prefix + meant
    const names = known.map((one) => prefix + one)
    return [{ name: prefix + name, known: names, meant: full, isForbidden }]
  })
}

function within(schema: JsonObject, value: JsonValue, path: string): Unknown[] {
  if (isObject(value)) return unknownIn(schema, value, `${path}.`)
  if (!isList(value)) return []
  const items = objectOf(schema['items'])
  return value.flatMap((item, index) => within(items, item, `${path}[${index}]`))
}

const alternatives = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'dependentSchemas', 'dependencies']

function hasAlternatives(schema: JsonObject): boolean {
  return alternatives.some((keyword) => schema[keyword] !== undefined)
}

function isOpenByItself({ additionalProperties, patternProperties }: JsonObject): boolean {
  const isSaid = additionalProperties !== undefined && additionalProperties !== false
  return isSaid || patternProperties !== undefined
}

function sentence({ name, known, meant }: Unknown, tool: string): string {
  const head = `\`${name}\` is no parameter of ${tool}`
  if (meant !== undefined) return `${head}; did you mean \`${meant}\`?`
  if (known.length === 0) return `${head}; it has none.`
  return `${head}; it has ${known.slice(0, 12).join(', ')}${known.length > 12 ? ', …' : ''}.`
}
