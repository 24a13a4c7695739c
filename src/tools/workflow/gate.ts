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
import type { GatedCall, JsonObject, WorkflowDefinition, WorkflowTool } from './model.ts'
import {
  completionsIn,
  type FindCompletion,
  type PlannedStep,
  planStep,
  planWorkflow,
  scopeValues,
  survives,
} from './plan.ts'
import { isReferred } from './references.ts'
import type { SessionState } from './session-file.ts'
import type { SessionChange, SessionStore } from './session.ts'
import { amount } from '#core/text'

export interface GateOptions {
  workflows: readonly WorkflowDefinition[]
  tools: readonly WorkflowTool[]
  session: SessionStore
  callStep: StepCaller
  /**
   * Throws if a workflow is not allowed to make calls; called before any of its steps is announced or asked
   * for.
   */
  permit?: ((workflow: WorkflowDefinition) => void) | undefined
  ask?: ((warning: string) => Promise<'run' | 'skip'>) | undefined
  /** Leaves out the steps of `warn` workflows; never those of `enforce`. Default false. */
  skipPrerequisites?: boolean | undefined
  note: (line: string) => void
  signal?: AbortSignal | undefined
}

/**
 * Makes the calls that workflows require before a call. If it throws, the call must not be made. Completed
 * steps are recorded in the session at once, even if a later step fails. Throws {@link ToolError} if a
 * required prerequisite failed, {@link StateFileError} if a session file cannot be written.
 */
export async function runGate(call: GatedCall, options: GateOptions): Promise<void> {
  const { note, session } = options
  const { state, diagnostics } = await session.read()
  const { acting, also, notInstalled } = matchWorkflows(call, options.workflows, options.tools)
  for (const missing of notInstalled) note(notInstalledLine(missing))
  const usedNames = acting.map(({ workflow }) => workflow.name)
  if (also.length > 0) note(multipleLine(usedNames, also))
  const callStep = callOnce(options.callStep)
  for (const { workflow } of acting) {
    const { steps } = planWorkflow(call, workflow, state, options.tools)
    await pass(call, workflow, steps.filter(isOpen), diagnostics, { ...options, callStep })
  }
}

/** Lets workflows that need the same call share its answer. */
function callOnce(callStep: StepCaller): StepCaller {
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

/** Throws if steps cannot be recorded, because they would then run before every call. */
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
  plannedSteps: readonly PlannedStep[],
  state: SessionState,
  options: GateOptions,
) {
  const results = new Map<number, JsonValue>()
  const again = new Set(
    plannedSteps.filter(({ status }) => status === 'run').map(({ step }) => step),
  )
  for (const prerequisite of workflow.prerequisites) {
    const heldCompletion = completionsIn(state, workflow)
    const completion: FindCompletion = (plannedStep) =>
      again.has(prerequisite.step) ? undefined : heldCompletion(plannedStep)
    const installedTools = options.tools
    const step = planStep(prerequisite, { call, workflow, installedTools, results, completion })
    const storedValue = step.status === 'valid' ? completion(step)?.value : undefined
    if (storedValue !== undefined) results.set(step.step, storedValue)
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
    const storedValue = isReferred(number, workflow.prerequisites) ? value : undefined
    await session.change([{ kind: 'record', ...record, value: storedValue }])
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

/** Whether a step still has to run. */
export function isOpen({ status }: PlannedStep): boolean {
  return status === 'run' || status === 'waits' || status === 'blocked'
}

/** Parses JSON text, which many servers answer with. */
export function jsonIn(value: JsonValue): JsonValue {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  return answerJson(value) ?? value
}

/**
 * Records a call. The steps that its tool invalidates no longer count, whether it succeeded or not. If the
 * call is itself a prerequisite, and `result` is the text of its success, it counts as completed. Later
 * steps can refer to its `value`.
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
  const prerequisite = workflow.enabled ? ownStep(call, workflow) : undefined
  const changes = stale.map((step): SessionChange => ({
    kind: 'invalidate',
    workflow: name,
    tool: step.tool,
    holds: (scope) => survives(scope, step, call),
  }))
  if (!prerequisite || result === undefined) return changes
  const scope = scopeValues(prerequisite, call.params, call, call.tool.server)
  const storedValue = isReferred(prerequisite.step, prerequisites) ? value : undefined
  const { tool } = prerequisite
  return [...changes, { kind: 'record', workflow: name, tool, scope, result, value: storedValue }]
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

/** Whether workflows depend on the current state of a server, for example the page of a browser. */
function isStateful(
  server: string,
  workflows: readonly WorkflowDefinition[],
  installedTools: readonly WorkflowTool[],
) {
  return workflows.some(
    (workflow) =>
      workflow.enabled &&
      workflow.prerequisites
        .filter(({ invalidatedBy = [] }) => invalidatedBy.length > 0)
        .some(
          ({ tool }) =>
            resolveTool(tool, workflow, installedTools, undefined)?.tool.server === server,
        ),
  )
}

const longestTurnMs = 600_000

/** The end of the queue for each key. */
const lines = new Map<string, Promise<void>>()

/** Serializes work by key, within this process. A caller that stops waiting leaves the queue intact. */
async function inTurn<T>(key: string, signal: AbortSignal | undefined, work: () => Promise<T>) {
  const predecessor = lines.get(key)
  let leave = (): void => undefined
  const ownTurn = new Promise<void>((resolve) => (leave = resolve))
  const line = predecessor ? predecessor.then(() => ownTurn) : ownTurn
  lines.set(key, line)
  try {
    if (predecessor) await (signal ? untilAborted(predecessor, signal) : predecessor)
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

/** Whether JSON text has more levels than are read. */
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
