import { deepestJson, isObject } from '../../core/json.ts'
import type { JsonValue } from '../../skill/model.ts'
import { isDeepJson, isDeepValue } from '../workflow/gate.ts'
import { readDefinition } from '../cache/stored-tools.ts'
import { parameterNames } from '../cache/tool-index.ts'
import { ToolCallError } from '../errors.ts'
import type {
  AnswerProblem,
  JsonObject,
  ToolContent,
  ToolDefinition,
  ToolOutcome,
} from '../model.ts'
import type { Mask } from './mask-secrets.ts'

/**
 * Reads the result of a call (MCP, CallToolResult). A block of a kind that the protocol does not know
 * becomes its JSON as text, so that nothing a server said is lost.
 *
 * @throws {ToolCallError} `protocol`, where nothing of it can be used
 */
export function readOutcome(result: JsonObject): ToolOutcome {
  const { isError = false, structuredContent } = result
  const content: ToolContent[] = []
  const problems: AnswerProblem[] = []
  for (const [index, block] of blocksOf(result).entries()) {
    const read = isObject<JsonValue>(block) ? readBlock(block) : 'is not an object'
    if (typeof read !== 'string') content.push(read)
    else {
      const message = `block ${index + 1} of its content ${read}`
      problems.push({ code: 'answer-invalid', message })
    }
  }
  const isDeep = isDeepValue(structuredContent)
  if (isDeep) problems.push({ code: 'answer-too-deep', message: `its structured content ${deep}` })
  // Libraries that write every field send null where there is none.
  const structured = isDeep || structuredContent === null ? undefined : structuredContent
  if (isError !== null && typeof isError !== 'boolean') {
    problems.push({ code: 'answer-invalid', message: '`isError` is neither true nor false' })
  }
  const [first] = problems
  if (first !== undefined && content.length === 0 && structured === undefined) {
    throw unusable(first.message)
  }
  for (const block of content) {
    if (block.type !== 'text' || !isDeepJson(block.text)) continue
    problems.push({ code: 'answer-too-deep', message: `its JSON ${deep}; it stays text` })
  }
  return {
    isError: isError !== null && isError !== false,
    content,
    structured,
    size: content.reduce((sum, block) => sum + bytesOf(block), bytesOf(structured)),
    ...(problems.length === 0 ? {} : { problems }),
  }
}

function bytesOf(part: unknown): number {
  if (part === undefined) return 0
  const data = isObject(part) ? part['data'] : undefined
  return data instanceof Uint8Array ? data.byteLength : Buffer.byteLength(JSON.stringify(part))
}

const deep = `is nested deeper than ${deepestJson} levels`

function unusable(message: string): ToolCallError {
  return new ToolCallError({
    kind: 'protocol',
    message: `the answer is not a result of a tool: ${message}`,
    delivered: 'yes',
  })
}

/** Servers of the first protocols may leave the content out; what stands there must be a list. */
function blocksOf({ content = [] }: JsonObject): readonly unknown[] {
  if (Array.isArray(content)) return content
  throw unusable('its `content` is not a list of blocks')
}

function readBlock(block: JsonObject): ToolContent | string {
  if (isDeepValue(block)) return deep
  const { text, mimeType, uri, name, resource } = block
  const type = typeof block['type'] === 'string' ? block['type'] : ''
  switch (type) {
    case 'text':
      return typeof text === 'string' ? { type, text } : 'is a text without text'
    case 'image':
    case 'audio': {
      const data = bytesIn(block['data'])
      if (data === undefined || data.length === 0) return `is ${article[type]} without base64 data`
      const media = typeof mimeType === 'string' ? mimeType : 'application/octet-stream'
      return { type, mimeType: media, data }
    }
    case 'resource_link':
      if (typeof uri !== 'string') return 'is a link without an address'
      return { type: 'link', uri, name: typeof name === 'string' ? name : uri, ...media(block) }
    case 'resource':
      return isObject<JsonValue>(resource)
        ? readResource(resource)
        : 'is a resource that is not an object'
    default:
      return { type: 'text', text: JSON.stringify(block) }
  }
}

const article = { image: 'an image', audio: 'a sound' } as const

function readResource(resource: JsonObject): ToolContent | string {
  const { uri, text, blob } = resource
  if (typeof uri !== 'string') return 'is a resource without an address'
  const data = bytesIn(blob)
  if (blob !== undefined && data === undefined) return 'is a resource without base64 data'
  return {
    type: 'resource',
    uri,
    ...media(resource),
    ...(typeof text === 'string' ? { text } : {}),
    ...(data === undefined ? {} : { data }),
  }
}

/** What base64 means, with either of its alphabets; undefined for anything else. */
function bytesIn(data: unknown): Buffer | undefined {
  if (typeof data !== 'string' || !/^[\w+/\s-]*(?:={1,2}\s*)?$/.test(data)) return undefined
  return Buffer.from(data, 'base64')
}

function media({ mimeType }: JsonObject): { mimeType?: string } {
  return typeof mimeType === 'string' ? { mimeType } : {}
}

/**
 * Reads what a server lists, tool by tool: one that is malformed or has a name that came before is
 * left out and named in `problems`.
 */
export function readTools(
  server: string,
  listed: readonly unknown[],
): { tools: readonly ToolDefinition[]; problems: readonly string[] } {
  const tools = new Map<string, ToolDefinition>()
  const problems: string[] = []
  for (const value of listed) {
    // Some servers leave out the schema of a tool without parameters.
    const isBare = isObject(value) && !isObject(value['inputSchema'])
    const read = isBare ? { ...value, inputSchema: { type: 'object' } } : value
    const tool = readDefinition(read, server)
    if (tool === undefined || tool.name === '') problems.push('a tool without a name is left out')
    else if (tools.has(tool.name))
      problems.push(`the tool ${tool.name} is listed twice; the first one counts`)
    else tools.set(tool.name, tool)
  }
  return { tools: [...tools.values()], problems }
}

interface InputRequired {
  requests: JsonObject
  /** To be handed back; with no requests it is all that is required. */
  state?: string | undefined
}

export function readInputRequired(result: JsonObject): InputRequired | undefined {
  const { resultType, inputRequests, requestState } = result
  // A server of an earlier protocol that answers so has its `resultType` taken away by the client.
  const asks =
    resultType === 'input_required' || (isObject(inputRequests) && !('content' in result))
  if (!asks) return undefined
  return {
    requests: isObject(inputRequests) ? inputRequests : {},
    state: typeof requestState === 'string' ? requestState : undefined,
  }
}

/** What a server wants to know before it continues, and whether a parameter of the call can tell it. */
export function inputRequiredText(
  tool: string,
  { requests }: InputRequired,
  inputSchema: JsonObject | undefined,
  mask: Mask,
): string {
  // A secret that was cut is none that a mask knows.
  const shown = (text: string): string => cut(mask(text))
  const asks = Object.values(requests).map((request) => question(request, shown))
  const names = Object.values(requests).flatMap((request) => Object.keys(formOf(request)))
  const known = parameterNames({ inputSchema: inputSchema ?? {} })
  const advice =
    names.length > 0 && names.every((name) => known.includes(name))
      ? `Give ${names.join(' and ')} as a parameter of the call`
      : 'The tool has no parameter for it, and Skillrail answers no questions during a call'
  return `${tool} was not finished, because its server needs an answer first: ${asks.join('; ') || 'it does not say which'}. ${advice}`
}

function question(request: unknown, shown: (text: string) => string): string {
  const method = isObject(request) ? request['method'] : undefined
  if (method === 'sampling/createMessage') return 'an answer of a model'
  if (method === 'roots/list') return 'the directories that it may work in'
  if (method !== 'elicitation/create')
    return `something of a kind that is not known (${shown(String(method))})`
  const { message, url } = parametersOf(request)
  const said = typeof message === 'string' ? `"${shown(message)}"` : 'a question'
  if (typeof url === 'string') return `${said}, to be answered at ${shown(url)}`
  const fields = Object.entries(formOf(request)).map(
    ([name, schema]) => `${shown(name)}: ${shown(kindOf(schema))}`,
  )
  return fields.length === 0 ? said : `${said} (${cut(fields.join('; '))})`
}

function parametersOf(request: unknown): Readonly<Record<string, unknown>> {
  return isObject(request) && isObject(request['params']) ? request['params'] : {}
}

function formOf(request: unknown): Readonly<Record<string, unknown>> {
  const { url, requestedSchema: schema } = parametersOf(request)
  const fields = typeof url !== 'string' && isObject(schema) ? schema['properties'] : undefined
  return isObject(fields) ? fields : {}
}

function kindOf(schema: unknown): string {
  const { type, enum: values } = isObject(schema) ? schema : {}
  if (Array.isArray(values)) return `one of ${values.join(', ')}`
  return typeof type === 'string' ? type : 'anything'
}

function cut(text: string): string {
  return text.length <= 500 ? text : `${text.slice(0, 499)}…`
}
