import { splitClauses } from '../parameters/clauses.ts'
import { type PlannedCall, planRequest } from '../parameters/plan-request.ts'
import type { CallIndex } from './context.ts'
import type { FitWorld } from './fitting-candidate.ts'

/** Something that could be called for a request. */
export interface Proposal {
  /** What the request asks for; the steps before it only give it what it needs. */
  tool: string
  steps: readonly PlannedCall[]
  missing: readonly string[]
  /** How many things the request asks for, one after the other. */
  parts: number
}

/** The plan for a request whose tool has been chosen. */
export function proposeTool(request: string, tool: string, index: CallIndex): Proposal | undefined {
  const world = { router: { route: () => ({ tool }) }, ...planParts(index) }
  return proposalOf(request, planRequest(request, world, tool).steps)
}

/** The tools of an index as plans are made from them. */
export function planParts(index: CallIndex): FitWorld {
  return { definition: (id) => index.definition(id), tools: index.tools.map(({ id }) => id) }
}

/** The proposal that these steps are; undefined without any. */
export function proposalOf(request: string, steps: readonly PlannedCall[]): Proposal | undefined {
  const last = steps.at(-1)
  if (last === undefined) return undefined
  return {
    tool: last.tool,
    steps,
    missing: steps.flatMap(({ missing }) => missing),
    parts: splitClauses(request).length,
  }
}
