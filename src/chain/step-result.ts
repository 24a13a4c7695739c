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
import { type PreviousOutput, totalMetrics } from './state.ts'

export function stepResult(step: PlannedStep, outcome: Outcome): StepResult {
  switch (outcome.kind) {
    case 'finished': {
      const { output, startedAt, durationMs, reused, log, sandbox, hint, chain } = outcome
      return {
        step: step.step,
        skill: step.skill,
        ...output,
        startedAt: isoTime(startedAt),
        durationMs,
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

export function previousOutputs(results: readonly (StepResult | undefined)[]): PreviousOutput[] {
  return results.flatMap((result) => {
    if (result === undefined) return []
    const { step, skill, status, errors, metrics } = result
    if (status !== 'success' && status !== 'failure' && status !== 'critical') return []
    return [{ step, skill, status, result: result.result, errors, metrics }]
  })
}

export function chainOutput(result: ChainResult): StepOutput {
  const { status, attempts } = result
  const { attempt = 1, steps = [], errors = [] } = decidingAttempt(result) ?? {}
  const outputs = previousOutputs(steps)
  const which = attempt === attempts.length ? '' : ` in attempt ${attempt} of ${attempts.length}`
  return {
    status: status === 'success' || status === 'critical' ? status : 'failure',
    result: `${countSucceeded(steps)}${which}`,
    errors: [...outputs.flatMap((output) => output.errors), ...errors],
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
  return JSON.stringify(steps.map((step) => outline(step)))
}

const suspensions: Record<Suspension, string> = {
  approval: 'waits for the approval of a user',
  report: 'waits for its report',
  interrupted: 'the run was interrupted',
}

function suspensionReason({ why, chain, overdue }: SuspendedOutcome): string {
  if (overdue !== undefined) return `its time is over: ${overdue.message}`
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
    const key = `${prefix}${attempt}:${stepLabel(step)}`
    const walked = { key, attempt, step, leaf: step.steps === undefined }
    const inner = step.attempts?.at(-1)?.attempt ?? 1
    return [walked, ...resultsBelow(step.steps ?? [], `${key}/`, inner)]
  })
}

/** How a run stands now: `running` while a process holds it, `interrupted` when none does. */
export function statusOfRun(journal: RunJournal, path: string): RunStatus | 'running' {
  if (lockHolder(path) !== undefined) return 'running'
  return journal.status ?? (journal.run.mode === 'stepper' ? 'waiting' : 'interrupted')
}
