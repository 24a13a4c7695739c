import type { Route } from '../route/route.ts'
import { checkBatch, runBatch, type StepOptions } from './batch.ts'
import { checkChain, runToolChain } from './chain.ts'
import type { ToolStep } from './directive-text.ts'
import type { CallIndex } from './context.ts'
import { fillMissing, unsaid } from './fill-missing.ts'
import { definitionOf, findTool } from './find-tool.ts'
import { foreseeSteps } from './foresee.ts'
import { type Proposal, proposeTool } from './propose.ts'
import type { RequestAnswer, RequestWorld } from './request-world.ts'
import { runPlan } from './run-plan.ts'
import { requireNamedPaths, requireYes } from './safety.ts'
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
  await (kind === 'batch' ? checkBatch : checkChain)(steps, context)
  await requireYes(await foreseeSteps(kind, steps, context), request, world)
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
  const { steps, open } = await fillMissing(proposal, world)
  if (open !== undefined) return { ...unsaid(open, world.context.index), tried: [] }
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
    const { steps, open } = await fillMissing(next, world)
    if (open !== undefined) {
      const names = [...new Set(open.missing)]
      tried.push({ tool, why: `it needs ${names.join(', ')}` })
      // What is not said makes no tool the wrong one: it is asked for.
      if (tool === proposal.tool) return { ...unsaid(open, world.context.index), route, tried }
      break
    }
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
  return { kind: 'unsure', reason: tried[0]?.why ?? '', route, tool: proposal.tool, tried }
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
