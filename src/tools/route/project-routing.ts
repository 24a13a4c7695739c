import type { JsonObject } from '#core/json'
import { holdOf, type ToolHold, type ToolIndex } from '#tools/cache/tool-index'
import {
  decideRequest,
  maxConsidered,
  planTools,
  type RequestDecision,
} from '#tools/call/decide-request'
import type { ToolSummary } from '#tools/model'
import { planRequest, type PlanTools } from '#tools/parameters/plan-request'
import { projectRouter, type Route, type RouteExplanation, type Router } from './router.ts'

/** What the words of a request lead to, with the parameters that they give. */
export interface RoutedRequest extends Omit<Route, 'category'> {
  category: string | null
  params?: JsonObject | undefined
  missing?: readonly string[] | undefined
  unplaced?: readonly string[] | undefined
  /** Candidates that wait until a user accepts their change. */
  heldBack: readonly string[] | undefined
  /** Candidates that the user's configuration or settings forbid. */
  denied: readonly string[] | undefined
  explanation: Pick<RouteExplanation, 'words' | 'candidates'> | undefined
}

export function routeIn(
  { router, tools, hold, isDenied }: RequestRouting,
  request: string,
  limit: number,
  explain = false,
): RoutedRequest {
  // The number of shown candidates decides nothing.
  const most = { limit: Math.max(limit, maxConsidered) }
  const routeOf = (text: string): Route => router.route(text, text === request ? most : {})
  const decided = decideRequest(request, routeOf, tools)
  const { category, candidates: all, ...route } = decided.route
  const candidates = all.slice(0, limit)
  const heldBack = candidates.flatMap((one) => (hold(one.tool) ? [one.tool] : []))
  const denied = candidates.flatMap((one) => (isDenied(one.tool) ? [one.tool] : []))
  const explained = explain ? router.explain(request, { limit }) : undefined
  return {
    ...route,
    category: category ?? null,
    candidates,
    ...mappingOf(request, decided, tools),
    heldBack: heldBack.length === 0 ? undefined : heldBack,
    denied: denied.length === 0 ? undefined : denied,
    explanation: explained && { words: explained.words, candidates: explained.candidates },
  }
}

function mappingOf(request: string, { route: { tool }, steps }: RequestDecision, tools: PlanTools) {
  const meant = steps.length > 0 ? steps : planRequest([{ text: request, tool }], tools)
  const last = meant.at(-1)
  if (!last) return {}
  const given = last.bindings.map(({ parameter }) => parameter)
  const unplaced = meant.flatMap((step) => step.unplaced)
  return {
    params: last.params,
    missing: [...given, ...last.missing],
    unplaced: unplaced.length === 0 ? undefined : unplaced,
  }
}

/** The router of a project, and what it needs to know of its tools for one request. */
export interface RequestRouting {
  router: Router
  tools: PlanTools
  hold: (id: string) => ToolHold | undefined
  isDenied: (id: string) => boolean
}

export function routingOf(
  index: ToolIndex,
  isDenied: (tool: ToolSummary) => boolean,
): RequestRouting {
  return {
    router: projectRouter(index),
    tools: planTools(index),
    hold: (id: string) => holdOf(id, index),
    isDenied(id: string) {
      const tool = index.tool(id)
      return tool !== undefined && isDenied(tool)
    },
  }
}

export function requestRouter(index: ToolIndex): (text: string) => Route {
  return projectRouter(index).route
}
