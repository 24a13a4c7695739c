import type { ToolError } from '../errors.ts'
import { bindParams, type PlannedCall } from '../parameters/plan-request.ts'
import { callTool } from './call-tool.ts'
import { InvalidParametersError, ToolNotFoundError } from './errors.ts'
import { definitionOf, findTool } from './find-tool.ts'
import { outcomeText } from './outcome-value.ts'
import type { CallReport } from './report.ts'
import type { RequestWorld } from './request-world.ts'
import { requireYes } from './safety.ts'

export type PlanOutcome =
  | {
      kind: 'called'
      status: 'success' | 'error'
      calls: { call: PlannedCall; report: CallReport }[]
      /** Whether somebody said yes to the last call. */
      confirmed: boolean
    }
  /** The tool was not the right one; another may be. `error` where it was not even called. */
  | {
      kind: 'wrong'
      why: string
      calls: { call: PlannedCall; report: CallReport }[]
      error?: ToolError | undefined
    }

/** Failures that speak against the choice of the tool, not against the world. */
const wrongChoice: ReadonlySet<string> = new Set([
  'tool-not-found',
  'invalid-parameters',
  'element-missing',
])

/** Calls the steps of a plan in order, each with what the earlier ones gave, until one fails. */
export async function runPlan(
  steps: readonly PlannedCall[],
  request: string,
  world: RequestWorld,
): Promise<PlanOutcome> {
  const { context, onStep } = world
  const calls: { call: PlannedCall; report: CallReport }[] = []
  const texts = new Map<string, string>()
  let confirmed = false
  for (const [index, call] of steps.entries()) {
    const bound = bindParams(call, texts)
    if (!bound.ready) return { kind: 'wrong', why: unboundText(bound), calls }
    const { params } = bound
    const tool = await definitionOf(await findTool(call.tool, context), context)
    confirmed = await requireYes(tool, params, request, world)
    onStep?.({ index, tool: call.tool })
    let report: CallReport
    try {
      report = await callTool({ tool: call.tool, params, requestText: request }, context)
    } catch (error) {
      const isWrong = error instanceof ToolNotFoundError || error instanceof InvalidParametersError
      if (!isWrong) throw error
      return { kind: 'wrong', why: error.message, calls, error }
    }
    calls.push({ call: { ...call, params }, report })
    onStep?.({ index, tool: call.tool, report })
    if (report.status === 'error') {
      const { kind, message } = report.failure
      if (wrongChoice.has(kind)) return { kind: 'wrong', why: message, calls }
      return { kind: 'called', status: 'error', calls, confirmed }
    }
    texts.set(call.name, outcomeText(report.outcome))
  }
  return { kind: 'called', status: 'success', calls, confirmed }
}

function unboundText({
  parameter,
  from,
  candidates,
}: {
  parameter: string
  from: string
  candidates: readonly string[]
}): string {
  const choice = candidates.length === 0 ? '' : `; it has ${candidates.join(', ')}`
  return `${parameter} is not clear from the answer of ${from}${choice}`
}
