import type { PlannedCall } from '../parameters/plan-request.ts'
import type { Route } from '../route/route.ts'
import { readDirective, type ToolStep } from './directive-text.ts'
import { ToolRequestError } from './errors.ts'
import { discoverOnce, looseNote } from './find-tool.ts'
import { isOnlyJson } from './json-in-text.ts'
import { parsePassthrough } from './passthrough.ts'
import { decideRequest } from './decide-request.ts'
import { planParts, type Proposal, proposeTool } from './propose.ts'
import type { RequestWorld } from './request-world.ts'
import { resolveLoosely } from './resolve-tool.ts'
import { passthroughNotFound } from './suggest-tools.ts'

/** What a request in words asks for. */
export type RequestMeaning =
  | { kind: 'batch'; steps: readonly ToolStep[] }
  | { kind: 'chain'; steps: readonly ToolStep[] }
  /** The text names the tool. */
  | { kind: 'named'; proposal: Proposal }
  | { kind: 'routed'; proposal: Proposal; route: Route; chosen: boolean }
  | { kind: 'unsure'; route: Route; reason: string }

/**
 * Reads a request by the decision tree of the seed: `BATCH:` or `CHAIN:`, an id of a tool in the
 * text, else the router and the plan for what it found. Calls no tool; may ask a person which one.
 *
 * @throws {ToolRequestError} for what is broken or JSON alone, {@link ToolNotFoundError} for an id alone that no
 * server has
 */
export async function understandRequest(
  request: string,
  world: RequestWorld,
): Promise<RequestMeaning> {
  if (isOnlyJson(request)) {
    throw new ToolRequestError({
      code: 'request-json',
      message: 'The request is JSON alone, and says in no word of its own what is to be done.',
      hint: "To call one tool: skillrail tools call TOOL '{…}'. To call several: BATCH: […] or CHAIN: […].",
    })
  }
  const directive = readDirective(request)
  switch (directive.kind) {
    case 'broken': {
      const code = `${directive.directive}-syntax`
      throw new ToolRequestError({ code, message: directive.message })
    }
    case 'batch':
    case 'chain':
      return directive
    case 'none':
      return (await readNamed(request, world)) ?? (await readRouted(request, world))
  }
}

/** No routing; parameters in JSON after the id, else from the words. */
async function readNamed(
  request: string,
  world: RequestWorld,
): Promise<RequestMeaning | undefined> {
  const { context } = world
  let found = parsePassthrough(request, context.index)
  const isKnown =
    found.kind === 'tool' ? hasDefinition(found.tool.id, world) : found.kind !== 'unknown'
  if (!isKnown && (await discoverOnce(context))) {
    found = parsePassthrough(request, context.index)
  }
  if (found.kind === 'none' || found.kind === 'unknown') {
    const loose = parsePassthrough(request, context.index, resolveLoosely)
    if (loose.kind === 'tool') context.note(looseNote(loose.written, loose.tool))
    if (loose.kind !== 'none') found = loose
  }
  switch (found.kind) {
    case 'none':
      return undefined
    case 'unknown':
      throw passthroughNotFound(found.written, context.index.tools, context.rank)
    case 'broken': {
      const message = `${found.written} cannot be called: ${found.message}`
      throw new ToolRequestError({ code: 'passthrough-syntax', message })
    }
    case 'tool': {
      const { tool, written, params } = found
      const words = request.replace(written, ' ')
      const fromWords =
        params === undefined ? proposeTool(words, tool.id, context.index) : undefined
      const plain = plainCall(tool.id, tool.name, params ?? {})
      return {
        kind: 'named',
        proposal: fromWords ?? { tool: tool.id, steps: [plain], missing: [], parts: 1 },
      }
    }
  }
}

async function readRouted(request: string, world: RequestWorld): Promise<RequestMeaning> {
  const { context, person } = world
  let routeOf = await world.router(context.index)
  let decided = decideRequest(request, routeOf, planParts(context.index))
  const isKnown = decided.route.candidates.some(({ tool }) => hasDefinition(tool, world))
  if (!isKnown && (await discoverOnce(context))) {
    routeOf = await world.router(context.index)
    decided = decideRequest(request, routeOf, planParts(context.index))
  }
  const { route, proposal: answer } = decided
  if (answer !== undefined) return { kind: 'routed', proposal: answer, route, chosen: false }
  if (route.candidates.length === 0) {
    return { kind: 'unsure', route, reason: 'No tool fits this request.' }
  }
  const chosen = await person?.choose(route.candidates)
  const proposal = chosen === undefined ? undefined : proposeTool(request, chosen, context.index)
  if (proposal !== undefined) return { kind: 'routed', proposal, route, chosen: true }
  return { kind: 'unsure', route, reason: 'It is not clear which tool is meant.' }
}

/** Without the schema, as after a refresh by somebody else, no parameters can be read. */
function hasDefinition(tool: string, { context }: RequestWorld): boolean {
  return context.index.definition(tool) !== undefined
}

function plainCall(tool: string, name: string, params: PlannedCall['params']): PlannedCall {
  const none = { bindings: [], missing: [], trace: [], after: [] }
  return { name, tool, params, ...none, reason: 'asked for' }
}
