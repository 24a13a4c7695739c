import type { ToolDefinition } from '../model.ts'
import { splitClauses } from '../parameters/clauses.ts'
import { type PlannedCall, planRequest } from '../parameters/plan-request.ts'
import type { Route } from '../route/route.ts'
import type { CallIndex } from './context.ts'
import { onlyFitting } from './fitting-candidate.ts'
import { namedInWords } from './named-in-words.ts'

/** Something that could be called for a request. */
export interface Proposal {
  /** What the request asks for; the steps before it only give it what it needs. */
  tool: string
  steps: readonly PlannedCall[]
  missing: readonly string[]
  /** How many things the request asks for, one after the other. */
  parts: number
}

/**
 * The plan for a request of one clause or several, where every part of it is answered without doubt.
 */
export function proposeAnswer(
  request: string,
  index: CallIndex,
  route: (text: string) => Route,
): Proposal | undefined {
  const parts = planParts(index)
  const isOne = splitClauses(request).length < 2
  const sure = (text: string): { tool?: string | undefined } => {
    const found = route(text)
    if (found.decision === 'answer') return { tool: found.tool }
    // The name of one part must not swallow the other parts.
    if (!isOne && text === request) return {}
    return { tool: namedInWords(text, found, index.tools) ?? onlyFitting(text, found, parts) }
  }
  return proposalOf(request, planRequest(request, { router: { route: sure }, ...parts }).steps)
}

/** The plan for a request whose tool has been chosen. */
export function proposeTool(request: string, tool: string, index: CallIndex): Proposal | undefined {
  const world = { router: { route: () => ({ tool }) }, ...planParts(index) }
  return proposalOf(request, planRequest(request, world, tool).steps)
}

function planParts(index: CallIndex): {
  definition: (id: string) => ToolDefinition | undefined
  tools: readonly string[]
} {
  return { definition: (id) => index.definition(id), tools: index.tools.map(({ id }) => id) }
}

function proposalOf(request: string, steps: readonly PlannedCall[]): Proposal | undefined {
  const last = steps.at(-1)
  if (last === undefined) return undefined
  return {
    tool: last.tool,
    steps,
    missing: steps.flatMap(({ missing }) => missing),
    parts: splitClauses(request).length,
  }
}
