import { isObject } from '../../core/json.ts'
import type { JsonValue } from '../../skill/model.ts'
import type { JsonObject, ToolDefinition } from '../model.ts'

interface MirroredParameter {
  path: readonly string[]
  header: string
}

const mark = 'x-mcp-header'
const prefix = 'Mcp-Param-'
/** What a name in HTTP is made of (RFC 9110, 5.6.2). */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const types: readonly unknown[] = ['string', 'integer', 'boolean']
/** Their values are data, not schemas. */
const dataKeys: readonly string[] = ['default', 'const', 'enum', 'examples', mark]
/** Their values map names to schemas. */
const mapKeys: readonly string[] =
  'properties patternProperties dependentSchemas $defs definitions'.split(' ')

interface Visit {
  schema: unknown
  path: readonly string[]
  plain: boolean
}

/**
 * Which parameters are repeated as headers (MCP of 2026-07-28, Streamable HTTP, Custom Headers from
 * Tool Parameters): those marked by `x-mcp-header` with a name for the header, which no other has,
 * of a type that is one text, and reached through `properties` alone. A text says why the whole
 * definition of the tool counts as invalid.
 */
function readMirrored(inputSchema: JsonObject): readonly MirroredParameter[] | string {
  const mirrored: MirroredParameter[] = []
  const waiting: Visit[] = [{ schema: inputSchema, path: [], plain: true }]
  for (const visit of waiting) {
    const { schema, path, plain } = visit
    if (Array.isArray(schema))
      for (const item of schema) waiting.push({ schema: item, path, plain: false })
    if (!isObject<JsonValue>(schema)) continue
    const header = schema[mark]
    if (header !== undefined) {
      const problem = problemOf(header, schema, visit)
      if (problem !== undefined || typeof header !== 'string') return problem ?? ''
      const isTaken = mirrored.some((one) => isSameHeader(one.header, header))
      if (isTaken) return `${mark} ${header} is given twice`
      mirrored.push({ path, header })
    }
    for (const [key, value] of Object.entries(schema)) {
      if (dataKeys.includes(key)) continue
      const isMap = isObject<JsonValue>(value) && mapKeys.includes(key)
      const inner = plain && isMap && key === 'properties'
      for (const [name, child] of isMap ? Object.entries(value) : [[key, value] as const])
        waiting.push({ schema: child, path: [...path, name], plain: inner })
    }
  }
  return mirrored
}

function isSameHeader(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

function problemOf(
  header: unknown,
  schema: JsonObject,
  { path, plain }: Visit,
): string | undefined {
  const place = path.length === 0 ? 'the schema itself' : path.join('.')
  if (typeof header !== 'string' || !token.test(header))
    return `${mark} of ${place} is not a name of a header`
  if (!plain || path.length === 0) return `${mark} may not stand at ${place}`
  return types.includes(schema['type'])
    ? undefined
    : `${mark} of ${place} needs a string, an integer or a boolean`
}

/** Leaves out the tools whose marks are wrong, as a client must, and says why. */
export function checkMirrored(tools: readonly ToolDefinition[]): {
  tools: readonly ToolDefinition[]
  problems: readonly string[]
} {
  const problems: string[] = []
  const right = tools.filter(({ name, inputSchema }) => {
    const reading = readMirrored(inputSchema)
    if (typeof reading === 'string') problems.push(`the tool ${name} is left out: ${reading}`)
    return typeof reading !== 'string'
  })
  return { tools: right, problems }
}

/** The headers of one call; a parameter that is not given, or is null, has none. */
export function parameterHeaders(
  inputSchema: JsonObject,
  parameters: JsonObject,
): Record<string, string> {
  const reading = readMirrored(inputSchema)
  if (typeof reading === 'string') return {}
  const headers: Record<string, string> = {}
  for (const { path, header } of reading) {
    const text = textOf(valueAt(parameters, path))
    if (text !== undefined) headers[`${prefix}${header}`] = encoded(text)
  }
  return headers
}

function valueAt(parameters: JsonObject, path: readonly string[]): unknown {
  let value: unknown = parameters
  for (const name of path) {
    value = isObject<JsonValue>(value) && Object.hasOwn(value, name) ? value[name] : undefined
  }
  return value
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'boolean' || Number.isSafeInteger(value) ? String(value) : undefined
}

/** What a header cannot carry as it is goes as `=?base64?…?=`. */
function encoded(text: string): string {
  const isPlain = /^[\t\x20-\x7e]+$/.test(text) && text.trim() === text
  if (isPlain && !/^=\?base64\?.*\?=$/.test(text)) return text
  return `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`
}
