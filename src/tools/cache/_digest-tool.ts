import { compareText, isObject, sha256 } from '../../base/index.ts'
import type { ToolDefinition } from '../model.ts'

export interface ToolDigests {
  /** Of name, title and description: what a model reads. */
  description: string
  /** Of the schemas and annotations; the order of keys does not count. */
  schema: string
}

export function digestTool(tool: ToolDefinition): ToolDigests {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool
  return {
    description: short(JSON.stringify([name, title, description])),
    schema: short(JSON.stringify(ordered([inputSchema, outputSchema, annotations]))),
  }
}

/** Of a category's text, to see whether a person changed it. */
export function digestText(description: string, keywords: readonly string[]): string {
  return short(JSON.stringify([description, keywords]))
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => ordered(item))
  if (!isObject(value)) return value
  return Object.entries(value)
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([key, item]) => [key, ordered(item)])
}

/** 128 bits. */
function short(text: string): string {
  return sha256(text).slice('sha256:'.length, 'sha256:'.length + 32)
}
