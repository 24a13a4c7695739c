import {
  executionWords,
  executorWords,
  isChain,
  type PlannedChain,
  type PlannedStep,
  stepLabel,
  unitsOf,
} from '#chain/plan-model'
import type { AttemptResult, RunResult, StepResult } from '#chain/engine'
import { firstFailed, saidOf, statusMarks, stepDuration } from '#chain/timeline'
import { walkResult } from '#chain/step-result'
import type { RunJournal } from '#chain/run-journal'
import type { RunLine } from '#chain/run-line'
import { RunNotFoundError } from '#chain/errors'
import { type Asked, shownText, type TextAnswer, textPiece } from './questions.ts'

export interface RunShownNow {
  journal: Pick<RunJournal, 'updatedAt' | 'done' | 'gates' | 'diagnostics' | 'plan'> & {
    run: Pick<RunJournal['run'], 'mode' | 'at' | 'arguments'>
  }
  result: RunResult
  status: RunResult['status'] | 'running'
  /** How a user types what is shown to continue it. */
  line: RunLine
}

/** How much of a step or an attempt is sent with the whole run, in characters and in items. */
const longestResult = 300
const mostErrors = 20
const longestMessage = 2000
const longestSaid = 200
const mostMetrics = 50
const mostTries = 20

/** A run with all of its steps, without their output: that is asked for by step. */
export function runAnswer(run: RunShownNow) {
  const { journal, result, status } = run
  const unfinished = status === 'running' ? unfinishedSteps(run) : new Set<StepResult>()
  return {
    runId: result.runId,
    skill: result.skill,
    status,
    mode: journal.run.mode,
    startedAt: journal.run.at,
    updatedAt: journal.updatedAt,
    arguments: journal.run.arguments,
    graph: graphOf(journal.plan.root),
    attempts: result.attempts.map((attempt) => ({
      attempt: attempt.attempt,
      status: attempt === result.attempts.at(-1) ? status : attempt.status,
      steps: attempt.steps.map((step) => shownStep(step, unfinished)),
      errors: shownErrors(attempt.errors),
    })),
    winner: result.winner,
    failedFirst: firstFailed(result)?.step,
    next: nextLines(run),
    diagnostics: journal.diagnostics,
  }
}

export function stepPiece({ runId, attempts }: RunResult, { text, number }: Asked): TextAnswer {
  const attempt = attempts.find((one) => one.attempt === number('attempt'))
  const step = attempt && stepIn(attempt, text('step'))
  if (!step) {
    const message = `the run ${runId} has no such step`
    throw new RunNotFoundError('step-not-found', message)
  }
  return textPiece(text('part') === 'log' ? (step.log ?? '') : step.result, number('from'))
}

function stepIn({ steps }: Pick<AttemptResult, 'steps'>, name: string): StepResult | undefined {
  for (const step of steps) {
    if (shownText(step.step) === name) return step
    const inner = stepIn({ steps: step.steps ?? [] }, name)
    if (inner) return inner
  }
  return undefined
}

/** Steps that have no result yet: while a run continues they are not cut off but to come. */
function unfinishedSteps({ journal, result }: RunShownNow): Set<StepResult> {
  const open = walkResult(result).filter(
    ({ key, leaf, step }) =>
      !journal.done.has(key) && (leaf || step.status === 'cancelled' || step.status === 'not_run'),
  )
  return new Set(open.map(({ step }) => step))
}

export interface ShownStep extends ReturnType<typeof shownLine> {
  steps?: readonly ShownStep[] | undefined
}

function shownStep(step: StepResult, unfinished: ReadonlySet<StepResult>): ShownStep {
  const steps = step.steps?.map((inner) => shownStep(inner, unfinished))
  return { ...shownLine(step, unfinished), steps }
}

function shownLine(step: StepResult, unfinished: ReadonlySet<StepResult>) {
  const isOpen = unfinished.has(step) && step.status !== 'waiting'
  const open = hasBegun(step) ? 'running' : 'pending'
  return {
    step: step.step,
    skill: step.skill,
    status: isOpen ? open : step.status,
    mark: isOpen ? openMarks[open] : statusMarks[step.status].mark,
    time: isOpen ? '' : stepDuration(step),
    startedAt: step.startedAt,
    durationMs: step.durationMs,
    evidence: step.evidence,
    reason: isOpen ? undefined : step.reason,
    said: isOpen ? '' : beginningOf(saidOf(step), longestSaid).text,
    tries: (step.tries ?? []).slice(-mostTries).map((one) => ({
      status: one.status,
      said: beginningOf(saidOf(one), longestSaid).text,
      time: stepDuration(one),
    })),
    sandbox: step.sandbox,
    hint: step.hint,
    result: beginningOf(step.result, longestResult),
    log: step.log === undefined ? undefined : { size: step.log.length },
    errors: shownErrors(step.errors),
    metrics: Object.entries(step.metrics)
      .slice(0, mostMetrics)
      .map(([name, value]): [string, string] => [
        name,
        beginningOf(JSON.stringify(value), longestResult).text,
      ]),
    attempts: step.attempts?.map((attempt) => attempt.status),
  }
}

function shownErrors(errors: StepResult['errors'] = []) {
  return errors.slice(0, mostErrors).map(({ code, message }) => ({
    code,
    message: beginningOf(message, longestMessage).text,
  }))
}

const openMarks = { running: '▸', pending: '·' } as const

function hasBegun({ startedAt, steps = [] }: StepResult) {
  return startedAt !== null || steps.some(hasBegun)
}

/** The beginning of a text that is read whole only on request. */
export function beginningOf(text: string, most: number): { text: string; size: number } {
  const whole = shownText(text)
  return { text: whole.slice(0, most), size: whole.length }
}

/** Approvals are given in a terminal and nowhere else, so the page shows what to type there. */
export function nextLines({ journal, result, status, line }: RunShownNow) {
  const { runId } = result
  if (status === 'running') return []
  if (status === 'waiting' && journal.run.mode === 'stepper') {
    return [{ what: 'Show the step to be carried out', line: line('chain next', runId) }]
  }
  if (status === 'waiting') {
    const gates = walkResult(result).filter(
      ({ key, step }) => step.status === 'waiting' && journal.gates.has(key),
    )
    return gates.flatMap(({ step: { step } }) => {
      const which = gates.length > 1 ? ['--step', step] : []
      return [
        { what: `Approve ${step}`, line: line('runs approve', runId, which) },
        { what: `Reject ${step}`, line: line('runs reject', runId, which) },
      ]
    })
  }
  if (status === 'interrupted' || status === 'cancelled') {
    return [{ what: 'Continue', line: line('runs resume', runId) }]
  }
  return status === 'success' ? [] : [{ what: 'After a fix', line: line('runs retry', runId) }]
}

/** The steps of a chain from first to last; those in one unit run in parallel. */
export type Graph = readonly (readonly GraphNode[])[]

export type GraphNode = Omit<ReturnType<typeof nodeFacts>, 'inner'> & {
  inner?: Graph | undefined
}

export function graphOf({ steps, policy }: Pick<PlannedChain, 'steps' | 'policy'>): Graph {
  return unitsOf(steps, policy).map((unit) =>
    unit.map((step) => ({ ...nodeFacts(step), inner: isChain(step) ? graphOf(step) : undefined })),
  )
}

function nodeFacts(planned: PlannedStep) {
  const { step, skill, path, trust, digest, tokens } = planned
  return {
    step,
    label: stepLabel(planned),
    skill,
    path,
    trust,
    digest,
    tokens,
    by: isChain(planned) ? 'chain' : executorWords(planned),
    /** Its gate, conditions and limits, in the words of the file. */
    words: executionWords(planned),
  }
}
