import { compareText } from '../../core/diagnostic.ts'
import type { Category } from '../category/category.ts'
import type { ToolSummary } from '../model.ts'
import { decide } from './decide.ts'
import { explainRoute } from './explain.ts'
import { prepareNames } from './named-tools.ts'
import { prepareRanking, type Question } from './ranking.ts'
import { readWords } from './read-words.ts'
import { type DefinitionOf, type RoutedTools, routedTools } from './routed-tool.ts'
import type { Candidate, Route, RouteExample, RouteExplanation } from './route.ts'

export interface RouterOptions {
  /** Their names and keywords are a prior; no tool is left out for its category. */
  categories?: readonly Pick<Category, 'name' | 'keywords'>[] | undefined
  /** What was learned in the project, besides the examples that the tools carry. */
  examples?: readonly RouteExample[] | undefined
  /** Why servers cannot be reached, by name. Their tools stay candidates and say so. */
  unavailable?: ReadonlyMap<string, string> | undefined
  /** Finds a tool's input schema: what a request holds is then weighed by what a tool takes. */
  definition?: DefinitionOf | undefined
}

export interface RouteOptions {
  /** Most candidates; default 5. */
  limit?: number | undefined
  /** Likeness of meaning by the tool's id, -1 to 1, where an embedding is configured. */
  meaning?: ReadonlyMap<string, number> | undefined
}

export interface Router {
  /** The tool that a request means. Pure: the same request gives the same route. Never throws. */
  route(request: string, options?: RouteOptions): Route
  /** The same route with everything that led to it. */
  explain(request: string, options?: RouteOptions): RouteExplanation
}

/**
 * Makes tools ready for routing. Their order does not matter; of several with one id the first is
 * kept. No model, no network, no disk.
 *
 * @example
 * prepareRouter(index.tools, index).route('take a screenshot of the login page').tool
 */
export function prepareRouter(tools: readonly ToolSummary[], options: RouterOptions = {}): Router {
  return routerOf(routedTools(inOneOrder(tools), options.definition), options)
}

/** In code-point order of their ids; of several with one id the first. */
export function inOneOrder(tools: readonly ToolSummary[]): ToolSummary[] {
  const byId = new Map<string, ToolSummary>()
  for (const tool of tools) if (!byId.has(tool.id)) byId.set(tool.id, tool)
  return [...byId.values()].toSorted((a, b) => compareText(a.id, b.id))
}

/** A router of tools that are ready, in code-point order of their ids, each id once. */
export function routerOf(routed: RoutedTools, options: RouterOptions = {}): Router {
  const sorted = routed.tools
  const ranking = prepareRanking(routed, options)
  const namesIn = prepareNames(sorted)

  const ask = (
    request: string,
    meaning: RouteOptions['meaning'],
  ): Question & { ids: readonly string[] } => {
    const ids = namesIn(request)
    const named = ids.flatMap((id) => ranking.positions.get(id) ?? [])
    return { request: readWords(request), ids, named, meaning }
  }

  const route = (request: string, { limit = 5, meaning }: RouteOptions = {}): Route => {
    const question = ask(request, meaning)
    const scores = ranking.score(question)
    const best = leading(scores, Math.max(2, limit))
    const [first, second] = best
    const at = (position: number | undefined): number =>
      position === undefined ? 0 : (scores[position] ?? 0) / ranking.unit
    const decision = decide({
      first: at(first),
      second: at(second),
      named: question.named.length,
      hasExamples: first !== undefined && ranking.hasExamples(first),
    })
    const tool = first === undefined ? undefined : sorted[first]
    return {
      decision,
      category: tool?.category,
      tool: decision === 'ask' ? undefined : tool?.id,
      margin: at(first) <= 0 ? 0 : rounded((at(first) - at(second)) / at(first)),
      candidates: best.slice(0, limit).flatMap((position) => candidate(position, at(position))),
      intent: question.request.intent,
      slots: question.request.slots,
      named: question.ids,
    }
  }

  const candidate = (position: number, score: number): Candidate[] => {
    const tool = sorted[position]
    if (tool === undefined) return []
    const unavailable = options.unavailable?.get(tool.server)
    return [
      {
        tool: tool.id,
        score: rounded(score),
        ...(unavailable === undefined ? {} : { unavailable }),
      },
    ]
  }

  return {
    route,
    explain: (request, routeOptions) =>
      explainRoute(route(request, routeOptions), ask(request, routeOptions?.meaning), ranking),
  }
}

/** Positions of the highest scores above 0, highest first; equal ones in order of position. */
function leading(scores: Float64Array, count: number): number[] {
  const best: number[] = []
  scores.forEach((score, position) => {
    if (score <= 0) return
    let at = best.length
    while (at > 0 && score > (scores[best[at - 1] ?? 0] ?? 0)) at -= 1
    if (at >= count) return
    best.splice(at, 0, position)
    if (best.length > count) best.pop()
  })
  return best
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
