import { deepestJson, tooDeepAt } from '../../core/json.ts'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { type Runtime, untilAborted } from '../../core/runtime.ts'
import { StateFileError } from '../../core/errors.ts'
import type { JsonValue } from '../../skill/model.ts'
import { WorkflowPrerequisiteError } from './errors.ts'
import { callsTool, ownStep } from './match.ts'
import type {
  GatedCall,
  JsonObject,
  ScopeValues,
  WorkflowDefinition,
  WorkflowMode,
  WorkflowTool,
} from './model.ts'
import {
  type GatePlan,
  planGate,
  type PlannedStep,
  planStep,
  scopeValues,
  survives,
} from './plan.ts'
import { isReferred } from './references.ts'
import { type Completion, findCompletion, type SessionState } from './session-file.ts'
import type { SessionChange, SessionStore } from './session.ts'
import {
  completedLine,
  leftOutLine,
  multipleLine,
  notInstalledLine,
  suggestionText,
  triggeredLine,
  warningText,
} from './messages.ts'

export type PrerequisiteResult =
  | { ok: true; text: string; value: JsonValue }
  | { ok: false; error: string; suggestion?: string | undefined }

export type PrerequisiteCaller = (
  tool: WorkflowTool,
  params: JsonObject,
  options: { signal?: AbortSignal | undefined },
) => Promise<PrerequisiteResult>

export interface GateOptions {
  workflows: readonly WorkflowDefinition[]
  tools: readonly WorkflowTool[]
  session: SessionStore
  caller: PrerequisiteCaller
  /**
   * Throws where a workflow may make no calls; called before anything of it is announced or asked.
   */
  permit?: ((workflow: WorkflowDefinition) => void) | undefined
  ask?: ((warning: string) => Promise<'run' | 'skip'>) | undefined
  /** Leaves out the steps of `warn` workflows; never those of `enforce`. Default false. */
  skipPrerequisites?: boolean | undefined
  note: (line: string) => void
  runtime: Pick<Runtime, 'elapsed'>
  signal?: AbortSignal | undefined
}

export interface GateStep {
  step: number
  tool: string
  status:
    | 'completed'
    | 'valid'
    | 'failed'
    | 'skipped'
    | 'suggested'
    | 'not-applicable'
    | 'not-installed'
  id?: string | undefined
  params: JsonObject
  /** The text of the result, or of the error of a step that is not required. */
  result?: string | undefined
  durationMs?: number | undefined
  reason?: string | undefined
}

export interface GateReport {
  workflow?: string | undefined
  mode?: WorkflowMode | undefined
  steps: readonly GateStep[]
  also: readonly string[]
  notInstalled: GatePlan['notInstalled']
}

/**
 * Runs what a workflow demands before a call, and returns; or throws, and then the call must not be
 * made. What finished is recorded in the session at once, also when a later step fails. Throws
 * {@link WorkflowPrerequisiteError} when a required prerequisite failed, {@link StateFileError} for
 * a session file that cannot be written.
 */
export async function runGate(call: GatedCall, options: GateOptions): Promise<GateReport> {
  const { note, permit, session, skipPrerequisites = false } = options
  const { state, diagnostics } = await session.read()
  const plan = planGate(call, options.workflows, state, options.tools)
  const report = { also: plan.also, notInstalled: plan.notInstalled }
  for (const missing of plan.notInstalled) note(notInstalledLine(missing))
  const { workflow } = plan
  if (workflow === undefined) return { ...report, steps: [] }
  if (plan.also.length > 0) note(multipleLine(workflow.name, plan.also))
  const named = { ...report, workflow: workflow.name, mode: workflow.mode }
  if (!plan.steps.some(isOpen)) return { ...named, steps: plan.steps.map(withoutRun) }
  if (workflow.mode === 'suggest') {
    note(suggestionText(workflow, plan.steps.filter(isOpen)))
    return { ...named, steps: plan.steps.map((step) => ifOpen(step, 'suggested')) }
  }
  if (workflow.mode === 'enforce' || !skipPrerequisites) {
    permit?.(workflow)
    requireWritable(diagnostics)
  }
  if (workflow.mode === 'warn' && (await isSkipped(plan, workflow, options))) {
    return { ...named, steps: plan.steps.map((step) => ifOpen(step, 'skipped')) }
  }
  if (workflow.mode === 'enforce' && skipPrerequisites) {
    note(`Workflow '${workflow.name}' is enforced; its prerequisites cannot be skipped.`)
  }
  // Parallel calls would each run the same steps. Main tools and questions are not serialized.
  const turn = JSON.stringify([session.path, workflow.name])
  const steps = await inTurn(turn, options.signal, async () => {
    const { state: now } = await session.read()
    const again = planGate(call, [workflow], now, options.tools)
    if (!again.steps.some(isOpen)) return again.steps.map(withoutRun)
    note(triggeredLine(workflow.name, again.open))
    return await runSteps(call, workflow, again, now, options)
  })
  return { ...named, steps }
}

/** A step that cannot be recorded would run before every call, so none is made. */
function requireWritable(diagnostics: readonly Diagnostic[]): void {
  const problem = diagnostics.find(
    ({ code, severity }) => severity === 'error' && code !== 'session-corrupt',
  )
  if (problem !== undefined) throw new StateFileError(problem)
}

async function isSkipped(
  plan: GatePlan,
  workflow: WorkflowDefinition,
  { ask, note, skipPrerequisites }: GateOptions,
): Promise<boolean> {
  const warning = warningText(workflow, plan.steps.filter(isOpen))
  if (skipPrerequisites !== true && ask !== undefined) return (await ask(warning)) === 'skip'
  note(warning)
  return skipPrerequisites === true
}

async function runSteps(
  call: GatedCall,
  workflow: WorkflowDefinition,
  plan: GatePlan,
  state: SessionState,
  options: GateOptions,
): Promise<GateStep[]> {
  const results = new Map<number, JsonValue>()
  const again = new Set(plan.steps.filter((step) => step.status === 'run').map(({ step }) => step))
  const done: GateStep[] = []
  for (const prerequisite of workflow.prerequisites) {
    const completion = (tool: string, scope: ScopeValues): Completion | undefined =>
      again.has(prerequisite.step) ? undefined : findCompletion(state, workflow.name, tool, scope)
    const installed = options.tools
    const step = planStep(prerequisite, { call, workflow, installed, results, completion })
    const kept = step.status === 'valid' ? completion(step.tool, step.scope)?.value : undefined
    if (kept !== undefined) results.set(step.step, kept)
    done.push(await runStep(step, workflow, results, options))
  }
  return done
}

async function runStep(
  step: PlannedStep,
  workflow: WorkflowDefinition,
  results: Map<number, JsonValue>,
  options: GateOptions,
): Promise<GateStep> {
  const { caller, note, runtime, session, signal, tools } = options
  const tool = tools.find(({ id }) => id === step.id)
  if (step.status !== 'run' || tool === undefined) {
    const isBlocked = step.status === 'blocked' || step.status === 'waits'
    if (isBlocked && step.required) throw failure(workflow, step, step.reason ?? 'it cannot run')
    if (step.status !== 'valid') note(leftOutLine(step.step, step.tool, step.reason ?? ''))
    return withoutRun(step)
  }
  signal?.throwIfAborted()
  const startMs = runtime.elapsed()
  const result = await caller(tool, step.params, { signal })
  const durationMs = Math.round(runtime.elapsed() - startMs)
  // A prerequisite may invalidate other steps.
  await afterCall({ tool, params: step.params }, session, options.workflows)
  const { step: number, tool: name, id, params } = step
  const base = { step: number, tool: name, id, params, durationMs }
  if (result.ok) {
    const value = parsed(result.value)
    results.set(number, value)
    const change = {
      kind: 'record',
      workflow: workflow.name,
      tool: name,
      scope: step.scope,
    } as const
    const kept = isReferred(number, workflow.prerequisites) ? value : undefined
    await session.change([{ ...change, result: result.text, value: kept }])
    note(completedLine(number, name))
    return { ...base, status: 'completed', result: result.text }
  }
  signal?.throwIfAborted()
  if (step.required) throw failure(workflow, step, result.error, result.suggestion)
  note(leftOutLine(number, name, result.error))
  return { ...base, status: 'failed', result: result.error }
}

function failure(
  workflow: WorkflowDefinition,
  { step, tool }: PlannedStep,
  reason: string,
  suggestion?: string,
): WorkflowPrerequisiteError {
  return new WorkflowPrerequisiteError({ workflow: workflow.name, step, tool, reason, suggestion })
}

function isOpen({ status }: PlannedStep): boolean {
  return status === 'run' || status === 'waits' || status === 'blocked'
}

function ifOpen(step: PlannedStep, status: 'suggested' | 'skipped'): GateStep {
  return isOpen(step) ? { ...withoutRun(step), status } : withoutRun(step)
}

function withoutRun(planned: PlannedStep): GateStep {
  const { step, tool, id, params, reason, status } = planned
  const base = { step, tool, id, params, reason }
  if (status === 'valid' || status === 'not-applicable' || status === 'not-installed') {
    return { ...base, status }
  }
  return { ...base, status: 'skipped' }
}

/** Many servers answer with JSON as text. */
function parsed(value: JsonValue): JsonValue {
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
  if (changes.length > 0) await session.change(changes)
}

function changesFor(
  call: GatedCall,
  workflow: WorkflowDefinition,
  result: string | undefined,
  value: JsonValue | undefined,
): SessionChange[] {
  const { name, prerequisites, triggers } = workflow
  const stale = prerequisites.filter((step) =>
    step.invalidatedBy?.some((tool) => callsTool(call, tool, triggers.category)),
  )
  const own = workflow.enabled && result !== undefined ? ownStep(call, workflow) : undefined
  return [
    ...stale.map((step): SessionChange => ({
      kind: 'invalidate',
      workflow: name,
      tool: step.tool,
      holds: (scope) => survives(scope, step, call),
    })),
    ...(own === undefined
      ? []
      : [
          {
            kind: 'record' as const,
            workflow: name,
            tool: own.tool,
            scope: scopeValues(own, call.params, call, call.tool.server),
            result: result ?? '',
            value: isReferred(own.step, prerequisites) ? value : undefined,
          },
        ]),
  ]
}

/** The end of the queue for each key. */
const lines = new Map<string, Promise<void>>()

/** Serializes work by key, within this process. Giving up a wait leaves the queue intact. */
async function inTurn<T>(key: string, signal: AbortSignal | undefined, work: () => Promise<T>) {
  const before = lines.get(key)
  let leave = (): void => undefined
  const left = new Promise<void>((resolve) => (leave = resolve))
  const line = before === undefined ? left : before.then(() => left)
  lines.set(key, line)
  try {
    if (before !== undefined) await (signal === undefined ? before : untilAborted(before, signal))
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
export function isDeepValue(value: unknown): boolean {
  return exceeds(value, deepestJson)
}

function exceeds(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  const members: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
  return members.some((member) => exceeds(member, levels - 1))
}
