import type { JsonValue } from '../../skill/index.ts'
import type { JsonObject, ToolDefinition } from '../model.ts'
import { isList, objectOf } from './_json.ts'
import { typeText } from './type-text.ts'

/** A longer value is not repeated. */
const longestValue = 400

/**
 * The command for a call that lacks something, ready to be completed: what is known as it is, and
 * `"<string>"` at the paths of what is missing. From a request or a server, so it is not yet safe to
 * print.
 */
export function callToComplete(
  tool: ToolDefinition,
  params: JsonObject,
  missing: readonly (readonly string[])[],
): string {
  const known = Object.entries(params).map(([name, value]) => [name, shortened(value)])
  let whole: JsonValue = Object.fromEntries(known)
  for (const path of missing) whole = withPlaceholder(whole, tool.inputSchema, path)
  return `skillrail tools call ${tool.id} ${quoted(JSON.stringify(whole))}`
}

function shortened(value: JsonValue): JsonValue {
  return JSON.stringify(value).length > longestValue ? '<as before>' : value
}

function withPlaceholder(
  value: JsonValue | undefined,
  schema: JsonObject,
  [name, ...rest]: readonly string[],
): JsonValue {
  // Choices without the quotes that the JSON around them would have to escape.
  if (name === undefined) return `<${typeText(schema).replaceAll('"', '')}>`
  if (value !== undefined && isList(value)) {
    const items = objectOf(schema['items'])
    return value.map((item, index) =>
      String(index) === name ? withPlaceholder(item, items, rest) : item,
    )
  }
  const members = new Map(Object.entries(objectOf(value)))
  const member = objectOf(objectOf(schema['properties'])[name])
  members.set(name, withPlaceholder(members.get(name), member, rest))
  return Object.fromEntries(members)
}

/** One word for a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
