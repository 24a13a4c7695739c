import { objectOf, type JsonObject, type JsonValue } from '#core/json'
import type { SchemaChecker } from '#tools/call/schema-checker'
import type { ToolDefinition } from '#tools/model'
import { readSchema, type SchemaPlace } from './read-schema.ts'

/**
 * The tools that a provider can be told of, with their schemas as it takes them. One unusable schema
 * would make it refuse the whole request, so that its tool is left out, with a reason.
 */
export async function offerable<Tool extends Pick<ToolDefinition, 'id' | 'inputSchema'>>(
  tools: readonly Tool[],
  schemas: SchemaChecker,
): Promise<{ tools: readonly Tool[]; warnings: readonly string[] }> {
  const offered: Tool[] = []
  const warnings: string[] = []
  for (const tool of tools) {
    const fault = schemaFault(tool.inputSchema) ?? (await compilingFault(tool, schemas))
    if (fault === undefined) offered.push({ ...tool, inputSchema: offeredSchema(tool.inputSchema) })
    else warnings.push(`The tool ${tool.id} is left out: ${fault}`)
  }
  return { tools: offered, warnings }
}

async function compilingFault(
  { inputSchema }: Pick<ToolDefinition, 'inputSchema'>,
  schemas: SchemaChecker,
): Promise<string | undefined> {
  const verdict = await schemas.check(inputSchema, {})
  return verdict.checked ? undefined : verdict.reason
}

/** Why no call can fit an input schema, or what the schema says cannot be known; undefined: it is usable. */
export function schemaFault(schema: JsonObject): string | undefined {
  const root = readSchema(schema)
  const [reference] = root.dangling
  if (reference !== undefined) {
    const isElsewhere = /^[a-z][a-z0-9+.-]*:/i.test(reference)
    const shown = reference.slice(0, 200)
    return isElsewhere
      ? `its schema refers to ${shown}, and nothing outside of a schema is read`
      : `its schema refers to ${shown}, which it does not have`
  }
  if (!mayBeObject(root)) {
    return 'its schema does not allow an object, and the parameters of a tool are one'
  }
  return isImpossible(root, [], { left: maxPlaces })
    ? 'no parameters can fit its schema'
    : undefined
}

/**
 * The schema as providers take it: an object at the top, without references and unions there. Parts
 * below stay as they are, with what they refer to.
 */
export function offeredSchema(schema: JsonObject): JsonObject {
  const composed = ['$ref', '$dynamicRef', 'allOf', 'anyOf', 'oneOf', 'not', 'enum', 'const']
  const root = readSchema(schema)
  if (composed.every((keyword) => schema[keyword] === undefined))
    return { ...schema, type: 'object' }
  const kept = Object.entries(schema).filter(([keyword]) => !composed.includes(keyword))
  const properties = [...root.properties].map(([name, place]) => [name, place.written])
  return {
    ...objectOf<JsonValue>(Object.fromEntries(kept)),
    ...(root.description !== '' && { description: root.description }),
    type: 'object',
    properties: objectOf<JsonValue>(Object.fromEntries(properties)),
    required: root.required,
  }
}

function mayBeObject(place: SchemaPlace): boolean {
  return place.leaves.some(({ types }) => types.length === 0 || types.includes('object'))
}

const maxPlaces = 500

/** Whether no value is valid; false also where that is not clear. */
function isImpossible(
  place: SchemaPlace,
  above: readonly SchemaPlace[],
  budget: { left: number },
): boolean {
  if (--budget.left < 0) return false
  if (place.isFalse || place.isContradictory || place.isWithoutChoice) return true
  if (place.parts.some(({ not }) => not === true || isEmpty(not))) return true
  const { leaves } = place
  if (leaves.length > 1) return leaves.every((leaf) => isImpossible(leaf, above, budget))
  const { minimum = -Infinity, maximum = Infinity } = place.limits
  const isNumber =
    place.types.length > 0 && place.types.every((type) => /^(?:integer|number)$/.test(type))
  if (isNumber && !place.isNullable && Number(minimum) > Number(maximum)) return true
  const isObjectOnly = above.length === 0 || (place.types.join() === 'object' && !place.isNullable)
  if (!isObjectOnly) return false
  // A value that must contain a value of its own kind would have no end.
  if (above.some((outer) => isSamePlace(outer, place))) return true
  return place.required.some((name) => {
    const field = place.property(name)
    return field !== undefined && isImpossible(field, [...above, place], budget)
  })
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

function isSamePlace(one: SchemaPlace, other: SchemaPlace): boolean {
  const parts = new Set(one.parts.filter((part) => !isReference(part)))
  const others = other.parts.filter((part) => !isReference(part))
  return parts.size > 0 && others.length === parts.size && others.every((part) => parts.has(part))
}

/** Says nothing but where the schema is. */
function isReference(part: JsonObject): boolean {
  return Object.keys(part).every((keyword) => /^\$|^(?:title|description)$/.test(keyword))
}
