import { deepestJson, isObject } from '../../base/index.ts'
import type { JsonValue } from '../../skill/index.ts'
import { isDeepJson, isDeepValue } from '../../workflow/index.ts'
import { ToolCallError } from '../errors.ts'
import type { AnswerProblem, JsonObject, ToolContent, ToolOutcome } from '../model.ts'

/** What is read of a result: what can be used of it, and what is wrong with the rest. */
interface Reading {
  content: ToolContent[]
  problems: AnswerProblem[]
}

/**
 * Reads the result of a call (MCP, CallToolResult). A block of a kind that the protocol does not know
 * becomes its JSON as text, so that nothing a server said is lost; one that is not what its kind
 * wants, and a value that is nested too deeply, is a problem. Text stays text however deep it is.
 *
 * @param size bytes of the answer; 0 where the transport does not know
 * @throws {ToolCallError} `protocol`, where the content is no list or nothing of it can be used
 */
export function readOutcome(result: JsonObject, size: number): ToolOutcome {
  const { content, problems } = readContent(result['content'])
  const { isError = false, structuredContent } = result
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
    size: size || Buffer.byteLength(JSON.stringify([content, structured])),
    ...(problems.length === 0 ? {} : { problems }),
  }
}

const deep = `is nested deeper than ${deepestJson} levels`

function unusable(message: string): ToolCallError {
  return new ToolCallError({
    kind: 'protocol',
    message: `the answer is no result of a tool: ${message}`,
    delivered: 'yes',
  })
}

/** Servers of the first protocols may leave the content out; what stands there must be a list. */
function readContent(content: unknown): Reading {
  if (content === undefined) return { content: [], problems: [] }
  if (!Array.isArray(content)) throw unusable('its `content` is no list of blocks')
  const reading: Reading = { content: [], problems: [] }
  content.forEach((block: unknown, index) => {
    const read = isObject<JsonValue>(block) ? readBlock(block) : 'is no object'
    if (typeof read !== 'string') reading.content.push(read)
    else {
      const message = `block ${index + 1} of its content ${read}`
      reading.problems.push({ code: 'answer-invalid', message })
    }
  })
  return reading
}

/** The block, or what is wrong with it. */
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
        : 'is a resource that is no object'
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
