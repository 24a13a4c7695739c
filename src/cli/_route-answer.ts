import { type Diagnostic, safeLine } from '../base/index.ts'
import {
  decideRequest,
  mapParameters,
  mostConsidered,
  type PlannedCall,
  type ProjectRouting,
  readRouting,
  type RequestDecision,
  type Route,
  type RouteExplanation,
  type RouteOptions,
  type Router,
} from '../tools/index.ts'
import { explanationTable } from './_route-explanation.ts'
import { toolProject } from '../tools/commands/project-tools.ts'
import type { CommandContext } from './command.ts'

/** A request with its route, and with what the tool would be called with. */
export interface RouteAnswer {
  request: string
  route: Route
  /** Undefined where the tool's schema is not known. */
  mapping: Pick<PlannedCall, 'params' | 'missing'> | undefined
  router: Router
  options: RouteOptions
  /** Candidates that changed and were not accepted since: a call of them is refused. */
  heldBack: readonly string[]
  diagnostics: readonly Diagnostic[]
}

/** Routes a request in the project, with what was learned there and what is configured. */
export async function routeAnswer(
  request: string,
  limit: number,
  context: CommandContext,
): Promise<RouteAnswer> {
  return routeIn(await routing(request, context), request, limit)
}

/** The same with routing that was prepared already. */
export function routeIn(
  { router, tools, definition, held, meaning, diagnostics }: Routing,
  request: string,
  limit: number,
): RouteAnswer {
  const options = { limit, meaning }
  // How many are shown decides nothing.
  const most = { limit: Math.max(limit, mostConsidered), meaning }
  const routeOf = (text: string): Route => router.route(text, text === request ? most : {})
  const decided = decideRequest(request, routeOf, { tools, definition })
  const route = { ...decided.route, candidates: decided.route.candidates.slice(0, limit) }
  const mapping = mappingOf(request, decided, definition)
  const heldBack = route.candidates.flatMap(({ tool }) => (held.has(tool) ? [tool] : []))
  return { request, route, mapping, router, options, heldBack, diagnostics }
}

/** What the words give the tool; what another call would give it counts as missing. */
function mappingOf(
  request: string,
  { route: { tool }, proposal }: RequestDecision,
  definition: Routing['definition'],
): RouteAnswer['mapping'] {
  const last = proposal?.steps.at(-1)
  if (last !== undefined && proposal !== undefined && proposal.parts > 1) {
    const given = last.bindings.map(({ parameter }) => parameter)
    return { params: last.params, missing: [...given, ...last.missing] }
  }
  const defined = tool === undefined ? undefined : definition(tool)
  return defined === undefined ? undefined : mapParameters(request, defined)
}

export type Routing = Pick<
  ProjectRouting,
  'router' | 'tools' | 'definition' | 'held' | 'diagnostics'
> &
  Pick<RouteOptions, 'meaning'>

/** As it was prepared; what else may be needed is loaded only where it is. */
async function routing(request: string, context: CommandContext): Promise<Routing> {
  const { runtime, settings, options, output } = context
  const place = { project: toolProject(context), runtime }
  const isPlain = settings.tools.embeddings === 'off'
  const kept = isPlain ? readRouting(place) : undefined
  if (kept === undefined) {
    const { routingFromIndex } = await import('./_routing-from-index.ts')
    return await routingFromIndex(request, context)
  }
  if (kept.message !== undefined) output.note(kept.message)
  if (!options.json) output.diagnostics(kept.diagnostics)
  return kept
}

export function explanationOf({ router, request, options }: RouteAnswer): RouteExplanation {
  return router.explain(request, options)
}

/** The stable shape of `tools route --json`; additions only. */
export interface RouteJson extends Omit<Route, 'category'> {
  category: string | null
  params?: PlannedCall['params'] | undefined
  missing?: readonly string[] | undefined
  heldBack?: readonly string[] | undefined
  explanation?: Pick<RouteExplanation, 'words' | 'candidates'> | undefined
  diagnostics: readonly Diagnostic[]
}

export function routeJson(
  answer: RouteAnswer,
  explanation: RouteExplanation | undefined,
): RouteJson {
  const { route, mapping, heldBack, diagnostics } = answer
  const { decision, category, tool, margin, candidates, intent, slots, named } = route
  return {
    decision,
    category: category ?? null,
    tool,
    params: mapping?.params,
    missing: mapping?.missing,
    margin,
    candidates,
    heldBack: heldBack.length === 0 ? undefined : heldBack,
    intent,
    slots,
    named,
    explanation:
      explanation === undefined
        ? undefined
        : { words: explanation.words, candidates: explanation.candidates },
    diagnostics,
  }
}

/** The seed's routing trace, what it rests on, and the other candidates. */
export function printRoute(
  answer: RouteAnswer,
  explanation: RouteExplanation | undefined,
  context: CommandContext,
): void {
  const { output } = context
  const { route, mapping } = answer
  const { decision, category, tool, margin, candidates, intent } = route
  output.line(`intent: ${safeLine(JSON.stringify(intent))}`)
  output.line(`category: ${safeLine(category ?? '-')}`)
  output.line(`tool: ${output.style('bold', safeLine(tool ?? '-'))}`)
  if (mapping !== undefined) {
    output.line(`params: ${safeLine(JSON.stringify(mapping.params))}`)
    if (mapping.missing.length > 0) output.line(`missing: ${safeLine(mapping.missing.join(', '))}`)
  }
  output.line(`decision: ${decision}, margin ${margin.toFixed(2)}`)
  if (candidates.length > 0) {
    output.line('candidates:')
    output.table(candidates.map(({ tool, score }) => [`  ${safeLine(tool)}`, score.toFixed(2)]))
  }
  if (explanation !== undefined) explanationTable(explanation, output)
  for (const line of remarks(answer)) output.note(line)
}

function remarks({ route: { decision, candidates }, heldBack }: RouteAnswer): string[] {
  const [first] = candidates
  const lines = heldBack.map(
    (id) =>
      `${id} changed since it was accepted and is not called. Look at it with \`skillrail tools show ${id}\`, then run \`skillrail tools refresh --accept\`.`,
  )
  if (first?.unavailable !== undefined) {
    lines.push(`The server of ${first.tool} is configured but failing: ${first.unavailable}`)
  }
  if (decision === 'shortlist') {
    lines.push('More than one tool may be meant. Say it with the name of one, or in other words.')
  }
  if (decision === 'ask') {
    lines.push('No tool fits well enough. Say it in other words; `skillrail tools list` shows all.')
  }
  return lines
}
