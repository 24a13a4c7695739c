import { objectOf, type JsonObject, type JsonValue } from '#core/json'
import type { SchemaChecker } from '#tools/call/schema-checker'
import type { ToolDefinition } from '#tools/model'
import { readSchema, type SchemaPlace } from './read-schema.ts'

/**
 * Returns the tools that a provider accepts, with their schemas in its form. One unusable schema would make
 * the provider refuse the whole request, so such a tool is left out, with a reason.
 */
export async function offerable<Tool extends Pick<ToolDefinition, 'id' | 'inputSchema'>>(
  tools: readonly Tool[],
  schemas: SchemaChecker,
): Promise<{ tools: readonly Tool[]; warnings: readonly string[] }> {
  const usableTools: Tool[] = []
  const warnings: string[] = []
  for (const tool of tools) {
    const fault = schemaFault(tool.inputSchema) ?? (await compilingFault(tool, schemas))
    if (fault === undefined)
      usableTools.push({ ...tool, inputSchema: offeredSchema(tool.inputSchema) })
    else warnings.push(`The tool ${tool.id} is left out: ${fault}`)
  }
  return { tools: usableTools, warnings }
}

async function compilingFault(
  { inputSchema }: Pick<ToolDefinition, 'inputSchema'>,
  schemas: SchemaChecker,
): Promise<string | undefined> {
  const verdict = await schemas.check(inputSchema, {})
  return verdict.checked ? undefined : verdict.reason
}

/** Returns why no call can match an input schema, or why that cannot be known; undefined: it is usable. */
export function schemaFault(schema: JsonObject): string | undefined {
  const root = readSchema(schema)
  const [reference] = root.dangling
  if (reference !== undefined) {
    const isElsewhere = /^[a-z][a-z0-9+.-]*:/i.test(reference)
    const excerpt = reference.slice(0, 200)
    return isElsewhere
      ? `its schema refers to ${excerpt}, and nothing outside of a schema is read`
      : `its schema refers to ${excerpt}, which it does not have`
  }
  if (!mayBeObject(root)) {
    return 'its schema does not allow an object, and the parameters of a tool are one'
  }
  return isImpossible(root, [], { remaining: maxPlaces })
    ? 'no parameters can fit its schema'
    : undefined
}

/**
 * Returns the schema in the form that providers accept: an object at the top, without references and unions
 * there. Lower parts stay unchanged, with everything that they refer to.
 */
export function offeredSchema(schema: JsonObject): JsonObject {
  const composingKeywords = [
    '$ref',
    '$dynamicRef',
    'allOf',
    'anyOf',
    'oneOf',
    'not',
    'enum',
    'const',
  ]
  const root = readSchema(schema)
  if (composingKeywords.every((keyword) => schema[keyword] === undefined))
    return { ...schema, type: 'object' }
  const plainEntries = Object.entries(schema).filter(
    ([keyword]) => !composingKeywords.includes(keyword),
  )
  const properties = [...root.properties].map(([name, place]) => [name, place.schema])
  return {
    ...objectOf<JsonValue>(Object.fromEntries(plainEntries)),
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

/** Whether no value is valid; false if that is unclear. */
function isImpossible(
  place: SchemaPlace,
  outerPlaces: readonly SchemaPlace[],
  budget: { remaining: number },
): boolean {
  if (--budget.remaining < 0) return false
  if (place.isFalse || place.isContradictory || place.isWithoutChoice) return true
  if (place.parts.some(({ not }) => not === true || isEmpty(not))) return true
  const { leaves } = place
  if (leaves.length > 1) return leaves.every((leaf) => isImpossible(leaf, outerPlaces, budget))
  const { minimum = -Infinity, maximum = Infinity } = place.limits
  const isNumber =
    place.types.length > 0 && place.types.every((type) => /^(?:integer|number)$/.test(type))
  if (isNumber && !place.isNullable && Number(minimum) > Number(maximum)) return true
  const isObjectOnly =
    outerPlaces.length === 0 || (place.types.join() === 'object' && !place.isNullable)
  if (!isObjectOnly) return false
  // A value that must contain a value of the same kind would never end.
  if (outerPlaces.some((outer) => isSamePlace(outer, place))) return true
  return place.required.some((name) => {
    const field = place.property(name)
    return field !== undefined && isImpossible(field, [...outerPlaces, place], budget)
  })
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

function isSamePlace(one: SchemaPlace, other: SchemaPlace): boolean {
  const parts = new Set(one.parts.filter((part) => !isReference(part)))
  const otherParts = other.parts.filter((part) => !isReference(part))
  return (
    parts.size > 0 &&
    otherParts.length === parts.size &&
    otherParts.every((part) => parts.has(part))
  )
}

/** Whether a part only refers to another schema. */
function isReference(part: JsonObject): boolean {
  return Object.keys(part).every((keyword) => /^\$|^(?:title|description)$/.test(keyword))
}
