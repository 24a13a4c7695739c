import type { ToolDefinition } from '#tools/model'
import type { JsonObject } from '#core/json'
import { judgeParameters } from '#tools/parameters/judge-parameters'
import {
  type PlannedCall,
  planRequest,
  type PlanTools,
  singleCall,
  unsetOf,
} from '#tools/parameters/plan-request'
import { parametersOf } from '#tools/parameters/parameter'
import type { Route } from '#tools/route/router'
import { offerable } from '#tools/schema/usable-schema'
import type { CallIndex, CallReport } from './context.ts'
import { betterNamed, decideRequest, planTools } from './decide-request.ts'
import { type Directive, isOnlyJson, readDirective } from './directive-text.ts'
import { offeredTools } from './offer-tools.ts'
import { ToolRequestError } from '#tools/errors'
import { fillMissing, openCall, runPlan } from './run-plan.ts'
import { discoverOnce, looseNote, toolNotFound } from './find-tool.ts'
import { parsePassthrough } from './passthrough.ts'
import { type ConsentSetup, reasonToAsk, type UserWhoConfirms } from './consent.ts'
import { makeSteps } from './make-calls.ts'
import type { StepListener, StepOptions, StepsResult } from './steps.ts'

/** Executes a request in words; one that is unclear is `unsure`. Throws as a call does. */
export async function doRequest(request: string, setup: RequestSetup): Promise<RequestAnswer> {
  const meaning = await understandRequest(request, setup)
  switch (meaning.kind) {
    case 'batch':
    case 'chain':
      return await doSteps(meaning, request, setup)
    case 'call':
      return await doCall(meaning, request, setup)
    case 'unsure':
      return openMeaning(meaning, setup.context.index)
  }
}

async function doSteps(
  { kind, steps }: Directive,
  request: string,
  setup: RequestSetup,
): Promise<RequestAnswer> {
  const purpose = { requestText: request, texts: request }
  return { kind: 'steps', result: await makeSteps(kind, steps, purpose, setup, setup) }
}

async function doCall(
  { steps: planned, route, decidedBy }: RequestMeaning & { kind: 'call' },
  request: string,
  setup: RequestSetup,
): Promise<RequestAnswer> {
  const { index } = setup.context
  const { steps, open } = await fillMissing(planned, setup)
  const answer = open ? openCall(open, index) : await runPlan(steps, request, setup)
  const about = { route, decidedBy }
  return answer.kind === 'called'
    ? { ...answer, ...about }
    : { ...answer, ...about, candidates: candidatesOf(route, index) }
}

/** The tools that may be meant, with the parameters that each one requires. */
function candidatesOf(route: Route | undefined, index: CallIndex): readonly RequestCandidate[] {
  return (route?.candidates ?? []).map((one) => {
    const { inputSchema = {} } = index.definition(one.tool) ?? {}
    const required = parametersOf(inputSchema).filter((parameter) => parameter.required)
    return { ...one, needs: required.map(({ name }) => name) }
  })
}

export type RequestCandidate = Route['candidates'][number] & { needs: readonly string[] }

/** The question about an unclear request, with what was understood for the tool that fits best. */
export function openMeaning(
  { route, reason, steps, decidedBy }: RequestMeaning & { kind: 'unsure' },
  index: CallIndex,
) {
  const open = steps.at(-1)
  const asked = open && openCall(open, index, reason)
  const candidates = candidatesOf(route, index)
  return { kind: 'unsure' as const, reason, ...asked, route, decidedBy, candidates }
}

export type RequestMeaning =
  | Directive
  /** No route where the request names the tool. */
  | { kind: 'call'; steps: readonly PlannedCall[]; route?: Route; decidedBy: string }
  | {
      kind: 'unsure'
      steps: readonly PlannedCall[]
      route: Route
      reason: string
      decidedBy: string
    }

/**
 * Reads a request by the decision tree of the seed: a directive, an id, else the router. Calls no
 * tool. Throws {@link ToolRequestError} and {@link ToolNotFoundError}.
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
  return (
    readDirective(request) ??
    (await readNamed(request, setup)) ??
    (await readRouted(request, setup))
  )
}

async function readNamed(
  request: string,
  setup: RequestSetup,
): Promise<RequestMeaning | undefined> {
  const { context } = setup
  let found = parsePassthrough(request, context.index)
  const isKnown =
    found.kind === 'tool'
      ? hasDefinition(found.tool.id, setup) && !found.isLoose
      : found.kind === 'none' && context.index.tools.length > 0
  if (!isKnown && (await discoverOnce(context))) {
    found = parsePassthrough(request, context.index)
  }
  switch (found.kind) {
    case 'none':
      return undefined
    case 'unknown':
      throw toolNotFound(found.written, context.index.tools, {
        head: `Tool '${found.written}' not found`,
        advice: 'verify the tool name',
      })
    case 'tool': {
      const { tool, written, isLoose, params } = found
      if (isLoose) context.note(looseNote(written, tool))
      const words = withoutName(request, written)
      const steps = params ? [] : [...planFor(words, tool.id, setup)]
      if (steps.length === 0) steps.push(singleCall(tool, { params: params ?? {} }))
      return { kind: 'call', steps, decidedBy: 'name' }
    }
  }
}

async function readRouted(request: string, setup: RequestSetup): Promise<RequestMeaning> {
  const { context, user, model } = setup
  const decide = async () =>
    decideRequest(request, await setup.router(context.index), toolsOf(setup))
  let decided = await decide()
  const isKnown = decided.route.candidates.some(({ tool }) => hasDefinition(tool, setup))
  if (!isKnown && (await discoverOnce(context))) decided = await decide()
  const { route, steps } = decided
  const words = { route, decidedBy: 'words' }
  if (model && context.index.tools.length > 0) {
    return await readByModel(request, route, setup, model)
  }
  if (route.candidates.length === 0) {
    return { kind: 'unsure', ...words, steps, reason: 'No tool fits this request.' }
  }
  if (steps.length > 0) return { kind: 'call', ...words, steps }
  const chosen = planFor(request, await user?.choose(route.candidates), setup)
  if (chosen.length > 0) return { kind: 'call', steps: chosen, route, decidedBy: 'user' }
  const understood = planFor(request, route.tool, setup)
  return { kind: 'unsure', ...words, reason: doubtOf(route, understood), steps: understood }
}

/** What is not clear: with a single candidate only the values that the request does not say. */
function doubtOf({ candidates }: Route, steps: readonly PlannedCall[]): string {
  const [step] = steps
  const isOnly = candidates.length === 1 && steps.length === 1
  if (!isOnly || !step || step.missing.length === 0) return 'It is not clear which tool is meant.'
  return `${step.tool} needs values that the request does not name: ${step.missing.join(', ')}.`
}

export interface ToolModel {
  name: string
  /** One call; undefined where the model chose none. Rejects where it cannot be asked. */
  choose(
    request: string,
    tools: readonly ToolDefinition[],
    signal: AbortSignal,
  ): Promise<{ tool: string; params: JsonObject } | undefined>
}

/** The call that a model chooses, judged by what the request says. */
async function readByModel(
  request: string,
  route: Route,
  setup: RequestSetup,
  model: ToolModel,
): Promise<RequestMeaning> {
  const { context } = setup
  const { index, signal, schemas, note } = context
  const decidedBy = `model ${model.name}`
  const tools = offeredTools(request, index)
  const offered = await offerable(tools, schemas)
  for (const warning of offered.warnings) note(`${warning}.`)
  const choice = await model.choose(request, offered.tools, signal)
  const tool = tools.find(({ id }) => id === choice?.tool)
  if (!choice || !tool) {
    const reason = `The model ${model.name} chose none of these tools.`
    return { kind: 'unsure', route, reason, decidedBy, steps: [] }
  }
  const mayChange = reasonToAsk(tool, context) !== undefined
  const judged = judgeParameters(request, tool, choice.params, { mayChange })
  const unset = mayChange ? unsetOf(tool, judged.params, toolsOf(setup)) : []
  const rival = mayChange ? betterNamed(request, tool, judged.params, toolsOf(setup)) : undefined
  const doubts = rival
    ? [...judged.doubts, `${rival} takes the same values, and its name fits the request better.`]
    : judged.doubts
  const decided: Route = { ...route, decision: 'answer', tool: tool.id }
  return {
    kind: 'call',
    steps: [singleCall(tool, { ...judged, unset, doubts })],
    route: decided,
    decidedBy,
  }
}

/** The words beside a tool's name, without the verb that only asks for its call. */
function withoutName(request: string, written: string): string {
  const [before = '', ...after] = request.split(written)
  const asked = before.replace(/\b(?:use|call|run|execute|invoke)\b(?:\s+the\s+tool)?\W*$/i, ' ')
  return `${asked} ${after.join(' ')}`
}

function planFor(request: string, tool: string | undefined, setup: RequestSetup) {
  return planRequest([{ text: request, tool }], toolsOf(setup))
}

function toolsOf({ context }: RequestSetup): PlanTools {
  return planTools(context.index)
}

/** Without the schema, as after a refresh by somebody else, no parameters can be read. */
function hasDefinition(tool: string, { context }: RequestSetup): boolean {
  return context.index.definition(tool) !== undefined
}

/** The user behind a request in words. */
export interface RequestUser extends UserWhoConfirms {
  choose(candidates: Route['candidates']): Promise<string | undefined>
  /** The text for a missing parameter. `problem` says why an earlier one was refused. */
  provide(
    tool: ToolDefinition,
    parameter: string,
    problem: string | undefined,
  ): Promise<string | undefined>
}

export interface RequestSetup extends ConsentSetup {
  /** Routes the request, or a clause of it, over the tools of an index. Asked again after a discovery. */
  router: (index: CallIndex) => Promise<(text: string) => Route>
  user?: RequestUser | undefined
  model?: ToolModel | undefined
  onStep?: StepListener | undefined
  toValue?: StepOptions['toValue']
}

export type RequestAnswer =
  | { kind: 'steps'; result: StepsResult }
  | {
      kind: 'called'
      calls: readonly { call: PlannedCall; report: CallReport }[]
      status: 'success' | 'error' | 'cancelled'
      cancelled?: readonly string[] | undefined
      /** Who chose the tool: `name`, `words`, `user` or `model NAME`. */
      decidedBy: string
      route?: Route | undefined
    }
  | ({
      kind: 'unsure'
      reason: string
      decidedBy: string
      route?: Route | undefined
      candidates: readonly RequestCandidate[]
      complete?: string | undefined
    } & Partial<Pick<PlannedCall, 'tool' | 'missing' | 'unplaced' | 'unset' | 'params'>>)
