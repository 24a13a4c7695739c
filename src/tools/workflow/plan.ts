import { isDeepStrictEqual } from 'node:util'
import { redactValue } from '#core/redact'
import { ownMember, sha256, type JsonValue } from '#core/json'
import {
  callsTool,
  foldParameter,
  type MatchReason,
  matchWorkflows,
  type NotInstalled,
  resolveTool,
} from './match.ts'
import type {
  GatedCall,
  JsonObject,
  Prerequisite,
  ScopeValues,
  WorkflowDefinition,
  WorkflowTool,
} from './model.ts'
import { callParameter, type MissingValue, resolveParams } from './references.ts'
import { type Completion, findCompletion, type SessionState } from './session-file.ts'

export interface WorkflowPlan {
  workflow?: WorkflowDefinition | undefined
  why?: MatchReason | undefined
  steps: readonly PlannedStep[]
  open: number
}

/** The plan of the first workflow that acts, and of those that act after it. */
export interface GatePlan extends WorkflowPlan {
  others: readonly WorkflowPlan[]
  also: readonly string[]
  notInstalled: readonly NotInstalled[]
  keywordOnly: readonly { workflow: string; keyword: string }[]
}

export function planGate(
  call: GatedCall,
  workflows: readonly WorkflowDefinition[],
  session: SessionState,
  installedTools: readonly WorkflowTool[],
): GatePlan {
  const { acting, also, notInstalled, keywordOnly } = matchWorkflows(
    call,
    workflows,
    installedTools,
  )
  const [first, ...others] = acting.map(({ workflow, why }) => ({
    why,
    ...planWorkflow(call, workflow, session, installedTools),
  }))
  return { ...(first ?? { steps: [], open: 0 }), others, also, notInstalled, keywordOnly }
}

/** Returns the completion that counts for a step as it is planned. */
export type FindCompletion = (step: PlannedStep) => Completion | undefined

/** The completions of exactly the planned scope. */
export function completionsIn(
  session: SessionState,
  workflow: Pick<WorkflowDefinition, 'name'>,
): FindCompletion {
  return ({ tool, scope }) => findCompletion(session, workflow.name, tool, scope)
}

/** @param completion default: {@link completionsIn} the session */
export function planWorkflow(
  call: GatedCall,
  workflow: WorkflowDefinition,
  session: SessionState,
  installedTools: readonly WorkflowTool[],
  completion = completionsIn(session, workflow),
): WorkflowPlan {
  const firstPlan = planSteps(call, workflow, installedTools, completion, true)
  // A stored value can be out of date. If a step is blocked because of it, the stored values do not count.
  const isStuck = firstPlan.some(({ status }) => status === 'blocked')
  const plannedSteps = isStuck
    ? planSteps(call, workflow, installedTools, completion, false)
    : firstPlan
  const steps = rerunNeededSteps(plannedSteps)
  const open = steps.filter(({ status }) => status === 'run' || status === 'waits').length
  return { workflow, steps, open }
}

function planSteps(
  call: GatedCall,
  workflow: WorkflowDefinition,
  installedTools: readonly WorkflowTool[],
  completion: FindCompletion,
  withStoredValues: boolean,
): PlannedStep[] {
  const results = new Map<number, JsonValue>()
  return workflow.prerequisites.map((step) => {
    const plannedStep = planStep(step, { call, workflow, installedTools, results, completion })
    const value = plannedStep.status === 'valid' ? completion(plannedStep)?.value : undefined
    if (withStoredValues && value !== undefined) results.set(step.step, value)
    return plannedStep
  })
}

/** Runs a completed step again if its result is needed and was not stored. */
function rerunNeededSteps(steps: readonly PlannedStep[]): PlannedStep[] {
  const neededSteps = new Set(
    steps.flatMap((step) => (step.status === 'waits' ? step.waitsFor : [])),
  )
  return steps.map((step) =>
    step.status === 'valid' && neededSteps.has(step.step)
      ? { ...step, status: 'run', reason: 'a later step needs its result' }
      : step,
  )
}

export interface PlannedStep extends Pick<
  Prerequisite,
  'step' | 'tool' | 'description' | 'required'
> {
  /**
   * `run`; `waits` for the result of another step; `valid`: it ran in this session; `not-applicable`: the
   * call has no value for it; `not-installed`; `blocked`: a value cannot be obtained.
   */
  status: 'run' | 'waits' | 'valid' | 'not-applicable' | 'not-installed' | 'blocked'
  id?: string | undefined
  params: JsonObject
  scope: ScopeValues
  waitsFor: readonly number[]
  /** The parameter with a list, of which each call takes one value. */
  each?: string | undefined
  /** Why it does not simply run. */
  reason?: string | undefined
  at?: string | undefined
}

interface StepContext {
  call: GatedCall
  workflow: WorkflowDefinition
  installedTools: readonly WorkflowTool[]
  results: ReadonlyMap<number, JsonValue>
  completion: FindCompletion
}

export function planStep(step: Prerequisite, context: StepContext): PlannedStep {
  const { call, workflow, installedTools, results } = context
  const resolution = resolveTool(step.tool, workflow, installedTools, call.tool)
  const base: PlannedStep = {
    step: step.step,
    tool: step.tool,
    description: step.description,
    required: step.required,
    status: 'run',
    id: resolution?.tool.id,
    params: {},
    scope: {},
    waitsFor: [],
  }
  const stale = step.invalidatedBy?.find((name) => callsTool(call, name, workflow))
  if (stale !== undefined) {
    return { ...base, status: 'not-applicable', reason: `${stale} would make it stale at once` }
  }
  if (!resolution) {
    return { ...base, status: 'not-installed', reason: `no server here has ${step.tool}` }
  }
  const { tool } = resolution
  const reading = resolveParams(step, { call, steps: workflow.prerequisites, results })
  const params = parametersFor({ ...reading.params, ...resolution.params }, tool)
  const single = (reading.each ?? []).flatMap((name) => nameIn(tool, name) ?? [])
  const each = single.find((name) => takesOne(name, params, tool))
  for (const name of single) if (name !== each) delete params[name]
  const missing = reading.missing.filter((gap) => nameIn(tool, gap.parameter) !== undefined)
  const gaps = [...missing, ...reading.leftOut.filter((gap) => isRequired(gap, tool))]
  const waitsFor = [...new Set(gaps.flatMap((gap) => gap.waitsFor))].toSorted((a, b) => a - b)
  if (waitsFor.length > 0) {
    const reason = `its parameters come from step ${waitsFor.join(' and ')}`
    return { ...base, params, status: 'waits', waitsFor, reason }
  }
  const [gap] = gaps
  if (gap) {
    const { parameter, reference, isFromStep } = gap
    const reason = isFromStep
      ? `it needs ${parameter}, and ${reference} has no single value`
      : `the call has no ${parameter}`
    // A call without the value is not a failure; a step without the expected value is one.
    return { ...base, params, status: isFromStep ? 'blocked' : 'not-applicable', reason }
  }
  const scope = scopeValues(step, params, call, tool.server)
  const plannedStep = { ...base, params, scope, each }
  const completion = context.completion(plannedStep)
  return completion ? { ...plannedStep, status: 'valid', at: completion.at } : plannedStep
}

function isRequired({ parameter }: MissingValue, { required }: WorkflowTool) {
  return required?.some((name) => foldParameter(name) === foldParameter(parameter)) ?? false
}

/** Returns the parameters that the tool has, under the tool's own names. */
function parametersFor(params: JsonObject, tool: WorkflowTool): JsonObject {
  return Object.fromEntries(
    Object.entries(params).flatMap(([key, value]) => {
      const name = nameIn(tool, key)
      return name === undefined ? [] : [[name, value] as const]
    }),
  )
}

/** A list is passed value by value only to a tool that does not take the whole list under another name. */
function takesOne(name: string, params: JsonObject, { parameters = [] }: WorkflowTool) {
  const otherParams = Object.entries(params).filter(([key]) => key !== name)
  return (
    parameters.length > 0 &&
    !otherParams.some(([, value]) => isDeepStrictEqual(value, params[name]))
  )
}

/** Returns the tool's own name for a parameter; undefined if it has none. */
function nameIn({ parameters = [] }: WorkflowTool, key: string) {
  if (parameters.length === 0 || parameters.includes(key)) return key
  const foldedNames = [key, ...namesInScope(key)].map(foldParameter)
  return parameters.find((name) => foldedNames.includes(foldParameter(name)))
}

const instanceKey = 'instance'

/** Parameter names that servers use for a scope key, besides the key itself. */
const scopeParameters: Readonly<Record<string, readonly string[]>> = {
  page: ['pageId', 'tabId', 'page_index'],
  table: ['table_name'],
  database: ['database_name', 'db'],
}

/**
 * Returns the values that identify a check: the parameters in `scope`; without it, all parameters, and the
 * server's instance if other tools can invalidate the check. The server is always included, and is empty
 * for the agent's own tools.
 */
export function scopeValues(
  step: Prerequisite,
  params: JsonObject,
  call: Pick<GatedCall, 'params' | 'instance'>,
  server: string,
): ScopeValues {
  const values: ScopeValues = { server }
  const instance = server === '' ? undefined : call.instance
  for (const key of keysOf(step)) {
    const value =
      key === instanceKey
        ? instance
        : (scopeParameter(params, key) ?? scopeParameter(call.params, key))
    if (value !== undefined) values[key] = value
  }
  return values
}

/** Whether a completion stays valid, because the call names another page, database or server. */
export function survives(completion: ScopeValues, step: Prerequisite, call: GatedCall): boolean {
  const { server } = call.tool
  const { server: completedServer = '' } = completion
  if (server !== '' && completedServer !== '' && completedServer !== server) return true
  return keysOf(step).some((key) => {
    const callValue = key === instanceKey ? undefined : scopeParameter(call.params, key)
    const completedValue = ownMember(completion, key)
    return (
      callValue !== undefined &&
      completedValue !== undefined &&
      !sameValue(callValue, completedValue)
    )
  })
}

function keysOf(step: Prerequisite): readonly string[] {
  if (step.scope) return step.scope
  const params = Object.keys(step.params ?? {})
  return step.invalidatedBy ? [...params, instanceKey] : params
}

function scopeParameter(params: JsonObject, key: string): JsonValue | undefined {
  for (const name of [key, ...namesInScope(key)]) {
    const value = callParameter(params, name)
    if (value !== undefined) return recognisable(key, value)
  }
  return undefined
}

function namesInScope(key: string): readonly string[] {
  return ownMember(scopeParameters, key) ?? []
}

/** Scopes are stored in a file, so a secret is replaced by a digest. */
function recognisable(key: string, value: JsonValue): JsonValue {
  const text = JSON.stringify({ [key]: value })
  if (JSON.stringify(redactValue({ [key]: value })) === text) return value
  return sha256(text).slice(0, 'sha256:'.length + 8)
}

/** Compares values so that `2` and `"2"` are one page. */
export function sameValue(a: JsonValue, b: JsonValue): boolean {
  const text = (value: JsonValue) =>
    typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text(a) === text(b)
}
