import type { ContentBlock } from '@modelcontextprotocol/server'
import type { ToolContent, ToolDefinition, ToolOutcome } from '#tools/model'

/** The inverse of `readOutcome`, without the problems, for which the protocol has no place. */
export function callResult({ content, structured, isError }: ToolOutcome) {
  return {
    content: content.map((block) =>
      isEmptyResource(block) ? emptyResource(block) : contentBlock(block),
    ),
    ...(structured !== undefined && { structuredContent: structured }),
    ...(isError && { isError }),
  }
}

type ResourceContent = ToolContent & { type: 'resource' }

/** Whether a resource has only an address. */
function isEmptyResource(block: ToolContent): block is ResourceContent {
  return block.type === 'resource' && block.text === undefined && block.data === undefined
}

function emptyResource({ uri, mimeType }: ResourceContent) {
  const media = mimeType !== undefined && { mimeType }
  return { type: 'resource', resource: { uri, ...media } }
}

/** Converts a content block of another server to the protocol's form. */
export function contentBlock(block: ToolContent): ContentBlock {
  if (block.type === 'text') return block
  const mimeType = block.mimeType !== undefined && { mimeType: block.mimeType }
  if (block.type === 'link')
    return { type: 'resource_link', uri: block.uri, name: block.name, ...mimeType }
  if (block.type !== 'resource') return block
  const { uri, text, data = '' } = block
  const resource = text === undefined ? { uri, blob: data } : { uri, text, ...bytesOf(block) }
  return { type: 'resource', resource: { ...resource, ...mimeType } }
}

function bytesOf({ data }: { data?: string | undefined }): { blob?: string } {
  return data === undefined ? {} : { blob: data }
}

/**
 * Converts a tool to the form of its server's list. If the protocol does not allow its schema, the definition
 * is in `_meta` under `key`: clients refuse a whole list for one such tool.
 */
export function listedTool(
  definition: ToolDefinition,
  key: string,
  isTool: (value: unknown) => boolean,
) {
  const { id: _id, server: _server, ...tool } = definition
  if (isTool(tool)) return tool
  const { name, description } = tool
  return { name, description, inputSchema: { type: 'object' }, _meta: { [key]: tool } }
}
