import { safeLine } from '#core/text'
import { unifiedDiff } from '#core/unified-diff'
import type { ToolDefinition, ToolSummary } from './model.ts'
import type { ToolCaution, ToolIndex } from './cache/tool-index.ts'
import { matchWorkflows } from './workflow/match.ts'
import type { WorkflowMode } from './workflow/model.ts'
import { loadWorkflows } from './workflow/read-workflows.ts'

/** A tool as people look at it: its definition, its cautions and the workflows before it. */
export interface ToolFacts {
  tool: ToolSummary
  caution: ToolCaution | undefined
  definition: ToolDefinition | undefined
  workflows: readonly string[]
  guards: readonly ToolGuard[]
}

/** A workflow that precedes a tool, with the tools that it calls first. */
interface ToolGuard {
  name: string
  mode: WorkflowMode
  first: readonly string[]
}

export function toolFacts(tool: ToolSummary, index: ToolIndex, project: string): ToolFacts {
  const { workflows } = loadWorkflows(project)
  const { matched, also } = matchWorkflows({ tool, params: {} }, workflows, index.tools)
  const names = [matched?.name, ...also]
  const guards = workflows.filter(({ name }) => names.includes(name))
  return {
    tool,
    caution: index.caution(tool.id),
    definition: index.definition(tool.id),
    workflows: guards.map(({ name }) => name),
    guards: guards.map(({ name, mode, prerequisites }) => {
      return { name, mode, first: prerequisites.map((step) => step.tool) }
    }),
  }
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

/** Describes a caution in a sentence, with the change as far as it is known. Not yet safe to print. */
export function cautionText(caution: ToolCaution, now: ToolDefinition | undefined): string {
  if (caution.kind === 'unavailable') {
    return `Its server could not be listed at the last refresh: ${safeLine(caution.message)}`
  }
  const { before, added, since, lostRecord } = caution
  const change = `${added ? 'It was added' : 'Its description or schema changed'} on ${safeLine(since)}`
  const event =
    lostRecord === undefined
      ? change
      : `It is not known whether it changed, because ${safeLine(lostRecord)} cannot be read`
  const sentence = `${event}. Look at it, then run \`skillrail tools refresh --accept\`.`
  if (!before || !now) return sentence
  const diff = unifiedDiff(now.id, definitionText(before), definitionText(now)).split('\n')
  const remaining = diff.length - maxLines
  const more = remaining > 0 ? [`… and ${remaining} more lines`] : []
  return [sentence, ...diff.slice(0, maxLines), ...more].join('\n')
}

function definitionText(tool: ToolDefinition) {
  const { title, description, inputSchema, outputSchema, annotations } = tool
  const facts = { title, inputSchema, outputSchema, annotations }
  return `${description}\n${JSON.stringify(facts, null, 2)}\n`
}

const maxLines = 80
