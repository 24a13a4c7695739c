import type { JsonValue } from '../skill/index.ts'
import { type MissingValue, resolveParams } from './resolve-params.ts'
import { scopeValues } from './scope.ts'
import type { Completion } from './session-state.ts'
import { callsTool, foldParameter, resolveTool } from './tool-names.ts'
import type {
  GatedCall,
  JsonObject,
  Prerequisite,
  ScopeValues,
  WorkflowDefinition,
  WorkflowTool,
} from './model.ts'

/**
 * What happens to a prerequisite:
 * `run`; `waits` for the result of another step first; `valid` since it ran in this session;
 * `not-applicable` where the call has nothing that it could look at; `not-installed`; `blocked`
 * where a value that it needs cannot be had.
 */
export type StepStatus = 'run' | 'waits' | 'valid' | 'not-applicable' | 'not-installed' | 'blocked'

export interface PlannedStep {
  step: number
  /** As the workflow names it. */
  tool: string
  description: string
  required: boolean
  status: StepStatus
  /** The installed tool that is called. */
  id?: string | undefined
  params: JsonObject
  scope: ScopeValues
  /** Steps whose results it needs. */
  waitsFor: readonly number[]
  /** Why it does not simply run. */
  reason?: string | undefined
  /** When it ran, for `valid`. */
  at?: string | undefined
}

export interface StepContext {
  call: GatedCall
  workflow: WorkflowDefinition
  installed: readonly WorkflowTool[]
  /** Results of the steps that ran. */
  results: ReadonlyMap<number, JsonValue>
  completion: (tool: string, scope: ScopeValues) => Completion | undefined
}

export function planStep(step: Prerequisite, context: StepContext): PlannedStep {
  const { call, workflow, installed, results } = context
  const { category } = workflow.triggers
  const resolved = resolveTool(step.tool, category, installed, call.tool)
  const base: PlannedStep = {
    step: step.step,
    tool: step.tool,
    description: step.description,
    required: step.required,
    status: 'run',
    id: resolved?.tool.id,
    params: {},
    scope: {},
    waitsFor: [],
  }
  const stale = step.invalidatedBy?.find((name) => callsTool(call, name, category))
  if (stale !== undefined) {
    return { ...base, status: 'not-applicable', reason: `${stale} would make it stale at once` }
  }
  if (resolved === undefined) {
    return { ...base, status: 'not-installed', reason: `no server here has ${step.tool}` }
  }
  const { tool } = resolved
  const reading = resolveParams(step, { call, steps: workflow.prerequisites, results })
  const params = accepted({ ...reading.params, ...resolved.params }, tool)
  const gaps = [...reading.missing, ...reading.leftOut.filter((gap) => isRequired(gap, tool))]
  const waitsFor = [...new Set(gaps.flatMap((gap) => gap.waitsFor))].toSorted((a, b) => a - b)
  if (waitsFor.length > 0) {
    const reason = `its parameters come from step ${waitsFor.join(' and ')}`
    return { ...base, params, status: 'waits', waitsFor, reason }
  }
  const [gap] = gaps
  if (gap !== undefined) return { ...base, params, ...withoutValue(gap) }
  const scope = scopeValues(step, params, call, tool.server)
  const completion = context.completion(step.tool, scope)
  if (completion === undefined) return { ...base, params, scope }
  return { ...base, params, scope, status: 'valid', at: completion.at }
}

/** Nothing to look at is no failure; a step that was asked for a value and had none is. */
function withoutValue({
  parameter,
  reference,
  asked,
}: MissingValue): Pick<PlannedStep, 'status' | 'reason'> {
  if (!asked) return { status: 'not-applicable', reason: `the call has no ${parameter}` }
  return {
    status: 'blocked',
    reason: `it needs ${parameter}, and ${reference} has no single value`,
  }
}

function isRequired({ parameter }: MissingValue, { required }: WorkflowTool): boolean {
  return required?.some((name) => foldParameter(name) === foldParameter(parameter)) ?? false
}

/** Only parameters that the tool has, under the names that it gives them. */
function accepted(params: JsonObject, { parameters }: WorkflowTool): JsonObject {
  if (parameters === undefined) return params
  const byFold = new Map(parameters.map((name) => [foldParameter(name), name]))
  return Object.fromEntries(
    Object.entries(params).flatMap(([key, value]) => {
      const name = parameters.includes(key) ? key : byFold.get(foldParameter(key))
      return name === undefined ? [] : [[name, value] as const]
    }),
  )
}
