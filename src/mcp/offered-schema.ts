import { longestName, longestText } from './input.ts'
import type { OfferedAnnotations, OfferedTool } from './model.ts'

/** Looks at what is here, and changes nothing. */
export const reads: OfferedAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
}

/** Whatever the tools, or the scripts of the steps, do that are run through it. */
export const acts: OfferedAnnotations = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
}

/** The parameters of a tool of ours; one that is not named here is refused. */
export function inputOf(
  properties: OfferedTool['inputSchema'],
  required: string[] = [],
): OfferedTool['inputSchema'] {
  return { type: 'object', properties, required, additionalProperties: false }
}

/** The name of a skill, a tool, a run or a step. */
export function nameOf(description: string): OfferedTool['inputSchema'] {
  return { type: 'string', minLength: 1, maxLength: longestName, description }
}

/** Words that must not be missing. */
export function wordsOf(description: string): OfferedTool['inputSchema'] {
  return { type: 'string', minLength: 1, maxLength: longestText, description }
}
