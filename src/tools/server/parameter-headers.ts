import { objectOf, type JsonValue, type JsonObject } from '#core/json'
import type { ListedTools } from '#tools/model'
import { valueAt } from '#tools/workflow/references'

interface MirroredParameter {
  path: readonly string[]
  header: string
}

const mark = 'x-mcp-header'
const prefix = 'Mcp-Param-'
/** The form of an HTTP header's name (RFC 9110, 5.6.2). */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const types: readonly unknown[] = ['string', 'integer', 'boolean']

/**
 * Returns the parameters that are repeated as headers (MCP of 2026-07-28, Streamable HTTP, Custom Headers
 * from Tool Parameters). Such a parameter has a unique header name in `x-mcp-header` and a scalar type, and
 * only `properties` lead to it. Undefined if a mark is wrong: the whole tool definition is then invalid.
 */
function readMirroredParameters(inputSchema: JsonObject): readonly MirroredParameter[] | undefined {
  let marks = 0
  JSON.stringify(inputSchema, (key, value: unknown) => {
    if (key === mark) marks++
    return value
  })
  const parameters = marks === 0 ? [] : markedIn(inputSchema, [])
  const names = new Set(parameters.map(({ header }) => header.toLowerCase()))
  return names.size === marks ? parameters : undefined
}

function markedIn(schema: JsonObject, path: readonly string[]): MirroredParameter[] {
  return Object.entries(objectOf(schema['properties'])).flatMap(([name, value]) => {
    const child = objectOf<JsonValue>(value)
    const { [mark]: header, type } = child
    const inner = markedIn(child, [...path, name])
    const isMarked = typeof header === 'string' && token.test(header) && types.includes(type)
    return isMarked ? [{ path: [...path, name], header }, ...inner] : inner
  })
}

/** Leaves out tools with wrong marks, as the protocol requires, and reports them. */
export function checkMirroredParameters(toolList: ListedTools): ListedTools {
  const problems = [...toolList.problems]
  const tools = toolList.tools.filter(({ name, inputSchema }) => {
    if (readMirroredParameters(inputSchema)) return true
    const message = `the tool ${name} is left out: ${mark} marks what cannot be a header`
    problems.push({ code: 'tools-listed', message })
    return false
  })
  return { tools, problems }
}

/** Returns the headers of one call; a missing parameter and null have none. */
export function parameterHeaders(
  inputSchema: JsonObject,
  parameters: JsonObject,
): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const { path, header } of readMirroredParameters(inputSchema) ?? []) {
    const text = textOf(valueAt(parameters, path))
    if (text !== undefined) headers[`${prefix}${header}`] = encodeText(text)
  }
  return headers
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'boolean' || Number.isSafeInteger(value) ? String(value) : undefined
}

/** Encodes text that a header cannot contain as `=?base64?…?=`. */
function encodeText(text: string): string {
  const isPlain = /^[\t\x20-\x7e]+$/.test(text) && text.trim() === text
  if (isPlain && !/^=\?base64\?.*\?=$/.test(text)) return text
  return `=?base64?${Buffer.from(text).toString('base64')}?=`
}
