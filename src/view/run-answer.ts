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
import {
  firstFailed,
  reworkTexts,
  statusMarks,
  stepDuration,
  stepOutcomeText,
} from '#chain/timeline'
import { approvalWaits, type ListedRail, railText } from '#chain/listed-run'
import { walkResult } from '#chain/step-result'
import type { RunJournal } from '#chain/run-journal'
import type { RunLine } from '#chain/run-line'
import { RunNotFoundError } from '#chain/errors'
import type { Settings } from '#core/settings'
import { printedText } from '#core/printed-text'
import { approveOptions } from '#project/gates'
import type { ShownGate } from '#project/view-approvals'
import { type QuestionFields, shownText, type TextAnswer, textPiece } from './questions.ts'

export interface RunShownNow {
  journal: Pick<RunJournal, 'updatedAt' | 'done' | 'gates' | 'diagnostics' | 'plan'> & {
    run: Pick<RunJournal['run'], 'mode' | 'at' | 'arguments'>
  }
  result: RunResult
  status: RunResult['status'] | 'running'
  rail?: ListedRail | undefined
  /** The gates that the run waits at. */
  gates?: readonly ShownGate[] | undefined
  /** At a gate, the steps that succeeded on other files than the working tree has now. */
  onOtherFiles?: readonly string[] | undefined
  /** Makes the command lines that continue the run. */
  line: RunLine
  settings: { rail: Pick<Settings['rail'], 'approval'> }
}

/** Limits for each step and attempt within the answer about a run, in characters and in items. */
const longestResult = 300
const maxErrors = 20
const longestMessage = 2000
const longestSaid = 200
const maxMetrics = 50
const maxTries = 20
const maxReworks = 100

/** A run with all of its steps, without their output: the page asks for that by step. */
export interface RunAnswer extends Pick<RunResult, 'runId' | 'skill' | 'winner'> {
  status: RunShownNow['status']
  mode: RunJournal['run']['mode']
  startedAt: string
  updatedAt: string
  arguments: RunJournal['run']['arguments']
  graph: Graph
  attempts: ShownAttempt[]
  /** The step whose failure made the run fail. */
  failedFirst: string | undefined
  /** The client whose session executes the run, its current step, and what it waits for. */
  rail: string | undefined
  /** The gates that the run waits at, with what the user decides on. */
  gates: readonly ShownGate[]
  /** At a gate, the steps that succeeded on other files than the working tree has now. */
  onOtherFiles: readonly string[]
  next: NextLine[]
  diagnostics: RunJournal['diagnostics']
}

interface ShownAttempt {
  attempt: number
  status: RunShownNow['status']
  steps: ShownStep[]
  errors: ShownError[]
  /** The rejections that led back, in words. */
  reworks: string[]
}

export function runAnswer(run: RunShownNow): RunAnswer {
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
      reworks: reworkTexts(attempt)
        .slice(0, maxReworks)
        .map((text) => beginningOf(text, longestMessage).text),
    })),
    winner: result.winner,
    failedFirst: firstFailed(result)?.step,
    rail: run.rail && railText(run.rail),
    gates: run.gates ?? [],
    onOtherFiles: run.onOtherFiles ?? [],
    next: nextLines(run),
    diagnostics: journal.diagnostics,
  }
}

export function stepPiece(
  { runId, attempts }: RunResult,
  { text, number }: QuestionFields,
): TextAnswer {
  const attempt = attempts.find((one) => one.attempt === number('attempt'))
  const step = attempt && stepIn(attempt, text('step'))
  if (!step) {
    const message = `the run ${runId} has no such step`
    throw new RunNotFoundError('step-not-found', message)
  }
  const part = text('part') === 'log' ? (step.log ?? '') : step.result
  return textPiece(printedText(part), number('from'))
}

function stepIn({ steps }: Pick<AttemptResult, 'steps'>, name: string): StepResult | undefined {
  for (const step of steps) {
    if (shownText(step.step) === name) return step
    const inner = stepIn({ steps: step.steps ?? [] }, name)
    if (inner) return inner
  }
  return undefined
}

/** Steps without a result. While the run continues, they are pending and not interrupted. */
function unfinishedSteps({ journal, result }: RunShownNow): Set<StepResult> {
  const open = walkResult(result).filter(
    ({ key, leaf, step }) =>
      !journal.done.has(key) && (leaf || step.status === 'cancelled' || step.status === 'not_run'),
  )
  return new Set(open.map(({ step }) => step))
}

/** A step of a run as the page lists it. */
export interface ShownStep extends ShownLine {
  steps?: readonly ShownStep[] | undefined
}

interface ShownLine extends Pick<
  StepResult,
  'step' | 'skill' | 'startedAt' | 'durationMs' | 'evidence' | 'reason' | 'sandbox' | 'hint'
> {
  status: StepResult['status'] | 'running' | 'pending'
  mark: string
  time: string
  said: string
  /** The attempts before this one, the newest last. */
  tries: { status: StepResult['status']; said: string; time: string }[]
  /** The beginning of the result, and the size of all of it in characters. */
  result: ShownBeginning
  log: { size: number } | undefined
  errors: ShownError[]
  metrics: [name: string, value: string][]
  attempts: AttemptResult['status'][] | undefined
  /** From 2, where a rejection led back. */
  round: number | undefined
}

export interface ShownBeginning {
  text: string
  /** Of the whole text, in characters. */
  size: number
}

interface ShownError {
  code: string
  message: string
}

function shownStep(step: StepResult, unfinished: ReadonlySet<StepResult>): ShownStep {
  const steps = step.steps?.map((inner) => shownStep(inner, unfinished))
  return { ...shownLine(step, unfinished), steps }
}

function shownLine(step: StepResult, unfinished: ReadonlySet<StepResult>): ShownLine {
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
    said: isOpen ? '' : beginningOf(stepOutcomeText(step), longestSaid).text,
    tries: (step.tries ?? []).slice(-maxTries).map((one) => ({
      status: one.status,
      said: beginningOf(stepOutcomeText(one), longestSaid).text,
      time: stepDuration(one),
    })),
    sandbox: step.sandbox,
    hint: step.hint,
    result: beginningOf(step.result, longestResult),
    log: step.log === undefined ? undefined : { size: printedText(step.log).length },
    errors: shownErrors(step.errors),
    metrics: Object.entries(step.metrics)
      .slice(0, maxMetrics)
      .map(([name, value]): [string, string] => [
        name,
        beginningOf(JSON.stringify(value), longestResult).text,
      ]),
    attempts: step.attempts?.map((attempt) => attempt.status),
    round: step.round,
  }
}

function shownErrors(errors: StepResult['errors'] = []): ShownError[] {
  return errors.slice(0, maxErrors).map(({ code, message }) => ({
    code,
    message: beginningOf(message, longestMessage).text,
  }))
}

const openMarks = { running: '▸', pending: '·' } as const

function hasBegun({ startedAt, steps = [] }: StepResult): boolean {
  return startedAt !== null || steps.some(hasBegun)
}

/** The beginning of a text; the page requests the rest separately. */
export function beginningOf(text: string, most: number): ShownBeginning {
  const whole = shownText(printedText(text))
  return { text: whole.slice(0, most), size: whole.length }
}

/** A command line that continues a run, and what it does. */
interface NextLine {
  what: string
  line: string
}

/** The command lines to type in a terminal. */
export function nextLines(run: RunShownNow): NextLine[] {
  const { journal, result, status, rail, line, settings } = run
  const { runId } = result
  if (status === 'running') return []
  // The session of the client executes the steps; only a gate needs something here.
  if (rail?.waitsFor !== undefined && rail.waitsFor !== approvalWaits) return []
  if (status === 'waiting' && journal.run.mode === 'stepper' && !rail?.waitsFor) {
    return [{ what: 'Show the step to be carried out', line: line('chain next', runId) }]
  }
  if (status === 'waiting') {
    const gates = walkResult(result).filter(
      ({ key, step }) => step.status === 'waiting' && journal.gates.has(key),
    )
    return gates.flatMap(({ step: { step } }) => {
      const which = gates.length > 1 ? ['--step', step] : []
      return [
        {
          what: `Approve ${step}`,
          line: line('runs approve', runId, [
            ...which,
            ...approveOptions(journal.plan, step, settings),
          ]),
        },
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

export interface GraphNode extends NodeFacts {
  /** The steps of a chain within the chain. */
  inner?: Graph | undefined
}

interface NodeFacts extends Pick<
  PlannedStep,
  'step' | 'skill' | 'path' | 'trust' | 'digest' | 'tokens'
> {
  label: string
  /** What executes it, in words. */
  by: string
  /** Its gate, conditions and limits, in the words of the file. */
  words: string[]
}

export function graphOf({ steps, policy }: Pick<PlannedChain, 'steps' | 'policy'>): Graph {
  return unitsOf(steps, policy).map((unit) =>
    unit.map((step) => ({ ...nodeFacts(step), inner: isChain(step) ? graphOf(step) : undefined })),
  )
}

function nodeFacts(planned: PlannedStep): NodeFacts {
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
    words: executionWords(planned),
  }
}
