import { safeLine } from '../../core/text.ts'
import { unifiedDiff } from '../../core/unified-diff.ts'
import { matchWorkflows } from '../workflow/match.ts'
import type { WorkflowDefinition } from '../workflow/model.ts'
import { loadWorkflows } from '../workflow/read-workflows.ts'
import type { ToolCaution, ToolIndex } from '../cache/tool-index.ts'
import type { ToolDefinition, ToolSummary } from '../model.ts'

export function guardsOf(
  tool: ToolSummary,
  index: ToolIndex,
  project: string,
): WorkflowDefinition[] {
  const { workflows } = loadWorkflows(project)
  const { matched, also } = matchWorkflows({ tool, params: {} }, workflows, index.tools)
  return workflows.filter(({ name }) => name === matched?.name || also.includes(name))
}

export function hintText(definition: ToolDefinition | undefined): string {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } =
    definition?.annotations ?? {}
  const hints: readonly (readonly [boolean | undefined, string, string])[] = [
    [readOnlyHint, 'reads only', 'writes'],
    [destructiveHint, 'may destroy', 'destroys nothing'],
    [idempotentHint, 'may be repeated', 'acts each time'],
    [openWorldHint, 'reaches outside', 'stays local'],
  ]
  return hints
    .flatMap(([hint, yes, no]) => (hint === undefined ? [] : [hint ? yes : no]))
    .join(', ')
}

export function cautionMark(caution: ToolCaution | undefined): string {
  return caution?.kind === 'changed' && caution.added ? 'new' : (caution?.kind ?? '')
}

/** The same as a sentence, with the change as far as it is known. Not yet safe to print. */
export function cautionText(caution: ToolCaution, now: ToolDefinition | undefined): string {
  if (caution.kind === 'unavailable') {
    return `Its server could not be listed at the last refresh: ${safeLine(caution.message)}`
  }
  const since = safeLine(caution.since)
  const { before, added } = caution
  if (added) {
    return `It was added on ${since}, after its server was first listed. Look at it, then run \`skillrail tools refresh --accept\`.`
  }
  const change =
    before === undefined || now === undefined
      ? []
      : shortened(unifiedDiff(now.id, definitionText(before), definitionText(now)))
  return [
    `Its description or schema changed on ${since}. Look at it, then run \`skillrail tools refresh --accept\`.`,
    ...change,
  ].join('\n')
}

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
