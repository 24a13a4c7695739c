import type { JsonObject, ToolDefinition } from '../model.ts'
import { isList, objectOf } from './_json.ts'

/** The schema of a parameter of the tool; empty where it has none of that name. */
export function propertyOf(tool: ToolDefinition, name: string): JsonObject {
  const properties = objectOf(tool.inputSchema['properties'])
  return Object.hasOwn(properties, name) ? objectOf(properties[name]) : {}
}

/** `string`, `integer | null`, `"open" | "closed"`, `string[]`. */
export function typeText(schema: JsonObject): string {
  const { type, enum: choices, anyOf, oneOf, items } = schema
  if (choices !== undefined && isList(choices)) {
    return choices
      .slice(0, 12)
      .map((choice) => JSON.stringify(choice))
      .join(' | ')
  }
  if (type === 'array') return `${typeText(objectOf(items))}[]`
  if (typeof type === 'string') return type
  if (type !== undefined && isList(type)) return type.map(String).join(' | ')
  const options = anyOf ?? oneOf
  if (options === undefined || !isList(options)) return 'any'
  return [...new Set(options.map((option) => typeText(objectOf(option))))].join(' | ')
}
