import { isObject } from '../../core/json.ts'
import type { JsonValue } from '../../skill/model.ts'
import type { JsonObject, ToolDefinition } from '../model.ts'

/** A parameter that its tool wants repeated as a header of HTTP. */
interface MirroredParameter {
  /** Names of the properties that lead to it. */
  path: readonly string[]
  header: string
}

type MirrorReading =
  | { ok: true; mirrored: readonly MirroredParameter[] }
  /** The whole definition of the tool counts as invalid then. */
  | { ok: false; problem: string }

const mark = 'x-mcp-header'
const prefix = 'Mcp-Param-'
/** What a name in HTTP is made of (RFC 9110, 5.6.2). */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const types: readonly unknown[] = ['string', 'integer', 'boolean']
/** Their values are data, not schemas. */
const dataKeys: readonly string[] = ['default', 'const', 'enum', 'examples', mark]
/** Their values map names to schemas. */
const mapKeys: readonly string[] = ['patternProperties', 'dependentSchemas', '$defs', 'definitions']

interface Visit {
  schema: unknown
  path: readonly string[]
  /** Whether only `properties` lead here. */
  plain: boolean
}

/**
 * Which parameters are repeated as headers (MCP of 2026-07-28, Streamable HTTP, Custom Headers from
 * Tool Parameters): those marked by `x-mcp-header` with a name for the header, which no other has,
 * of a type that is one text, and reached through `properties` alone.
 */
function readMirrored(inputSchema: JsonObject): MirrorReading {
  const mirrored: MirroredParameter[] = []
  const names = new Set<string>()
  const waiting: Visit[] = [{ schema: inputSchema, path: [], plain: true }]
  for (let visit = waiting.pop(); visit !== undefined; visit = waiting.pop()) {
    const { schema, path, plain } = visit
    if (!isObject<JsonValue>(schema)) {
      if (Array.isArray(schema)) {
        for (const item of schema) waiting.push({ schema: item, path, plain: false })
      }
      continue
    }
    const header = schema[mark]
    if (header !== undefined) {
      const problem = problemOf(header, schema, visit, names)
      if (problem !== undefined || typeof header !== 'string') {
        return { ok: false, problem: problem ?? '' }
      }
      names.add(header.toLowerCase())
      mirrored.push({ path, header })
    }
    for (const [key, value] of Object.entries(schema)) {
      if (dataKeys.includes(key)) continue
      const isMap = isObject<JsonValue>(value) && (key === 'properties' || mapKeys.includes(key))
      const inner = plain && key === 'properties'
      if (!isMap) waiting.push({ schema: value, path: [...path, key], plain: false })
      else {
        for (const [name, child] of Object.entries(value)) {
          waiting.push({ schema: child, path: [...path, name], plain: inner })
        }
      }
    }
  }
  return { ok: true, mirrored }
}

function problemOf(
  header: unknown,
  schema: JsonObject,
  { path, plain }: Visit,
  names: ReadonlySet<string>,
): string | undefined {
  const place = path.length === 0 ? 'the schema itself' : path.join('.')
  if (typeof header !== 'string' || !token.test(header)) {
    return `${mark} of ${place} is not a name of a header`
  }
  if (!plain || path.length === 0) return `${mark} may not stand at ${place}`
  if (!types.includes(schema['type'])) {
    return `${mark} of ${place} needs a string, an integer or a boolean`
  }
  return names.has(header.toLowerCase()) ? `${mark} ${header} is given twice` : undefined
}

/** Leaves out the tools whose marks are wrong, as a client must, and says why. */
export function checkMirrored(tools: readonly ToolDefinition[]): {
  tools: readonly ToolDefinition[]
  problems: readonly string[]
} {
  const problems: string[] = []
  const right = tools.filter(({ name, inputSchema }) => {
    const reading = readMirrored(inputSchema)
    if (!reading.ok) problems.push(`the tool ${name} is left out: ${reading.problem}`)
    return reading.ok
  })
  return { tools: right, problems }
}

/** The headers of one call; a parameter that is not given, or is null, has none. */
export function parameterHeaders(
  inputSchema: JsonObject,
  parameters: JsonObject,
): Record<string, string> {
  const reading = readMirrored(inputSchema)
  if (!reading.ok) return {}
  const headers: Record<string, string> = {}
  for (const { path, header } of reading.mirrored) {
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
