import { dirname, join } from 'node:path'
import { withFileLock } from '#core/file-lock'
import { type Diagnostic, StateFileError } from '#core/errors'
import { untilAborted } from '#core/runtime'
import { deepestJson, hexDigest, isList, tooDeepAt, type JsonValue } from '#core/json'
import type { CallInTurn, StepAnswer, StepCaller } from '#tools/call/context'
import { ToolError } from '#tools/errors'
import {
  callsTool,
  matchWorkflows,
  multipleLine,
  notInstalledLine,
  ownStep,
  resolveTool,
} from './match.ts'
import type {
  GatedCall,
  JsonObject,
  ScopeValues,
  WorkflowDefinition,
  WorkflowTool,
} from './model.ts'
import { type PlannedStep, planStep, planWorkflow, scopeValues, survives } from './plan.ts'
import { isReferred } from './references.ts'
import { type Completion, findCompletion, type SessionState } from './session-file.ts'
import type { SessionChange, SessionStore } from './session.ts'
import { amount } from '#core/text'

export interface GateOptions {
  workflows: readonly WorkflowDefinition[]
  tools: readonly WorkflowTool[]
  session: SessionStore
  callStep: StepCaller
  /**
   * Throws where a workflow may make no calls; called before anything of it is announced or asked.
   */
  permit?: ((workflow: WorkflowDefinition) => void) | undefined
  ask?: ((warning: string) => Promise<'run' | 'skip'>) | undefined
  /** Leaves out the steps of `warn` workflows; never those of `enforce`. Default false. */
  skipPrerequisites?: boolean | undefined
  note: (line: string) => void
  signal?: AbortSignal | undefined
}

/**
 * Runs what a workflow demands before a call, and returns; or throws, and then the call must not be
 * made. What finished is recorded in the session at once, also when a later step fails. Throws
 * {@link ToolError} when a required prerequisite failed, {@link StateFileError} for
 * a session file that cannot be written.
 */
export async function runGate(call: GatedCall, options: GateOptions): Promise<void> {
  const { note, session } = options
  const { state, diagnostics } = await session.read()
  const { acting, also, notInstalled } = matchWorkflows(call, options.workflows, options.tools)
  for (const missing of notInstalled) note(notInstalledLine(missing))
  const used = acting.map(({ workflow }) => workflow.name)
  if (also.length > 0) note(multipleLine(used, also))
  const callStep = calledOnce(options.callStep)
  for (const { workflow } of acting) {
    const { steps } = planWorkflow(call, workflow, state, options.tools)
    await pass(call, workflow, steps.filter(isOpen), diagnostics, { ...options, callStep })
  }
}

/** Two workflows that want one call get its answer. */
function calledOnce(callStep: StepCaller): StepCaller {
  const answers = new Map<string, ReturnType<StepCaller>>()
  return (id, params, signal) => {
    const key = JSON.stringify([id, params])
    const answer = answers.get(key) ?? callStep(id, params, signal)
    answers.set(key, answer)
    return answer
  }
}

async function pass(
  call: GatedCall,
  workflow: WorkflowDefinition,
  open: readonly PlannedStep[],
  diagnostics: readonly Diagnostic[],
  options: GateOptions,
) {
  const { note, permit, session, skipPrerequisites = false } = options
  const { name, mode } = workflow
  if (open.length === 0) return
  if (mode === 'suggest') {
    note(`Workflow '${name}' suggests to run first\n${stepLines(open)}`)
    return
  }
  if (mode === 'enforce' || !skipPrerequisites) {
    permit?.(workflow)
    requireWritable(diagnostics)
  }
  if (mode === 'warn' && (await isSkipped(open, workflow, options))) return
  if (mode === 'enforce' && skipPrerequisites)
    note(`Workflow '${name}' is enforced; its prerequisites cannot be skipped.`)
  // Parallel calls would each run the same steps. Questions are not serialized.
  const turn = JSON.stringify([session.path, name])
  await inTurn(turn, options.signal, async () => {
    const { state: now } = await session.read()
    const again = planWorkflow(call, workflow, now, options.tools)
    if (again.open === 0) return
    note(`Workflow '${name}' triggered. Running ${amount(again.open, 'prerequisite')}...`)
    await runSteps(call, workflow, again.steps, now, options)
  })
}

/** A step that cannot be recorded would run before every call, so none is made. */
function requireWritable(diagnostics: readonly Diagnostic[]): void {
  const problem = diagnostics.find(
    ({ code, severity }) => severity === 'error' && code !== 'session-corrupt',
  )
  if (problem) throw new StateFileError(problem)
}

async function isSkipped(
  open: readonly PlannedStep[],
  workflow: WorkflowDefinition,
  { ask, note, skipPrerequisites }: GateOptions,
) {
  const missing = `Workflow '${workflow.name}' warns: these prerequisites are missing`
  const warning = `${missing}\n${stepLines(open)}`
  if (skipPrerequisites !== true && ask) return (await ask(warning)) === 'skip'
  note(warning)
  return skipPrerequisites === true
}

function stepLines(steps: readonly PlannedStep[]) {
  return steps.map(({ step, tool, description }) => `  ${step}. ${tool}: ${description}`).join('\n')
}

async function runSteps(
  call: GatedCall,
  workflow: WorkflowDefinition,
  planned: readonly PlannedStep[],
  state: SessionState,
  options: GateOptions,
) {
  const results = new Map<number, JsonValue>()
  const again = new Set(planned.filter(({ status }) => status === 'run').map(({ step }) => step))
  for (const prerequisite of workflow.prerequisites) {
    const completion = (tool: string, scope: ScopeValues): Completion | undefined =>
      again.has(prerequisite.step) ? undefined : findCompletion(state, workflow.name, tool, scope)
    const installed = options.tools
    const step = planStep(prerequisite, { call, workflow, installed, results, completion })
    const kept = step.status === 'valid' ? completion(step.tool, step.scope)?.value : undefined
    if (kept !== undefined) results.set(step.step, kept)
    await runStep(step, workflow, results, options)
  }
}

async function runStep(
  step: PlannedStep,
  workflow: WorkflowDefinition,
  results: Map<number, JsonValue>,
  options: GateOptions,
) {
  const { callStep, note, session, signal } = options
  const { step: number, tool: name, scope } = step
  const tool = options.tools.find(({ id }) => id === step.id)
  if (step.status === 'valid') return
  if (step.status !== 'run' || !tool) {
    const isBlocked = step.status === 'blocked' || step.status === 'waits'
    if (isBlocked && step.required) throw failure(workflow, step, step.reason ?? 'it cannot run')
    note(`- Step ${number}: ${name} left out: ${step.reason ?? ''}`)
    return
  }
  signal?.throwIfAborted()
  const result = await callEach(step, (params) => callStep(tool.id, params, signal))
  // A prerequisite may invalidate other steps.
  await afterCall({ tool, params: step.params }, session, options.workflows)
  if (result.ok) {
    const value = jsonIn(result.value)
    results.set(number, value)
    const record = { workflow: workflow.name, tool: name, scope, result: result.text }
    const kept = isReferred(number, workflow.prerequisites) ? value : undefined
    await session.change([{ kind: 'record', ...record, value: kept }])
    note(`✓ Step ${number}: ${name} completed`)
    return
  }
  signal?.throwIfAborted()
  if (step.required) throw failure(workflow, step, result.error, result.suggestion)
  note(`- Step ${number}: ${name} left out: ${result.error}`)
}

/** One call, or one for each value of a list, up to the first that fails. */
async function callEach(
  { params, each }: PlannedStep,
  call: (params: JsonObject) => Promise<StepAnswer>,
): Promise<StepAnswer> {
  const list = each === undefined ? undefined : params[each]
  if (each === undefined || !isList(list)) return await call(params)
  const texts: string[] = []
  const values: JsonValue[] = []
  for (const value of list) {
    const result = await call({ ...params, [each]: value })
    if (!result.ok) return result
    texts.push(result.text)
    values.push(jsonIn(result.value))
  }
  return { ok: true, text: texts.join('\n'), value: values }
}

function failure(
  workflow: WorkflowDefinition,
  { step, tool }: PlannedStep,
  reason: string,
  suggestion?: string,
): ToolError {
  return new ToolError({
    code: 'workflow-prerequisite-failed',
    message: `Workflow '${workflow.name}' failed at step ${step} (${tool}): ${reason}`,
    hint: suggestion === undefined ? undefined : `Suggestion: ${suggestion}`,
  })
}

function isOpen({ status }: PlannedStep) {
  return status === 'run' || status === 'waits' || status === 'blocked'
}

/** Many servers answer with JSON as text. */
export function jsonIn(value: JsonValue): JsonValue {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  return answerJson(value) ?? value
}

/**
 * Records a call: steps that its tool invalidates no longer hold, whether it succeeded or not; a
 * prerequisite that it is itself holds now, where `result` is the text of its success. Later steps
 * can refer to its `value`.
 */
export async function afterCall(
  call: GatedCall,
  session: SessionStore,
  workflows: readonly WorkflowDefinition[],
  result?: string,
  value?: JsonValue,
): Promise<void> {
  const changes = workflows.flatMap((workflow) => changesFor(call, workflow, result, value))
  if (changes.length === 0) return
  await session.change(changes)
  const stale = changes.filter(({ kind }) => kind === 'invalidate')
  if (stale.length > 0 && call.tool.server !== '') await session.changeOthers(stale)
}

function changesFor(
  call: GatedCall,
  workflow: WorkflowDefinition,
  result: string | undefined,
  value: JsonValue | undefined,
): SessionChange[] {
  const { name, prerequisites } = workflow
  const stale = prerequisites.filter((step) =>
    step.invalidatedBy?.some((tool) => callsTool(call, tool, workflow)),
  )
  const own = workflow.enabled ? ownStep(call, workflow) : undefined
  const changes = stale.map((step): SessionChange => ({
    kind: 'invalidate',
    workflow: name,
    tool: step.tool,
    holds: (scope) => survives(scope, step, call),
  }))
  if (!own || result === undefined) return changes
  const scope = scopeValues(own, call.params, call, call.tool.server)
  const kept = isReferred(own.step, prerequisites) ? value : undefined
  const { tool } = own
  return [...changes, { kind: 'record', workflow: name, tool, scope, result, value: kept }]
}

/** Makes calls at one instance of a stateful server one after the other, in all processes. */
export async function inTurnWhereStateful<T>(
  call: CallInTurn,
  work: () => Promise<T>,
  { session, workflows, tools }: Pick<GateOptions, 'session' | 'workflows' | 'tools'>,
): Promise<T> {
  if (!isStateful(call.server, workflows, tools)) return await work()
  const path = join(dirname(session.path), `instance-${hexDigest(call.instance, 16)}`)
  return await inTurn(path, call.signal, () => withFileLock(path, work, { waitMs: longestTurnMs }))
}

/** Whether workflows hold for what a server is in now, such as the page of a browser. */
function isStateful(
  server: string,
  workflows: readonly WorkflowDefinition[],
  installed: readonly WorkflowTool[],
) {
  return workflows.some(
    (workflow) =>
      workflow.enabled &&
      workflow.prerequisites
        .filter(({ invalidatedBy = [] }) => invalidatedBy.length > 0)
        .some(
          ({ tool }) => resolveTool(tool, workflow, installed, undefined)?.tool.server === server,
        ),
  )
}

const longestTurnMs = 600_000

/** The end of the queue for each key. */
const lines = new Map<string, Promise<void>>()

/** Serializes work by key, within this process. Giving up a wait leaves the queue intact. */
async function inTurn<T>(key: string, signal: AbortSignal | undefined, work: () => Promise<T>) {
  const before = lines.get(key)
  let leave = (): void => undefined
  const left = new Promise<void>((resolve) => (leave = resolve))
  const line = before ? before.then(() => left) : left
  lines.set(key, line)
  try {
    if (before) await (signal ? untilAborted(before, signal) : before)
    return await work()
  } finally {
    leave()
    void line.then(() => {
      if (lines.get(key) === line) lines.delete(key)
    })
  }
}

export function answerJson(text: string): JsonValue | undefined {
  if (isDeepJson(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether a text that is JSON would have more levels than are read. */
export function isDeepJson(text: string): boolean {
  return /^\s*[[{]/.test(text) && tooDeepAt(text) !== undefined
}

/** Whether a value has more levels than are read. */
export function isDeepValue(value: unknown, levels: number = deepestJson): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  const members: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
  return members.some((member) => isDeepValue(member, levels - 1))
}
