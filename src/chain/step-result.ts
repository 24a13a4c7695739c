import { lockHolder } from '#core/file-lock'
import type { Evidence, ReportedError, StepOutput, StepStatus } from '#exec/output-protocol'
import type { JsonValue } from '#core/json'
import type {
  AttemptResult,
  CancelledStep,
  ChainEvent,
  ChainResult,
  FinishedOutcome,
  Outcome,
  Rework,
  RunResult,
  RunStatus,
  StepResult,
  SuspendedOutcome,
  Suspension,
} from './engine.ts'
import { isChain, keyOfExecution, type PlannedStep } from './plan-model.ts'
import type { RunJournal } from './run-journal.ts'

export function stepResult(step: PlannedStep, outcome: Outcome): StepResult {
  if (outcome.kind === 'cancelled') return cancelledStep(step, outcome, 'the chain was ended')
  if (outcome.kind === 'suspended') {
    const status = outcome.why === 'interrupted' ? 'cancelled' : 'waiting'
    const errors = outcome.overdue ? [outcome.overdue] : []
    return { ...unfinishedResult(step, status, outcome, suspensionReason(outcome)), errors }
  }
  const { output, shown, startedAt, durationMs, clockShiftMs, reused } = outcome
  const { log, sandbox, hint, notUtf8, chain } = outcome
  return {
    step: step.step,
    skill: step.skill,
    ...output,
    startedAt: isoTime(startedAt),
    durationMs,
    clockShiftMs,
    shown,
    reused,
    log: log || undefined,
    sandbox,
    hint,
    notUtf8,
    ...nestedResults(chain),
  }
}

export function finishedEvent(
  key: string,
  step: PlannedStep,
  end: Partial<Pick<FinishedOutcome, 'output' | 'shown' | 'sandbox' | 'notUtf8'>> & {
    durationMs?: number | null | undefined
  },
  at: string,
): ChainEvent {
  const output = end.shown ?? end.output
  return {
    type: 'step-finished',
    key,
    step: step.step,
    skill: step.skill,
    chain: isChain(step),
    status: output?.status ?? 'cancelled',
    result: output?.result ?? '',
    error: output?.errors[0]?.message,
    sandbox: end.sandbox,
    notUtf8: end.notUtf8,
    durationMs: end.durationMs === undefined ? 0 : end.durationMs,
    at,
    replayed: false,
  }
}

export function cancelledStep(
  step: PlannedStep,
  cancellation: CancelledStep,
  reason: string,
): StepResult {
  const status = cancellation.startedAt === undefined ? 'not_run' : 'cancelled'
  return unfinishedResult(step, status, cancellation, reason)
}

function unfinishedResult(
  step: PlannedStep,
  status: Parameters<typeof notExecuted>[1],
  { startedAt, durationMs = 0, clockShiftMs, chain }: CancelledStep,
  reason: string,
): StepResult {
  return {
    ...notExecuted(step, status, reason),
    startedAt: startedAt === undefined ? null : isoTime(startedAt),
    durationMs,
    clockShiftMs,
    ...nestedResults(chain),
  }
}

export function notExecuted(
  step: PlannedStep,
  status: 'skipped' | 'not_run' | 'cancelled' | 'waiting',
  reason: string,
): StepResult {
  return {
    step: step.step,
    skill: step.skill,
    status,
    result: '',
    errors: [],
    metrics: {},
    evidence: null,
    startedAt: null,
    durationMs: 0,
    reason,
  }
}

/** Returns the outputs for later steps. The steps of a nested chain precede the chain. */
export function previousOutputs(results: readonly (StepResult | undefined)[]): PreviousOutput[] {
  return results.flatMap((result) => {
    if (!result) return []
    const { step, skill, status, errors, metrics, artifacts } = result
    const inner = previousOutputs(stepsOf(result))
    if (!isFinal(status)) return inner
    return [...inner, { step, skill, status, result: result.result, errors, metrics, artifacts }]
  })
}

/** Returns the steps of a nested chain, from its deciding attempt if there are several. */
function stepsOf({ status, steps = [], attempts }: StepResult): readonly StepResult[] {
  return attempts ? (decidingAttempt({ status, attempts })?.steps ?? []) : steps
}

export function chainOutput(result: ChainResult): StepOutput {
  const { status } = result
  const { steps = [], errors = [] } = decidingAttempt(result) ?? {}
  const outputs = previousOutputs(steps)
  return {
    status: status === 'success' || status === 'critical' ? status : 'failure',
    // The result of the last executed step.
    result: outputs.at(-1)?.result ?? '',
    errors: [...errorsOf(outputs), ...errors],
    metrics: totalMetrics(outputs),
    evidence: weakestEvidence(steps),
  }
}

function weakestEvidence(steps: readonly Pick<StepResult, 'evidence'>[]): Evidence {
  const weak = (['self-reported', 'accepted'] as const).find((evidence) =>
    steps.some((step) => step.evidence === evidence),
  )
  return weak ?? 'exit-code'
}

/** Returns what a nested chain waits for. A report comes first: an agent can work while a user is asked. */
export function chainWaitsFor(chain: ChainResult): 'report' | 'approval' {
  return waitingLeaves(chain).every(({ startedAt }) => startedAt === null) ? 'approval' : 'report'
}

export function signatureOf(steps: readonly StepResult[]): string {
  const countedSteps = steps.filter(({ allowFailure }) => allowFailure !== true)
  return JSON.stringify(countedSteps.map((step) => outline(step)))
}

const suspensions: Record<Suspension, string> = {
  approval: 'waits for the approval of a user',
  report: 'waits for its report',
  interrupted: 'the run was interrupted',
}

function suspensionReason({ why, chain, overdue }: SuspendedOutcome): string {
  if (overdue) return `it exceeded its time limit: ${overdue.message}`
  if (why !== 'approval' || !chain) return suspensions[why]
  const [inner] = waitingLeaves(chain)
  return inner ? `waits for approval of ${inner.step}` : suspensions[why]
}

function waitingLeaves({ attempts }: ChainResult): StepResult[] {
  return leafSteps(attempts.at(-1)?.steps ?? []).filter(({ status }) => status === 'waiting')
}

/** Returns the steps that are not chains. In a chain with allow-failure, all steps may fail. */
export function leafSteps(steps: readonly StepResult[]): StepResult[] {
  return steps.flatMap((step) => {
    if (!step.steps) return [step]
    const { allowFailure } = step
    return leafSteps(step.steps).map((leaf) => (allowFailure ? { ...leaf, allowFailure } : leaf))
  })
}

function outline(step: StepResult): unknown[] {
  const { status, result, errors, steps = [] } = step
  return [step.step, status, result, errors, steps.map((inner) => outline(inner))]
}

function nestedResults(chain: ChainResult | undefined): Pick<StepResult, 'steps' | 'attempts'> {
  if (!chain) return {}
  const steps = chain.attempts.at(-1)?.steps ?? []
  const isRepeated = chain.attempts.length > 1 || chain.attempts.some(({ reworks }) => reworks)
  return isRepeated ? { steps, attempts: chain.attempts } : { steps }
}

function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

/**
 * Returns the attempt with the status of the run: the last one of these. If the attempts as a whole have an
 * error, or none has the status, the last attempt.
 */
export function decidingAttempt<Attempt extends { status: string; errors?: unknown }>(result: {
  status: string
  attempts: readonly Attempt[]
}): Attempt | undefined {
  const last = result.attempts.at(-1)
  if (last?.errors !== undefined) return last
  return result.attempts.findLast((attempt) => attempt.status === result.status) ?? last
}

export function countSucceeded(steps: readonly { status: string }[]): string {
  if (steps.length === 0) return 'no steps'
  const successCount = steps.filter(({ status }) => status === 'success').length
  return `${successCount} of ${steps.length} ${steps.length === 1 ? 'step' : 'steps'} succeeded`
}

/** A run for display, perhaps while a process executes it. */
export interface ShownRun extends Omit<RunResult, 'status' | 'attempts'> {
  status: RunStatus | 'running'
  attempts: readonly ShownAttempt[]
}

export interface ShownAttempt extends Omit<AttemptResult, 'status'> {
  status: RunStatus | 'running'
}

/** Returns the run with its secrets masked in every text of a step. */
export function shownRun<Run extends Pick<ShownRun, 'attempts'>>(run: Run): Run {
  const masks = masksIn(run)
  if (masks.size === 0) return run
  const attempts = changeSteps(run.attempts, ({ shown: _shown, ...step }) => step)
  return mapTexts({ ...run, attempts }, (text) => masks.get(text) ?? text)
}

/** Returns the journal's data of an answer, with each text masked that `shown` masks anywhere. */
export function maskedData(data: unknown): unknown {
  const masks = masksIn(data)
  return masks.size === 0 ? data : mapTexts(data, (text) => masks.get(text) ?? text)
}

/** Returns the texts with secrets, each with its masked form, at any depth of results and outcomes. */
function masksIn(value: unknown, masks = new Map<string, string>()): Map<string, string> {
  if (typeof value !== 'object' || value === null) return masks
  const members = new Map<string, unknown>(Object.entries(value))
  const visible = members.get('shown')
  if (visible !== undefined) pairTexts(members.get('output') ?? value, visible, masks)
  for (const member of members.values()) masksIn(member, masks)
  return masks
}

export function changeSteps<A extends Pick<AttemptResult, 'steps' | 'reworks'>>(
  attempts: readonly A[],
  change: (step: StepResult) => StepResult,
): A[] {
  const changeStep = (step: StepResult): StepResult => {
    const { tries, steps, attempts: inner, ...ownFacts } = change(step)
    return {
      ...ownFacts,
      tries: tries?.map(changeStep),
      steps: steps?.map(changeStep),
      attempts: inner && changeSteps(inner, change),
    }
  }
  return attempts.map((attempt) => {
    const { steps, reworks } = attempt
    if (!reworks) return { ...attempt, steps: steps.map(changeStep) }
    const changedReworks = reworks.map((one) => ({ ...one, steps: one.steps.map(changeStep) }))
    return { ...attempt, steps: steps.map(changeStep), reworks: changedReworks }
  })
}

function pairTexts(original: unknown, maskedValue: unknown, masks: Map<string, string>): void {
  if (typeof original === 'string' && typeof maskedValue === 'string')
    masks.set(original, maskedValue)
  if (
    typeof original !== 'object' ||
    typeof maskedValue !== 'object' ||
    original === null ||
    maskedValue === null
  )
    return
  const members = new Map(Object.entries(original))
  for (const [key, value] of Object.entries(maskedValue)) pairTexts(members.get(key), value, masks)
}

export interface WalkedStep {
  key: string
  step: StepResult
  leaf: boolean
  /** Whether it belongs to the last attempt of each chain around it. */
  last: boolean
}

/** Returns the steps of the attempts that count, level by level: the last attempt of each chain. */
export function walkResult({ attempts }: ShownRun): WalkedStep[] {
  return walkAttempts(attempts, '', true).filter(({ last }) => last)
}

function walkAttempts(
  attempts: readonly Pick<AttemptResult, 'attempt' | 'steps' | 'reworks'>[],
  prefix: string,
  isLast: boolean,
): WalkedStep[] {
  const flat = attempts.flatMap(({ attempt, steps, reworks = [] }, index) => [
    ...voidSteps(reworks).map((step) => ({ attempt, step, last: false })),
    ...steps.map((step) => ({ attempt, step, last: isLast && index === attempts.length - 1 })),
  ])
  return flat.flatMap(({ attempt, step: newest, last: isNewest }) =>
    [...(newest.tries ?? []), newest].flatMap((step, index) => {
      const counts = { attempt, number: index + 1, round: newest.round ?? 1 }
      const key = keyOfExecution(prefix, step, counts)
      const last = isNewest && step === newest
      const inner = step.attempts ?? [{ attempt: 1, steps: step.steps ?? [] }]
      const walkedStep = { key, step, leaf: step.steps === undefined, last }
      return [walkedStep, ...walkAttempts(inner, `${key}/`, last)]
    }),
  )
}

/** Returns the results that rejections made void, in the order of their rounds. */
export function voidSteps(reworks: readonly Rework[] = []): readonly StepResult[] {
  return reworks.flatMap(({ steps }) => steps)
}

export interface Execution {
  key: string
  step: string
  /** Counts the executions of this step in the run; from 1. */
  attempt: number
  /** The end of what it printed, from the journal. */
  log?: string | undefined
}

/** Returns every execution of every step that began, in the order of the plan. */
export function executionsOf({ attempts }: ShownRun): Execution[] {
  const counts = new Map<string, number>()
  return walkAttempts(attempts, '', true).flatMap(
    ({ key, step: { step, startedAt, log }, leaf }) => {
      if (!leaf || startedAt === null) return []
      const attempt = (counts.get(step) ?? 0) + 1
      counts.set(step, attempt)
      return { key, step, attempt, log }
    },
  )
}

/** Returns the current status of a run: `running` while a process holds it, `interrupted` if none does. */
export function statusOfRun(journal: RunJournal, path: string): RunStatus | 'running' {
  if (lockHolder(path)) return 'running'
  if (journal.status !== undefined) return journal.status
  return journal.run.mode === 'stepper' && !wasExecuting(journal) ? 'waiting' : 'interrupted'
}

/** Whether the process that has gone executed a script: its step has begun, and an agent does not do it. */
function wasExecuting({ started, done, handed, gates }: RunJournal): boolean {
  const later = [...started.keys(), ...handed.keys(), ...gates.keys()]
  return [...started.keys()].some(
    (key) =>
      !done.has(key) && !handed.has(key) && !later.some((other) => other.startsWith(`${key}/`)),
  )
}

export interface PreviousOutput extends Omit<StepOutput, 'evidence'> {
  step: string
  skill: string
}

/** The state that a chain passes on, in the spelling of the chaining proposal. */
export interface ChainState {
  previous_outputs: readonly PreviousOutput[]
  accumulated_errors: readonly ReportedError[]
  total_metrics: Readonly<Record<string, JsonValue>>
  /** Why a user rejected the earlier result, for the steps that are done again. */
  feedback?: string
}

/** Whether a step or a run has ended by itself, with a status of its own. */
export function isFinal(status: string | undefined): status is StepStatus {
  return status === 'success' || status === 'failure' || status === 'critical'
}

/** Whether a step or a run has ended without success. */
export function isFailed(status: string | undefined): boolean {
  return isFinal(status) && status !== 'success'
}

/** Returns the code and the message; the message alone for codes whose messages say the same. */
export function errorText({ code, message }: ReportedError): string {
  return code === 'exit-code' ? message : `${code}: ${message}`
}

export const emptyState: ChainState = {
  previous_outputs: [],
  accumulated_errors: [],
  total_metrics: {},
}

export function addOutputs(state: ChainState, outputs: readonly PreviousOutput[]): ChainState {
  if (outputs.length === 0) return state
  const previous = [...state.previous_outputs, ...outputs]
  const hasMetrics = outputs.some(({ metrics }) => Object.keys(metrics).length > 0)
  return {
    ...state,
    previous_outputs: previous,
    accumulated_errors: [...state.accumulated_errors, ...errorsOf(outputs)],
    // Most steps have no metrics, so there is nothing to add up.
    total_metrics: hasMetrics ? totalMetrics(previous) : state.total_metrics,
  }
}

/** Returns each error once: the errors of a nested chain are also in its steps. */
export function errorsOf(outputs: readonly PreviousOutput[]): ReportedError[] {
  const leaves = leavesOf(outputs)
  const leafErrors = new Set(
    leaves.flatMap(({ errors }) => errors.map((error) => JSON.stringify(error))),
  )
  return outputs.flatMap((output) =>
    leaves.includes(output)
      ? output.errors
      : output.errors.filter((error) => !leafErrors.has(JSON.stringify(error))),
  )
}

/** Returns the outputs of steps without inner steps. */
function leavesOf<Output extends PreviousOutput>(outputs: readonly Output[]) {
  const parentNames = new Set(
    outputs.flatMap(({ step }) => {
      const names = step.split('/')
      return names.slice(1).map((_name, index) => names.slice(0, index + 1).join('/'))
    }),
  )
  return outputs.filter(({ step }) => !parentNames.has(step))
}

export function mapTexts<T>(value: T, change: (text: string) => string): T
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((item) => mapTexts<unknown>(item, change))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value)
  return Object.fromEntries(members.map(([key, item]) => [key, mapTexts<unknown>(item, change)]))
}

/** Adds up numbers; for any other metric, counts the steps that reported it. */
function totalMetrics(outputs: readonly PreviousOutput[]): Record<string, JsonValue> {
  const values = new Map<string, { count: number; sum: number | undefined }>()
  for (const { metrics } of leavesOf(outputs)) {
    for (const [name, value] of Object.entries(metrics)) {
      const total = values.get(name) ?? { count: 0, sum: 0 }
      total.count++
      total.sum =
        typeof value === 'number' && total.sum !== undefined ? total.sum + value : undefined
      values.set(name, total)
    }
  }
  return Object.fromEntries(
    [...values].map(([name, total]) => [name, total.sum ?? total.count] as const),
  )
}
