import type { JsonObject, ToolDefinition } from '../model.ts'
import type { PlannedCall, PlanTools } from '../parameters/plan-request.ts'
import type { Route } from '../route/router.ts'
import type { CallContext, CallIndex, CallReport } from './context.ts'
import { decideRequest, planTools, type Proposal, proposeTool } from './decide-request.ts'
import { isOnlyJson, readDirective, type ToolStep } from './directive-text.ts'
import { ToolRequestError } from './errors.ts'
import { droppedIn, fillMissing, runPlan, unsaid } from './run-plan.ts'
import {
  definitionOf,
  discoverOnce,
  findTool,
  looseNote,
  passthroughNotFound,
  resolveLoosely,
} from './find-tool.ts'
import { foreseeSteps } from './foresee.ts'
import { parsePassthrough } from './passthrough.ts'
import { requireNamedPaths, requireYes } from './consent.ts'
import {
  type BatchResult,
  type ChainResult,
  checkBatch,
  checkChain,
  runBatch,
  runToolChain,
  type StepListener,
  type StepOptions,
} from './steps.ts'

/**
 * Executes a request in words. What may change something needs a yes; what is unclear is asked for,
 * or returned as `unsure`. Throws {@link ToolRefusedError}, and what {@link understandRequest} and
 * `callTool` throw.
 */
export async function doRequest(request: string, setup: RequestSetup): Promise<RequestAnswer> {
  const meaning = await understandRequest(request, setup)
  switch (meaning.kind) {
    case 'batch':
    case 'chain':
      return await doSteps(meaning.kind, meaning.steps, request, setup)
    case 'named':
      return await doNamed(meaning.proposal, request, setup)
    case 'routed':
      return await doRouted(meaning, request, setup)
    case 'unsure':
      return { ...meaning, tried: [] }
  }
}

async function doSteps(
  kind: 'batch' | 'chain',
  steps: readonly ToolStep[],
  request: string,
  setup: RequestSetup,
): Promise<RequestAnswer> {
  const { context, onStep, toValue } = setup
  await (kind === 'batch' ? checkBatch : checkChain)(steps, context)
  await requireYes(await foreseeSteps(kind, steps, context), request, setup)
  const beforeCall: StepOptions['beforeCall'] = async ({ tool, params }) => {
    const definition = await definitionOf(await findTool(tool, context), context)
    await requireNamedPaths(definition, params, request, setup)
  }
  const options = { onStep, toValue, requestText: request }
  return kind === 'batch'
    ? { kind, results: await runBatch(steps, context, options) }
    : { kind, result: await runToolChain(steps, context, { ...options, beforeCall }) }
}

async function doNamed(
  proposal: Proposal,
  request: string,
  setup: RequestSetup,
): Promise<RequestAnswer> {
  const { steps, open } = await fillMissing(proposal, setup)
  if (open !== undefined) return { ...unsaid(open, setup.context.index), tried: [] }
  const dropped = droppedIn(steps, setup)
  if (dropped !== undefined) return { ...dropped, tried: [] }
  const outcome = await runPlan(steps, request, setup)
  if (outcome.kind === 'called') return { ...outcome, tried: [] }
  if (outcome.error !== undefined) throw outcome.error
  if (outcome.calls.at(-1)?.report.status === 'error') {
    return { kind: 'called', status: 'error', calls: outcome.calls, tried: [] }
  }
  return { kind: 'unsure', reason: outcome.why, tool: proposal.tool, tried: [] }
}

async function doRouted(
  { proposal, route, chosen }: RequestMeaning & { kind: 'routed' },
  request: string,
  setup: RequestSetup,
): Promise<RequestAnswer> {
  const { context } = setup
  const tried: { tool: string; why: string }[] = []
  for (const tool of readings(route, proposal, context.index)) {
    const next = tool === proposal.tool ? proposal : proposeTool(request, tool, toolsOf(setup))
    if (next === undefined || (tool !== proposal.tool && next.unplaced.length > 0)) continue
    const { steps, open } = await fillMissing(next, setup)
    if (open !== undefined) {
      const names = [...new Set(open.missing)]
      tried.push({ tool, why: `it needs ${names.join(', ')}` })
      // A missing value does not make the tool wrong: it is asked for.
      if (tool === proposal.tool) return { ...unsaid(open, setup.context.index), route, tried }
      break
    }
    const dropped = droppedIn(steps, setup)
    if (dropped !== undefined) return { ...dropped, route, tried }
    const outcome = await runPlan(steps, request, setup)
    if (outcome.kind === 'called') {
      const isConfirmed = chosen || outcome.confirmed
      if (outcome.status === 'success' && isConfirmed && steps.length === 1) {
        await setup.learn?.(request, tool)
      }
      return { ...outcome, tried, route }
    }
    tried.push({ tool, why: outcome.why })
    context.note(`${tool} was not the right tool: ${outcome.why}`)
  }
  return { kind: 'unsure', reason: tried[0]?.why ?? '', route, tool: proposal.tool, tried }
}

const nearEnough = 0.5

/**
 * The chosen tool, then at most two others of its server that fit nearly as well. A request of
 * several clauses has one reading, since another tool would do one of them only.
 */
function readings({ candidates }: Route, { tool, parts }: Proposal, index: CallIndex): string[] {
  if (parts > 1) return [tool]
  const serverOf = (id: string): string | undefined => index.definition(id)?.server
  const best = candidates[0]?.score ?? 0
  const near = candidates.filter(
    (one) => one.score >= best * nearEnough && serverOf(one.tool) === serverOf(tool),
  )
  return [...new Set([tool, ...near.map((one) => one.tool)])].slice(0, 3)
}

export type RequestMeaning =
  | { kind: 'batch'; steps: readonly ToolStep[] }
  | { kind: 'chain'; steps: readonly ToolStep[] }
  | { kind: 'named'; proposal: Proposal }
  | { kind: 'routed'; proposal: Proposal; route: Route; chosen: boolean }
  | { kind: 'unsure'; route: Route; reason: string }

/**
 * Reads a request by the decision tree of the seed: `BATCH:` or `CHAIN:`, an id of a tool in the
 * text, else the router and the plan for what it found. Calls no tool; may ask a user which one.
 * Throws {@link ToolRequestError} for broken input or JSON alone, {@link ToolNotFoundError} for an
 * id that no server has.
 */
export async function understandRequest(
  request: string,
  setup: RequestSetup,
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
      return (await readNamed(request, setup)) ?? (await readRouted(request, setup))
  }
}

async function readNamed(
  request: string,
  setup: RequestSetup,
): Promise<RequestMeaning | undefined> {
  const { context } = setup
  let found = parsePassthrough(request, context.index)
  const isKnown =
    found.kind === 'tool' ? hasDefinition(found.tool.id, setup) : found.kind !== 'unknown'
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
      throw passthroughNotFound(found.written, context.index.tools, await context.ranking?.())
    case 'broken': {
      const message = `${found.written} cannot be called: ${found.message}`
      throw new ToolRequestError({ code: 'passthrough-syntax', message })
    }
    case 'tool': {
      const { tool, written, params } = found
      const words = withoutName(request, written)
      const fromWords =
        params === undefined ? proposeTool(words, tool.id, toolsOf(setup)) : undefined
      const plain = plainCall(tool.id, tool.name, params ?? {})
      return {
        kind: 'named',
        proposal: fromWords ?? {
          tool: tool.id,
          steps: [plain],
          missing: [],
          unplaced: [],
          parts: 1,
        },
      }
    }
  }
}

async function readRouted(request: string, setup: RequestSetup): Promise<RequestMeaning> {
  const { context, user } = setup
  let routeOf = await setup.router(context.index)
  let decided = decideRequest(request, routeOf, toolsOf(setup))
  const isKnown = decided.route.candidates.some(({ tool }) => hasDefinition(tool, setup))
  if (!isKnown && (await discoverOnce(context))) {
    routeOf = await setup.router(context.index)
    decided = decideRequest(request, routeOf, toolsOf(setup))
  }
  const { route, proposal: answer } = decided
  if (answer !== undefined) return { kind: 'routed', proposal: answer, route, chosen: false }
  if (route.candidates.length === 0) {
    return { kind: 'unsure', route, reason: 'No tool fits this request.' }
  }
  const chosen = await user?.choose(route.candidates)
  const proposal = chosen === undefined ? undefined : proposeTool(request, chosen, toolsOf(setup))
  if (proposal !== undefined) return { kind: 'routed', proposal, route, chosen: true }
  return { kind: 'unsure', route, reason: 'It is not clear which tool is meant.' }
}

/** The words beside a tool's name, without the verb that only asks for its call. */
function withoutName(request: string, written: string): string {
  const [before = '', ...after] = request.split(written)
  const asked = before.replace(/\b(?:use|call|run|execute|invoke)\b(?:\s+the\s+tool)?\W*$/i, ' ')
  return `${asked} ${after.join(' ')}`
}

function toolsOf({ context, examples }: RequestSetup): PlanTools {
  return planTools(context.index, examples)
}

/** Without the schema, as after a refresh by somebody else, no parameters can be read. */
function hasDefinition(tool: string, { context }: RequestSetup): boolean {
  return context.index.definition(tool) !== undefined
}

function plainCall(tool: string, name: string, params: PlannedCall['params']): PlannedCall {
  const none = { bindings: [], missing: [], unplaced: [], trace: [], after: [] }
  return { name, tool, params, ...none, reason: 'asked for' }
}

export interface ProposedCall {
  tool: ToolDefinition
  params: JsonObject
  bindings: readonly { parameter: string; from: string }[]
  readOnly: boolean
  /** Why a yes in advance is not enough; undefined where it is. */
  unusual?: string | undefined
}

/** What a request in words needs besides a call's context. */
export interface RequestSetup {
  context: CallContext
  /** Routes the request, or a clause of it, over the tools of an index. Asked again after a discovery. */
  router: (index: CallIndex) => Promise<(text: string) => Route>
  yes: boolean
  toAllow?: string | undefined
  /** Asks a user; undefined where no user can be asked. */
  user?:
    | {
        /** Asks once about the whole plan: everything that is called, in order. */
        confirm(plan: readonly ProposedCall[]): Promise<boolean>
        /** The id of the chosen tool; undefined for none of them. */
        choose(candidates: Route['candidates']): Promise<string | undefined>
        /**
         * The text for a missing parameter, empty or undefined for none. `problem` says why an
         * earlier text was refused.
         */
        provide(
          tool: ToolDefinition,
          parameter: string,
          problem: string | undefined,
        ): Promise<string | undefined>
      }
    | undefined
  /** Keeps that a user confirmed this tool for this request. */
  learn?: ((request: string, tool: string) => Promise<void>) | undefined
  examples?: ((tool: string) => readonly string[]) | undefined
  onStep?: StepListener | undefined
  /** Makes the value of an answer in a batch or a chain. */
  toValue?: StepOptions['toValue']
}

export type RequestAnswer =
  | { kind: 'batch'; results: readonly BatchResult[] }
  | { kind: 'chain'; result: ChainResult }
  | {
      kind: 'called'
      calls: readonly { call: PlannedCall; report: CallReport }[]
      status: 'success' | 'error' | 'cancelled'
      cancelled?: readonly string[] | undefined
      /** Candidates that proved wrong before, and why. */
      tried: readonly { tool: string; why: string }[]
      route?: Route | undefined
    }
  | {
      kind: 'unsure'
      reason: string
      route?: Route | undefined
      tool?: string | undefined
      missing?: readonly string[] | undefined
      unplaced?: readonly string[] | undefined
      params?: JsonObject | undefined
      complete?: string | undefined
      tried: readonly { tool: string; why: string }[]
    }
