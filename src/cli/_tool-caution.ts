import { safeLine } from '../base/index.ts'
import type { ToolCaution, ToolDefinition } from '../tools/index.ts'
import { unifiedDiff } from '../base/unified-diff.ts'

/** A few words for a column: why a tool needs a second look. */
export function cautionMark(caution: ToolCaution | undefined): string {
  if (caution === undefined) return ''
  return caution.kind === 'changed' ? 'changed' : 'unavailable'
}

/** The same as a sentence, with the change as far as it is known; not yet safe to print. */
export function cautionText(caution: ToolCaution, now: ToolDefinition | undefined): string {
  if (caution.kind === 'unavailable') {
    return `Its server could not be listed at the last refresh: ${safeLine(caution.message)}`
  }
  const since = safeLine(caution.since)
  const { before } = caution
  const change =
    before === undefined || now === undefined
      ? []
      : shortened(unifiedDiff(now.id, definitionText(before), definitionText(now)))
  return [
    `Its description or schema changed on ${since}. Look at it, then run \`skillrail tools refresh --accept\`.`,
    ...change,
  ].join('\n')
}

/** What a model reads of a tool and what it is called by, a line for each thing that may change. */
function definitionText(tool: ToolDefinition): string {
  const { title, description, inputSchema, outputSchema, annotations } = tool
  const facts = { title, inputSchema, outputSchema, annotations }
  return `${description}\n${JSON.stringify(facts, null, 2)}\n`
}

const mostLines = 80

function shortened(diff: string): string[] {
  const lines = diff.split('\n')
  if (lines.length <= mostLines) return lines
  return [...lines.slice(0, mostLines), `… and ${lines.length - mostLines} more lines`]
}
