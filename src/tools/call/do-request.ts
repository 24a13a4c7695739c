import { coerceText } from '../parameters/coerce.ts'
import { parametersOf } from '../parameters/parameter.ts'
import type { PlannedCall } from '../parameters/plan-request.ts'
import type { Route } from '../route/route.ts'
import { checkBatch, runBatch, type StepOptions } from './batch.ts'
import { checkChain, runToolChain } from './chain.ts'
import type { ToolStep } from './directive-text.ts'
import type { CallIndex } from './context.ts'
import { definitionOf, findTool } from './find-tool.ts'
import { type Proposal, proposeTool } from './propose.ts'
import type { RequestAnswer, RequestWorld } from './request-world.ts'
import { runPlan } from './run-plan.ts'
import { requireNamedPaths, requireSomebody, requireYes } from './safety.ts'
import { type RequestMeaning, understandRequest } from './understand-request.ts'

/**
 * Carries a request in words out. What may change something needs a yes; what is not sure is asked
 * for, or given back as `unsure`.
 *
 * @throws {ToolRefusedError}, and what {@link understandRequest} and `callTool` throw
 */
export async function doRequest(request: string, world: RequestWorld): Promise<RequestAnswer> {
  const meaning = await understandRequest(request, world)
  switch (meaning.kind) {
    case 'batch':
    case 'chain':
      return await doSteps(meaning.kind, meaning.steps, request, world)
    case 'named':
      return await doNamed(meaning.proposal, request, world)
    case 'routed':
      return await doRouted(meaning, request, world)
    case 'unsure':
      return { ...meaning, tried: [] }
  }
}

async function doSteps(
  kind: 'batch' | 'chain',
  steps: readonly ToolStep[],
  request: string,
  world: RequestWorld,
): Promise<RequestAnswer> {
  const { context, onStep, toValue } = world
  const ids = await (kind === 'batch' ? checkBatch : checkChain)(steps, context)
  const calls: { tool: string; params: ToolStep['params'] }[] = ids.map((tool, index) => ({
    tool,
    params: steps[index]?.params ?? {},
  }))
  await requireSomebodyFor(calls, world)
  for (const { tool, params } of calls) {
    const definition = await definitionOf(await findTool(tool, context), context)
    await requireYes(definition, params, request, world)
  }
  const beforeCall: StepOptions['beforeCall'] = async ({ tool, params }) => {
    const definition = await definitionOf(await findTool(tool, context), context)
    await requireNamedPaths(definition, params, request, world)
  }
  const options = { onStep, toValue, requestText: request }
  return kind === 'batch'
    ? { kind, results: await runBatch(steps, context, options) }
    : { kind, result: await runToolChain(steps, context, { ...options, beforeCall }) }
}

async function doNamed(
  proposal: Proposal,
  request: string,
  world: RequestWorld,
): Promise<RequestAnswer> {
  const steps = (await fillMissing(proposal, world)) ?? proposal.steps
  await requireSomebodyFor(steps, world)
  const outcome = await runPlan(steps, request, world)
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
  world: RequestWorld,
): Promise<RequestAnswer> {
  const { context } = world
  const tried: { tool: string; why: string }[] = []
  for (const tool of readings(route, proposal, context.index)) {
    const next = tool === proposal.tool ? proposal : proposeTool(request, tool, context.index)
    if (next === undefined) continue
    const steps = await fillMissing(next, world)
    if (steps === undefined) {
      tried.push({ tool, why: `it needs ${[...new Set(next.missing)].join(', ')}` })
      // What is not said makes no tool the wrong one: it is asked for.
      break
    }
    await requireSomebodyFor(steps, world)
    const outcome = await runPlan(steps, request, world)
    if (outcome.kind === 'called') {
      const isConfirmed = chosen || outcome.confirmed
      if (outcome.status === 'success' && isConfirmed && steps.length === 1) {
        await world.learn?.(request, tool)
      }
      return { ...outcome, tried, route }
    }
    tried.push({ tool, why: outcome.why })
    context.note(`${tool} was not the right tool: ${outcome.why}`)
  }
  const missing = [...new Set(proposal.missing)]
  const reason =
    missing.length > 0 ? `The request does not say ${missing.join(', ')}.` : (tried[0]?.why ?? '')
  return { kind: 'unsure', reason, route, tool: proposal.tool, missing, tried }
}

/** A candidate counts as another reading of the request from this part of the best score on. */
const nearEnough = 0.5

/**
 * The chosen tool, then at most two others of its server that fit nearly as well. A request of
 * several parts has one reading: another tool would do one part of it and pass for the whole.
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

/** The steps with what a person gave for the missing parameters; undefined where some stay missing. */
async function fillMissing(
  { steps, missing }: Proposal,
  world: RequestWorld,
): Promise<readonly PlannedCall[] | undefined> {
  if (missing.length === 0) return steps
  const filled: PlannedCall[] = []
  for (const step of steps) {
    const params = { ...step.params }
    for (const name of step.missing) {
      const value = await provided(step.tool, name, world)
      if (value === undefined) return undefined
      params[name] = value
    }
    filled.push({ ...step, params, missing: [] })
  }
  return filled
}

async function provided(
  tool: string,
  name: string,
  { context, person }: RequestWorld,
): Promise<PlannedCall['params'][string] | undefined> {
  const definition = context.index.definition(tool)
  if (definition === undefined) return undefined
  const parameter = parametersOf(definition.inputSchema).find((one) => one.name === name)
  const text = await person?.provide(definition, name)
  return parameter === undefined || text === undefined ? undefined : coerceText(text, parameter)
}

/** Refuses before the first call what nobody could say yes to when its turn comes. */
async function requireSomebodyFor(
  steps: readonly Pick<PlannedCall, 'tool' | 'params'>[],
  world: RequestWorld,
): Promise<void> {
  const { context } = world
  const calls = await Promise.all(
    steps.map(async ({ tool, params }) => ({
      tool: await definitionOf(await findTool(tool, context), context),
      params,
    })),
  )
  requireSomebody(calls, world)
}
