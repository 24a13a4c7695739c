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
  installed: readonly WorkflowTool[],
): GatePlan {
  const { acting, also, notInstalled, keywordOnly } = matchWorkflows(call, workflows, installed)
  const [first, ...others] = acting.map(({ workflow, why }) => ({
    why,
    ...planWorkflow(call, workflow, session, installed),
  }))
  return { ...(first ?? { steps: [], open: 0 }), others, also, notInstalled, keywordOnly }
}

export function planWorkflow(
  call: GatedCall,
  workflow: WorkflowDefinition,
  session: SessionState,
  installed: readonly WorkflowTool[],
): WorkflowPlan {
  const known = planSteps(call, workflow, session, installed, true)
  // A kept value may be out of date; where it leads nowhere the step runs again.
  const isStuck = known.some(({ status }) => status === 'blocked')
  const planned = isStuck ? planSteps(call, workflow, session, installed, false) : known
  const steps = rerunWhatIsNeeded(planned)
  const open = steps.filter(({ status }) => status === 'run' || status === 'waits').length
  return { workflow, steps, open }
}

function planSteps(
  call: GatedCall,
  workflow: WorkflowDefinition,
  session: SessionState,
  installed: readonly WorkflowTool[],
  withKept: boolean,
): PlannedStep[] {
  const results = new Map<number, JsonValue>()
  const completion = (tool: string, scope: ScopeValues): Completion | undefined =>
    findCompletion(session, workflow.name, tool, scope)
  return workflow.prerequisites.map((step) => {
    const planned = planStep(step, { call, workflow, installed, results, completion })
    const value =
      planned.status === 'valid' ? completion(step.tool, planned.scope)?.value : undefined
    if (withKept && value !== undefined) results.set(step.step, value)
    return planned
  })
}

/** A finished step whose needed result was not kept runs again. */
function rerunWhatIsNeeded(steps: readonly PlannedStep[]): PlannedStep[] {
  const needed = new Set(steps.flatMap((step) => (step.status === 'waits' ? step.waitsFor : [])))
  return steps.map((step) =>
    step.status === 'valid' && needed.has(step.step)
      ? { ...step, status: 'run', reason: 'a later step needs its result' }
      : step,
  )
}

export interface PlannedStep extends Pick<
  Prerequisite,
  'step' | 'tool' | 'description' | 'required'
> {
  /**
   * `run`; `waits` for the result of another step; `valid` since it ran in this session;
   * `not-applicable` where the call has no value for it; `not-installed`; `blocked` where a value
   * cannot be had.
   */
  status: 'run' | 'waits' | 'valid' | 'not-applicable' | 'not-installed' | 'blocked'
  id?: string | undefined
  params: JsonObject
  scope: ScopeValues
  waitsFor: readonly number[]
  /** The parameter with a list that takes one value a call. */
  each?: string | undefined
  /** Why it does not simply run. */
  reason?: string | undefined
  at?: string | undefined
}

interface StepContext {
  call: GatedCall
  workflow: WorkflowDefinition
  installed: readonly WorkflowTool[]
  results: ReadonlyMap<number, JsonValue>
  completion: (tool: string, scope: ScopeValues) => Completion | undefined
}

export function planStep(step: Prerequisite, context: StepContext): PlannedStep {
  const { call, workflow, installed, results } = context
  const resolved = resolveTool(step.tool, workflow, installed, call.tool)
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
  const stale = step.invalidatedBy?.find((name) => callsTool(call, name, workflow))
  if (stale !== undefined) {
    return { ...base, status: 'not-applicable', reason: `${stale} would make it stale at once` }
  }
  if (!resolved) {
    return { ...base, status: 'not-installed', reason: `no server here has ${step.tool}` }
  }
  const { tool } = resolved
  const reading = resolveParams(step, { call, steps: workflow.prerequisites, results })
  const params = accepted({ ...reading.params, ...resolved.params }, tool)
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
    const { parameter, reference, asked } = gap
    const reason = asked
      ? `it needs ${parameter}, and ${reference} has no single value`
      : `the call has no ${parameter}`
    // A call without the value is not a failure; a step that had no such value is.
    return { ...base, params, status: asked ? 'blocked' : 'not-applicable', reason }
  }
  const scope = scopeValues(step, params, call, tool.server)
  const completion = context.completion(step.tool, scope)
  const planned = { ...base, params, scope, each }
  return completion ? { ...planned, status: 'valid', at: completion.at } : planned
}

function isRequired({ parameter }: MissingValue, { required }: WorkflowTool) {
  return required?.some((name) => foldParameter(name) === foldParameter(parameter)) ?? false
}

/** Only parameters that the tool has, under the names that it gives them. */
function accepted(params: JsonObject, tool: WorkflowTool): JsonObject {
  return Object.fromEntries(
    Object.entries(params).flatMap(([key, value]) => {
      const name = nameIn(tool, key)
      return name === undefined ? [] : [[name, value] as const]
    }),
  )
}

/** A list is given value by value only to a tool that does not take it whole under another name. */
function takesOne(name: string, params: JsonObject, { parameters = [] }: WorkflowTool) {
  const others = Object.entries(params).filter(([key]) => key !== name)
  return (
    parameters.length > 0 && !others.some(([, value]) => isDeepStrictEqual(value, params[name]))
  )
}

/** The tool's own name for a parameter; undefined where it has none. */
function nameIn({ parameters = [] }: WorkflowTool, key: string) {
  if (parameters.length === 0 || parameters.includes(key)) return key
  const wanted = [key, ...namesInScope(key)].map(foldParameter)
  return parameters.find((name) => wanted.includes(foldParameter(name)))
}

const instanceKey = 'instance'

/** Names under which servers have what a scope key means; the key itself is one anyway. */
const scopeParameters: Readonly<Record<string, readonly string[]>> = {
  page: ['pageId', 'tabId', 'page_index'],
  table: ['table_name'],
  database: ['database_name', 'db'],
}

/**
 * The values that identify a check. Without `scope` all its parameters, and the server's instance
 * where other tools can invalidate it. Always its server; the agent's own tools have an empty one.
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

/** Whether a completion survives: the call names another page or database, or another server. */
export function survives(completion: ScopeValues, step: Prerequisite, call: GatedCall): boolean {
  const { server } = call.tool
  const { server: held = '' } = completion
  if (server !== '' && held !== '' && held !== server) return true
  return keysOf(step).some((key) => {
    const touched = key === instanceKey ? undefined : scopeParameter(call.params, key)
    const held = ownMember(completion, key)
    return touched !== undefined && held !== undefined && !sameValue(touched, held)
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

/** Scopes are kept in a file: a secret is replaced by a digest. */
function recognisable(key: string, value: JsonValue): JsonValue {
  const text = JSON.stringify({ [key]: value })
  if (JSON.stringify(redactValue({ [key]: value })) === text) return value
  return sha256(text).slice(0, 'sha256:'.length + 8)
}

/** `2` and `"2"` are one page. */
function sameValue(a: JsonValue, b: JsonValue) {
  const text = (value: JsonValue) =>
    typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text(a) === text(b)
}
