import { planRequest, type PlanWorld } from '../parameters/plan-request.ts'
import { findSlots } from '../parameters/slots.ts'
import type { Route } from '../route/route.ts'

export type FitWorld = Omit<PlanWorld, 'router'>

/** One of the best candidates of a route, and how it takes what the request says. */
export interface FittingCandidate {
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

/** So many of the best may be meant, however many are shown. */
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
 * for a URL, a path or a number of the request. `navigate to https://x` is no `navigate_back`. That
 * a tool needs something which the request does not say rules it out for nothing: `list open issues`
 * is no `list_pages`.
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
