import { isObject } from '../config/fields.ts'
import type { JsonObject, ToolContent, ToolOutcome } from '../model.ts'

/**
 * Reads the result of a call. A block of a kind that the protocol does not know becomes its JSON as
 * text, so that nothing a server said is lost.
 */
export function readOutcome(result: JsonObject, size: number): ToolOutcome {
  const content = Array.isArray(result['content']) ? result['content'] : []
  return {
    isError: result['isError'] === true,
    content: content.map((block) => (isObject(block) ? readBlock(block) : asText(block))),
    structured: result['structuredContent'],
    size,
  }
}

function readBlock(block: JsonObject): ToolContent {
  const { type, text, data, mimeType, uri, name, resource } = block
  if (type === 'text' && typeof text === 'string') return { type, text }
  if ((type === 'image' || type === 'audio') && typeof data === 'string') {
    const media = typeof mimeType === 'string' ? mimeType : 'application/octet-stream'
    return { type, mimeType: media, data: Buffer.from(data, 'base64') }
  }
  if (type === 'resource_link' && typeof uri === 'string') {
    return { type: 'link', uri, name: typeof name === 'string' ? name : uri, ...media(block) }
  }
  if (type === 'resource' && isObject(resource)) return readResource(resource) ?? asText(block)
  return asText(block)
}

function readResource(resource: JsonObject): ToolContent | undefined {
  const { uri, text, blob } = resource
  if (typeof uri !== 'string') return undefined
  return {
    type: 'resource',
    uri,
    ...media(resource),
    ...(typeof text === 'string' ? { text } : {}),
    ...(typeof blob === 'string' ? { data: Buffer.from(blob, 'base64') } : {}),
  }
}

function media({ mimeType }: JsonObject): { mimeType?: string } {
  return typeof mimeType === 'string' ? { mimeType } : {}
}

function asText(value: unknown): ToolContent {
  return { type: 'text', text: JSON.stringify(value) }
}
