import { splitClauses } from '../parameters/clauses.ts'
import { wordsOf } from '../parameters/parameter.ts'
import { type PlannedCall, planRequest, type PlanWorld } from '../parameters/plan-request.ts'
import { findSlots } from '../parameters/slots.ts'
import type { Route } from '../route/route.ts'
import { stem } from '../route/stem.ts'
import type { CallIndex } from './context.ts'

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

/** How near to the best score a candidate must be, by the number of words of its name. */
const shareWhenNamed = { several: 0.5, one: 0.8 }

/**
 * The one candidate whose name the request says word for word, though not in one piece: `take a
 * screenshot` names `take_screenshot` and not `take_snapshot`. Of several the one with the most
 * words, if it is the only one. The seed puts a tool that is named before everything that is only
 * meant. Where others have a place for all that the request says, one without is not named: `read
 * the files a.md and b.md` is not `read_file`.
 */
function namedInWords(
  request: string,
  candidates: readonly FittingCandidate[],
): string | undefined {
  const said = new Set(wordsOf(request).map(stem))
  const named = candidates.flatMap((candidate) => {
    const words = wordsOf(candidate.name).map(stem)
    const share = words.length > 1 ? shareWhenNamed.several : shareWhenNamed.one
    const isNamed = words.length > 0 && words.every((word) => said.has(word))
    return isNamed && candidate.share >= share ? [{ candidate, words: words.length }] : []
  })
  const most = Math.max(...named.map(({ words }) => words))
  const [fullest, ...others] = named.filter(({ words }) => words === most)
  if (fullest === undefined || others.length > 0) return undefined
  const { candidate } = fullest
  const isOutdone =
    !candidate.fit().hasPlace &&
    candidates.some(({ share, fit }) => share >= shareWhenNamed.several && fit().hasPlace)
  return isOutdone ? undefined : candidate.tool
}

type FitWorld = Omit<PlanWorld, 'router'>

/** One of the best candidates of a route, and how it takes what the request says. */
interface FittingCandidate {
  tool: string
  /** The name that its server gave it; empty where that is not known. */
  name: string
  /** Its part of the best score, 0 to 1. */
  share: number
  fit(): Fit
}

interface Fit {
  /** Whether every typed piece of the request became a value. */
  hasPlace: boolean
  /** Whether nothing that is required stays open. */
  isComplete: boolean
  /** How many values were read from the request. */
  values: number
  /** How many come from an earlier call. */
  given: number
}

/** At most this many of the best candidates may be meant, however many are shown. */
export const mostConsidered = 5

/** From which part of the best score on a candidate is another reading, and one that is as good. */
const nearEnough = { other: 0.5, asGood: 0.85 }

/** The candidates of a route, ready to be compared. Pure. */
export function prepareFits(
  request: string,
  { candidates }: Pick<Route, 'candidates'>,
  world: FitWorld,
): FittingCandidate[] {
  const best = candidates[0]?.score ?? 0
  return candidates.slice(0, mostConsidered).map(({ tool, score }) => {
    let known: Fit | undefined
    return {
      tool,
      name: world.definition(tool)?.name ?? '',
      share: best === 0 ? 0 : score / best,
      fit: () => (known ??= fitOf(request, tool, world)),
    }
  })
}

/**
 * The one candidate of a shortlist that can take what the request says: those near it have no place
 * for a URL, a path or a number of the request. `navigate to https://x` is not `navigate_back`. That
 * a tool needs something which the request does not say rules it out for nothing: `list open issues`
 * is not `list_pages`.
 */
export function onlyFitting(
  { decision }: Pick<Route, 'decision'>,
  candidates: readonly FittingCandidate[],
): string | undefined {
  if (decision !== 'shortlist') return undefined
  let found: FittingCandidate | undefined
  for (const candidate of candidates) {
    const { share, fit } = candidate
    // None from here on could be meant instead.
    if (found === undefined && share < nearEnough.asGood) return undefined
    if (share < nearEnough.other || !fit().hasPlace || !fit().isComplete) continue
    if (found !== undefined) return undefined
    found = candidate
  }
  if (found === undefined) return undefined
  // A tool that takes nothing takes any request.
  return found.fit().values + found.fit().given === 0 ? undefined : found.tool
}

/**
 * The first of a shortlist's best candidates that can take what the request says, else the first.
 * `PR 12` means the tool that has a place for the number, although another has the better words.
 */
export function firstFitting(
  { decision }: Pick<Route, 'decision'>,
  candidates: readonly FittingCandidate[],
): string | undefined {
  if (decision !== 'shortlist') return undefined
  const best = candidates.filter(({ share }) => share >= nearEnough.asGood)
  const placing = best.filter((one) => one.fit().hasPlace)
  const reading = placing.find((one) => one.fit().isComplete && one.fit().values > 0)
  return (reading ?? placing[0] ?? best[0])?.tool
}

function fitOf(request: string, tool: string, world: FitWorld): Fit {
  const { steps } = planRequest(request, { ...world, router: { route: () => ({ tool }) } }, tool)
  const read = steps.flatMap(({ trace }) => trace.map(({ text }) => text))
  const pieces = findSlots(request).filter(({ kind }) => kind !== 'identifier')
  return {
    hasPlace:
      steps.length > 0 && pieces.every(({ value }) => read.some((text) => text.includes(value))),
    isComplete: steps.every(({ missing }) => missing.length === 0),
    values: read.length,
    given: steps.flatMap(({ bindings }) => bindings).length,
  }
}

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
