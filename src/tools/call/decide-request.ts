import { splitClauses } from '../parameters/clauses.ts'
import { planRequest } from '../parameters/plan-request.ts'
import type { Route } from '../route/route.ts'
import { firstFitting, type FitWorld, onlyFitting, prepareFits } from './fitting-candidate.ts'
import { namedInWords } from './named-in-words.ts'
import { type Proposal, proposalOf } from './propose.ts'

/** What a request comes to, for whoever shows it and for whoever carries it out. */
export interface RequestDecision {
  /** Of the whole request, with the decision and the tool that were come to. */
  route: Route
  /** What would be called; undefined where there is a doubt, or where the schema is not known. */
  proposal?: Proposal | undefined
}

/**
 * Decides a request of one clause or several: it is answered where every part of it is answered
 * without doubt. Pure.
 */
export function decideRequest(
  request: string,
  routeOf: (text: string) => Route,
  world: FitWorld,
): RequestDecision {
  const isOne = splitClauses(request).length < 2
  const whole = routeOf(request)
  const decided = decideTool(request, whole, world)
  const sure = (text: string): { tool?: string | undefined } => {
    // The name of one part must not swallow the other parts.
    if (isOne || text === request) return sureTool(isOne ? decided : whole)
    return sureTool(decideTool(text, routeOf(text), world))
  }
  const { steps } = planRequest(request, { ...world, router: { route: sure } })
  const proposal = proposalOf(request, steps)
  if (proposal !== undefined) {
    return { route: { ...whole, decision: 'answer', tool: proposal.tool }, proposal }
  }
  const isOpen = whole.decision === 'shortlist'
  return { route: isOne ? decided : { ...whole, tool: isOpen ? decided.tool : whole.tool } }
}

/** The one tool of a clause, by the words first and then by what the tools take. */
function decideTool(request: string, route: Route, world: FitWorld): Route {
  if (route.decision === 'answer') return route
  const candidates = prepareFits(request, route, world)
  const tool = namedInWords(request, candidates) ?? onlyFitting(route, candidates)
  if (tool !== undefined) return { ...route, decision: 'answer', tool }
  return { ...route, tool: firstFitting(route, candidates) ?? route.tool }
}

function sureTool({ decision, tool }: Route): { tool?: string | undefined } {
  return decision === 'answer' ? { tool } : {}
}
