import { only } from '#tools/parameters/reading'
import { splitClauses } from '#tools/parameters/slots'
import { type PlannedCall, planRequest, type PlanTools } from '#tools/parameters/plan-request'
import { plainWords, stemOf } from '#rank/words'
import { contractExamples } from '#tools/contract'
import type { Route } from '#tools/route/router'
import { foldName, lastSegment } from '#tools/workflow/match'
import type { CallIndex } from './context.ts'

export interface RequestDecision {
  /** Of the whole request, with the final decision and tool. */
  route: Route
  /** The calls, the last of which is asked for; none where there is a doubt, or no known schema. */
  steps: readonly PlannedCall[]
}

export const maxConsidered = 5

/** Parts of the best score from which a candidate is another reading, and one that is as good. */
const nearEnough = { other: 0.5, asGood: 0.85 }

/** Decides a request of one or several clauses: it is answered where every clause is. Pure. */
export function decideRequest(
  request: string,
  routeOf: (text: string) => Route,
  tools: PlanTools,
): RequestDecision {
  const whole = routeOf(request)
  const clauses = splitClauses(request, tools.tools.map(lastSegment))
  if (clauses.length > 1) {
    const parts = clauses.map((text) => ({
      text,
      tool: sureTool(decideTool(text, routeOf(text), tools)),
    }))
    const steps = planRequest(parts, tools)
    const tool = steps.at(-1)?.tool
    if (tool !== undefined) return { route: { ...whole, decision: 'answer', tool }, steps }
  }
  const decided = decideTool(request, whole, tools)
  const tool = sureTool(decided)
  if (tool === undefined) return { route: decided, steps: [] }
  // One tool for a request of several clauses must take all that is said.
  const steps = planRequest([{ text: request, tool }], tools)
  if (clauses.length < 2 || takesAll(steps)) return { route: decided, steps }
  return { route: { ...decided, decision: 'shortlist' }, steps: [] }
}

/** Whether there are steps, and a place for all that is said. */
function takesAll(steps: readonly PlannedCall[]): boolean {
  return steps.length > 0 && steps.every(({ unplaced }) => unplaced.length === 0)
}

export function planTools(index: CallIndex): PlanTools {
  const examples = new Map(index.tools.map(({ id, examples: own = [] }) => [id, own]))
  return {
    definition: (id) => index.definition(id),
    tools: index.tools.map(({ id }) => id),
    examples: (id) => [
      ...(examples.get(id) ?? []),
      ...(contractExamples.get(foldName(lastSegment(id))) ?? []),
    ],
  }
}

/** By its name, by the router, or as the only candidate that takes all that is said. */
function decideTool(request: string, route: Route, tools: PlanTools): Route {
  if (route.decision === 'ask' || route.named.length > 0) return route
  const best = route.candidates[0]?.score ?? 0
  const isWord = (text: string) => route.slots.every(({ value }) => value !== text)
  const candidates = route.candidates.slice(0, maxConsidered).flatMap(({ tool, score }) => {
    if (score < best * nearEnough.other) return []
    const steps = planRequest([{ text: request, tool }], tools)
    const isWhole = takesAll(steps)
    const isGiven = steps.length > 0 && steps.every(({ missing }) => missing.length === 0)
    const isComplete = isWhole && isGiven
    const lacksWords = isGiven && steps.every(({ unplaced }) => unplaced.every(isWord))
    const name = plainWords(tools.definition(tool)?.name ?? '').map(stemOf)
    return [{ tool, name, isWhole, isComplete, lacksWords, share: score / best }]
  })
  const [first] = candidates
  if (route.decision === 'answer' && first?.isWhole === true) return route
  const complete = onlyComplete(request, candidates)
  if (complete !== undefined) return { ...route, decision: 'answer', tool: complete }
  if (route.decision === 'answer') return route
  const fitting = candidates.find((one) => one.isWhole && one.share >= nearEnough.asGood)
  return { ...route, tool: fitting?.tool ?? route.tool }
}

interface FittingCandidate {
  tool: string
  name: readonly string[]
  isWhole: boolean
  /** It has every parameter too, so that it can be called. */
  isComplete: boolean
  /** It has every parameter and takes every typed piece; at most words are left. */
  lacksWords: boolean
}

/** The only candidate that can be called with all that is said, or the one whose name is said. */
function onlyComplete(request: string, candidates: readonly FittingCandidate[]) {
  const complete = candidates.filter(({ isComplete }) => isComplete)
  const [first] = complete
  if (!first) return undefined
  const words = plainWords(request).map(stemOf)
  const isVerb = ({ name }: FittingCandidate) => name[0] === words[0]
  const named = complete.filter(
    (one) => one.name.every((word) => words.includes(word)) && (isVerb(one) || one.name.length > 1),
  )
  const most = Math.max(...named.map(({ name }) => name.length))
  const chosen = only(complete) ?? only(named.filter(({ name }) => name.length === most))
  if (!chosen) return undefined
  const isOpen = (one: FittingCandidate) =>
    (one.isWhole || one.lacksWords) && !(isVerb(chosen) && !isVerb(one))
  const better = candidates.slice(0, candidates.indexOf(first))
  return better.some(isOpen) ? undefined : chosen.tool
}

function sureTool({ decision, tool }: Route): string | undefined {
  return decision === 'answer' ? tool : undefined
}
