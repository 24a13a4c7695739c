import { planRequest, type PlanWorld } from '../parameters/plan-request.ts'
import { findSlots } from '../parameters/slots.ts'
import type { Route } from '../route/route.ts'

type FitWorld = Omit<PlanWorld, 'router'>
type Shortlist = Pick<Route, 'decision' | 'candidates'>

/** From which part of the best score on a candidate is another reading, and one that is as good. */
const nearEnough = { other: 0.5, asGood: 0.85 }

/**
 * The one candidate of a shortlist that can take what the request says: those near it have no place
 * for a URL, a path or a number of the request. `navigate to https://x` is no `navigate_back`. That
 * a tool needs something which the request does not say rules it out for nothing: `list open issues`
 * is no `list_pages`. Pure.
 */
export function onlyFitting(
  request: string,
  shortlist: Shortlist,
  world: FitWorld,
): string | undefined {
  const near = candidatesFrom(shortlist, nearEnough.other)
  const fits = near.map((tool) => ({ tool, ...fitOf(request, tool, world) }))
  const [found, ...others] = fits.filter(({ hasPlace, isComplete }) => hasPlace && isComplete)
  if (found === undefined || others.length > 0) return undefined
  // A tool that takes nothing takes any request.
  if (found.values + found.given === 0) return undefined
  const isNear = candidatesFrom(shortlist, nearEnough.asGood).includes(found.tool)
  return isNear ? found.tool : undefined
}

/**
 * The first of a shortlist's best candidates that can take what the request says, else the first.
 * `PR 12` means the tool that has a place for the number, although another has the better words.
 */
export function firstFitting(
  request: string,
  shortlist: Shortlist,
  world: FitWorld,
): string | undefined {
  const best = candidatesFrom(shortlist, nearEnough.asGood)
  const fits = best.map((tool) => ({ tool, ...fitOf(request, tool, world) }))
  const reads = fits.find((one) => one.hasPlace && one.isComplete && one.values > 0)
  return (reads ?? fits.find((one) => one.hasPlace))?.tool ?? best[0]
}

function candidatesFrom({ decision, candidates }: Shortlist, share: number): string[] {
  if (decision !== 'shortlist') return []
  const best = candidates[0]?.score ?? 0
  return candidates.flatMap(({ tool, score }) => (score >= best * share ? [tool] : []))
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
