import { lockHolder } from '../core/file-lock.ts'
import type { StepOutput } from '../exec/output-protocol.ts'
import type {
  AttemptResult,
  CancelledStep,
  ChainResult,
  Outcome,
  RunResult,
  RunStatus,
  StepResult,
  SuspendedOutcome,
  Suspension,
} from './engine.ts'
import { type PlannedStep, stepLabel } from './plan-model.ts'
import type { RunJournal } from './run-journal.ts'
import { errorsOf, mapTexts, type PreviousOutput, totalMetrics } from './state.ts'

export function stepResult(step: PlannedStep, outcome: Outcome): StepResult {
  switch (outcome.kind) {
    case 'finished': {
      const { output, shown, startedAt, durationMs, reused, log, sandbox, hint, chain } = outcome
      return {
        step: step.step,
        skill: step.skill,
        ...output,
        startedAt: isoTime(startedAt),
        durationMs,
        ...(shown === undefined ? {} : { shown }),
        ...(reused === undefined ? {} : { reused }),
        ...(log === undefined || log === '' ? {} : { log }),
        ...(sandbox === undefined ? {} : { sandbox }),
        ...(hint === undefined ? {} : { hint }),
        ...below(chain),
      }
    }
    case 'cancelled':
      return cancelledStep(step, outcome, 'the chain was ended')
    case 'suspended':
      return {
        ...notExecuted(step, outcome.why === 'interrupted' ? 'cancelled' : 'waiting', ''),
        startedAt: outcome.startedAt === undefined ? null : isoTime(outcome.startedAt),
        durationMs: outcome.durationMs ?? 0,
        ...(outcome.overdue === undefined ? {} : { errors: [outcome.overdue] }),
        reason: suspensionReason(outcome),
        ...below(outcome.chain),
      }
  }
}

export function cancelledStep(step: PlannedStep, left: CancelledStep, reason: string): StepResult {
  const neverStarted = left.startedAt === undefined
  return {
    ...notExecuted(step, neverStarted ? 'not_run' : 'cancelled', reason),
    startedAt: left.startedAt === undefined ? null : isoTime(left.startedAt),
    durationMs: left.durationMs ?? 0,
    ...below(left.chain),
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

/** What later steps are told, those inside nested chains before their chains. */
export function previousOutputs(results: readonly (StepResult | undefined)[]): PreviousOutput[] {
  return results.flatMap((result) => {
    if (result === undefined) return []
    const { step, skill, status, errors, metrics, artifacts } = result
    const inner = previousOutputs(stepsOf(result))
    if (status !== 'success' && status !== 'failure' && status !== 'critical') return inner
    const files = artifacts === undefined ? {} : { artifacts }
    return [...inner, { step, skill, status, result: result.result, errors, metrics, ...files }]
  })
}

/** Of a nested chain, those of the attempt that decides. */
function stepsOf({ status, steps = [], attempts }: StepResult): readonly StepResult[] {
  return attempts === undefined ? steps : (decidingAttempt({ status, attempts })?.steps ?? [])
}

export function chainOutput(result: ChainResult): StepOutput {
  const { status } = result
  const { steps = [], errors = [] } = decidingAttempt(result) ?? {}
  const outputs = previousOutputs(steps)
  return {
    status: status === 'success' || status === 'critical' ? status : 'failure',
    // Of the last step that was executed.
    result: outputs.at(-1)?.result ?? '',
    errors: [...errorsOf(outputs), ...errors],
    metrics: totalMetrics(outputs),
    evidence: steps.some((step) => step.evidence === 'self-reported')
      ? 'self-reported'
      : 'exit-code',
  }
}

/** What a nested chain waits for: an agent can continue a report while a user is asked. */
export function chainWaitsFor(chain: ChainResult): 'report' | 'approval' {
  const waiting = waitingLeaves(chain.attempts.at(-1)?.steps ?? [])
  return waiting.every((step) => step.startedAt === null) ? 'approval' : 'report'
}

/** Status, result and errors of every step, level by level, as one text. */
export function signatureOf(steps: readonly StepResult[]): string {
  const counted = steps.filter(({ allowFailure }) => allowFailure !== true)
  return JSON.stringify(counted.map((step) => outline(step)))
}

const suspensions: Record<Suspension, string> = {
  approval: 'waits for the approval of a user',
  report: 'waits for its report',
  interrupted: 'the run was interrupted',
}

function suspensionReason({ why, chain, overdue }: SuspendedOutcome): string {
  if (overdue !== undefined) return `it exceeded its time limit: ${overdue.message}`
  if (why !== 'approval' || chain === undefined) return suspensions[why]
  const [inner] = waitingLeaves(chain.attempts.at(-1)?.steps ?? [])
  return inner === undefined ? suspensions[why] : `waits for approval of ${inner.step}`
}

function waitingLeaves(steps: readonly StepResult[]): StepResult[] {
  return steps.flatMap((step) => {
    if (step.steps !== undefined) return waitingLeaves(step.steps)
    return step.status === 'waiting' ? [step] : []
  })
}

function outline(step: StepResult): unknown[] {
  const { status, result, errors, steps = [] } = step
  return [step.step, status, result, errors, steps.map((below) => outline(below))]
}

function below(chain: ChainResult | undefined): Pick<StepResult, 'steps' | 'attempts'> {
  if (chain === undefined) return {}
  const steps = chain.attempts.at(-1)?.steps ?? []
  return chain.attempts.length > 1 ? { steps, attempts: chain.attempts } : { steps }
}

function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

/** The last attempt, but where every attempt has to pass the last one that failed as the whole did. */
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
  const succeeded = steps.filter(({ status }) => status === 'success').length
  return `${succeeded} of ${steps.length} ${steps.length === 1 ? 'step' : 'steps'} succeeded`
}

/** A run as it is shown: perhaps while a process executes it. */
export interface ShownRun extends Omit<RunResult, 'status' | 'attempts'> {
  status: RunStatus | 'running'
  attempts: readonly ShownAttempt[]
}

export interface ShownAttempt extends Omit<AttemptResult, 'status'> {
  status: RunStatus | 'running'
}

/** The run with its secrets masked, wherever a text of a step stands in it. */
export function shownRun<Run extends Pick<ShownRun, 'attempts'>>(run: Run): Run {
  const masks = masksIn(run)
  if (masks.size === 0) return run
  const attempts = run.attempts.map((attempt) => ({ ...attempt, steps: attempt.steps.map(bare) }))
  return mapTexts({ ...run, attempts }, (text) => masks.get(text) ?? text)
}

/** What the journal has of an answer, with each text masked that `shown` has masked somewhere. */
export function maskedData(data: unknown): unknown {
  const masks = masksIn(data)
  return masks.size === 0 ? data : mapTexts(data, (text) => masks.get(text) ?? text)
}

/** Texts with secrets, each with what may be shown of it, at any depth of results and outcomes. */
function masksIn(value: unknown, masks = new Map<string, string>()): Map<string, string> {
  if (typeof value !== 'object' || value === null) return masks
  const members = new Map<string, unknown>(Object.entries(value))
  const shown = members.get('shown')
  if (shown !== undefined) pairTexts(members.get('output') ?? value, shown, masks)
  for (const member of members.values()) masksIn(member, masks)
  return masks
}

function bare({ shown: _shown, tries, steps, attempts, ...step }: StepResult): StepResult {
  const inner = attempts?.map((attempt) => ({ ...attempt, steps: attempt.steps.map(bare) }))
  return {
    ...step,
    ...(tries === undefined ? {} : { tries: tries.map(bare) }),
    ...(steps === undefined ? {} : { steps: steps.map(bare) }),
    ...(inner === undefined ? {} : { attempts: inner }),
  }
}

function pairTexts(raw: unknown, shown: unknown, masks: Map<string, string>): void {
  if (typeof raw === 'string' && typeof shown === 'string') masks.set(raw, shown)
  if (typeof raw !== 'object' || typeof shown !== 'object' || raw === null || shown === null) return
  const members = new Map(Object.entries(raw))
  for (const [key, value] of Object.entries(shown)) pairTexts(members.get(key), value, masks)
}

export interface WalkedStep {
  key: string
  attempt: number
  step: StepResult
  leaf: boolean
}

/** The steps of the attempts that count, level by level: of each chain its last attempt. */
export function walkResult(result: Pick<ShownRun, 'attempts'>): WalkedStep[] {
  const last = result.attempts.at(-1)
  return last === undefined ? [] : resultsBelow(last.steps, '', last.attempt)
}

function resultsBelow(steps: readonly StepResult[], prefix: string, attempt: number): WalkedStep[] {
  return steps.flatMap((step) => {
    const again = step.tries === undefined ? '' : `.${step.tries.length + 1}`
    const key = `${prefix}${attempt}${again}:${stepLabel(step)}`
    const walked = { key, attempt, step, leaf: step.steps === undefined }
    const inner = step.attempts?.at(-1)?.attempt ?? 1
    return [walked, ...resultsBelow(step.steps ?? [], `${key}/`, inner)]
  })
}

export interface Execution {
  key: string
  /** The full name of the step. */
  step: string
  /** Counts the executions of this step in the run; from 1. */
  attempt: number
  /** The end of what it printed, as the journal has it. */
  log?: string | undefined
}

/** Every execution of every step of a run that began, in the order of the plan. */
export function executionsOf({ attempts }: Pick<ShownRun, 'attempts'>): Execution[] {
  const counts = new Map<string, number>()
  const found: Execution[] = []
  const visit = (steps: readonly StepResult[], prefix: string, attempt: number): void => {
    for (const step of steps) {
      for (const [index, one] of [...(step.tries ?? []), step].entries()) {
        const key = `${prefix}${attempt}${index === 0 ? '' : `.${index + 1}`}:${stepLabel(step)}`
        if (one.steps === undefined && one.startedAt !== null) {
          const count = (counts.get(step.step) ?? 0) + 1
          counts.set(step.step, count)
          found.push({ key, step: step.step, attempt: count, log: one.log })
        }
        const inner = one.attempts ?? [{ attempt: 1, steps: one.steps ?? [] }]
        for (const below of inner) visit(below.steps, `${key}/`, below.attempt)
      }
    }
  }
  for (const attempt of attempts) visit(attempt.steps, '', attempt.attempt)
  return found
}

/** How a run stands now: `running` while a process holds it, `interrupted` when none does. */
export function statusOfRun(journal: RunJournal, path: string): RunStatus | 'running' {
  if (lockHolder(path) !== undefined) return 'running'
  return journal.status ?? (journal.run.mode === 'stepper' ? 'waiting' : 'interrupted')
}
