import type { JsonValue } from '../../skill/index.ts'
import { answerJson } from '../../workflow/index.ts'
import type { ToolContent, ToolOutcome } from '../model.ts'

/**
 * The answer as a value for variables and `--json`: the structured content; else a single text, read
 * as JSON where it is an object or a list; else the text; else a list of what came.
 */
export function outcomeValue(
  outcome: ToolOutcome,
  pathOf?: (block: ToolContent) => string | undefined,
): JsonValue {
  if (outcome.structured !== undefined) return outcome.structured
  const [only] = outcome.content
  if (only === undefined) return null
  if (outcome.content.every((block) => block.type === 'text')) {
    const text = outcomeText(outcome)
    return /^\s*[[{]/.test(text) ? (answerJson(text) ?? text) : text
  }
  const values = outcome.content.map((block) => blockValue(block, pathOf?.(block)))
  return values.length === 1 ? (values[0] ?? null) : values
}

/** The texts of the answer, one after the other. */
export function outcomeText(outcome: ToolOutcome): string {
  return outcome.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
}

function blockValue(block: ToolContent, path: string | undefined): JsonValue {
  const file = path === undefined ? {} : { path }
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
    case 'audio':
      return { type: block.type, mimeType: block.mimeType, size: block.data.byteLength, ...file }
    case 'resource':
    case 'link': {
      const mimeType = block.mimeType === undefined ? {} : { mimeType: block.mimeType }
      if (block.type === 'link')
        return { type: 'link', uri: block.uri, name: block.name, ...mimeType }
      const text = block.text === undefined ? {} : { text: block.text }
      return { type: 'resource', uri: block.uri, ...mimeType, ...text, ...file }
    }
  }
}
