import { setTimeout as sleep } from 'node:timers/promises'
import type { Runtime } from '#core/runtime'
import type { ReportedError, StepOutput } from '#exec/output-protocol'
import { runChain } from './attempt.ts'
import type { RunResult, TaskCall } from './engine.ts'
import { RunBusyError, RunStateError } from './errors.ts'
import { createJournalEngine } from './journal-engine.ts'
import type { Plan, PlannedTask } from './plan-model.ts'
import { type ChainState, executionsOf, isFinal, walkResult } from './step-result.ts'
import type { Resumption } from './continuation.ts'
import { readResult, resumeRun, type RunSetup, startRun } from './run-chain.ts'
import type { RunLine } from './run-line.ts'
import type { RunJournal, RunRecord, RunRequest } from './run-journal.ts'

/** The next steps for an agent that drives a run, or why there are none. */
export type StepperAnswer = (
  | { kind: 'next'; next: readonly HandedStep[] }
  /** A user has to approve this step. */
  | { kind: 'approval'; step: string }
  | { kind: 'ended' | 'interrupted'; result: RunResult }
) & {
  runId: string
  dismissed?: DismissedReport | undefined
}

/** A report that came too late. `code` and `message` belong to the error that the step has instead. */
export interface DismissedReport extends ReportedError {
  step: string
}

export interface HandedStep {
  step: string
  skill: string
  /** Counts the executions of this step in the run, from 1. */
  attempt: number
  /** The time limit has passed; the next command that continues the run ends the step. */
  overdue?: true | undefined
  /** The results of the earlier steps, if this call handed out the step. */
  state?: ChainState | undefined
}

export interface NewStepperRun {
  plan: Plan
  arguments: readonly string[]
  /** How every later command plans the chain again. */
  request: RunRequest
  /** Whether a success that only the agent reports counts as a failure. */
  requireVerified: boolean
  /** The agent client whose hook enforces the run. */
  rail?: RunRecord['rail']
}

/** A run in progress, with the plan that this command made. */
export interface ContinuedRun {
  runId: string
  plan: Plan
  /** The arguments of the start. The journal does not store arguments with a secret. */
  arguments?: readonly string[] | undefined
}

export interface StepReport {
  step: string
  /** The attempt that was handed out; undefined for the current one. */
  attempt?: number | undefined
  output: StepOutput
  /** A check passed, or a user accepted the result, before this report. */
  isConfirmed?: true | undefined
}

/** Starts a run: executes scripts until a step has to be handed out. */
export async function startStepper(run: NewStepperRun, setup: RunSetup): Promise<StepperAnswer> {
  return await drive(setup, async (drivenSetup) =>
    startRun({ ...run, mode: 'stepper' }, drivenSetup),
  )
}

/**
 * Continues a run: executes scripts, enforces time limits, hands out steps.
 *
 * @throws {RunStateError} for a run that a user cancelled, as {@link reportStep} does
 */
export async function continueStepper(
  run: ContinuedRun,
  setup: RunSetup,
  prepare?: Resumption['prepare'],
): Promise<StepperAnswer> {
  const resumption = { ...run, prepare, refusesCancelled: true } as const
  return await drive(setup, async (drivenSetup) => resumeRun(resumption, drivenSetup))
}

/** Records an agent's report about a step that was handed out, then continues the run. */
export async function reportStep(
  run: ContinuedRun,
  report: StepReport,
  setup: RunSetup,
): Promise<StepperAnswer> {
  const { runId } = run
  let findDismissed: () => DismissedReport | undefined = () => undefined
  const prepare: Resumption['prepare'] = async (journal, append) => {
    // Reading a result changes the journal in memory, so it is read from a copy.
    const result = await readResult(setup.store.read(runId), setup.runtime)
    const key = keyOfReport(result, report, setup.line)
    findDismissed = () => dismissedReport(journal, key, report.step)
    const at = new Date(setup.runtime.now()).toISOString()
    const { output, isConfirmed } = report
    const record = { type: 'report', key, output, at, isConfirmed } as const
    append(record)
    journal.reports.set(key, record)
  }
  const answer = await inTurn(setup, async () => continueStepper(run, setup, prepare))
  return { ...answer, dismissed: findDismissed() }
}

/** Executes a stepper run and collects the chain state for each step that is handed out. */
export async function drive(
  setup: RunSetup,
  execute: (setup: RunSetup) => Promise<RunResult>,
): Promise<StepperAnswer> {
  const states = new Map<string, ChainState>()
  const onHandOut = ({ key, state }: TaskCall): void => void states.set(key, state)
  return stepperAnswer(await execute({ ...setup, onHandOut }), states)
}

/**
 * Returns the scripts that the next command on the run would start first. Executes nothing.
 *
 * @param journal read for this call alone, since the search changes it in memory
 */
export async function dueScripts(journal: RunJournal, clock: Runtime): Promise<PlannedTask[]> {
  const calls = await dueCalls(journal, clock)
  return calls.map(({ step }) => step).filter(({ executor }) => executor === 'script')
}

/** Returns the steps that are due or handed out. Changes the journal as {@link dueScripts} does. */
export async function dueCalls(journal: RunJournal, clock: Runtime): Promise<TaskCall[]> {
  const calls: TaskCall[] = []
  const onDue = (call: TaskCall): void => void calls.push(call)
  await runChain(
    journal.plan.root,
    createJournalEngine({ journal, clock, countsAbsence: true, onDue }),
  )
  return calls
}

/**
 * Returns what an agent has to do after a result.
 *
 * @param states the chain state for each step, by key
 */
export function stepperAnswer(
  result: RunResult,
  states: ReadonlyMap<string, ChainState> = new Map(),
): StepperAnswer {
  const { runId, status } = result
  if (status !== 'waiting') {
    return { kind: isFinal(status) ? 'ended' : 'interrupted', runId, result }
  }
  const next = handedSteps(result).map(({ key, ...step }) => ({ ...step, state: states.get(key) }))
  if (next.length > 0) return { kind: 'next', runId, next }
  const waitingStep = walkResult(result).find(({ leaf, step }) => leaf && step.status === 'waiting')
  return { kind: 'approval', runId, step: waitingStep?.step.step ?? '' }
}

const patienceMs = 10_000

/** Waits while another process has the run: reports about the steps of a group may come at once. */
async function inTurn<T>({ runtime, signal }: RunSetup, work: () => Promise<T>): Promise<T> {
  const start = runtime.elapsed()
  for (;;) {
    try {
      return await work()
    } catch (error) {
      const isBusy = error instanceof RunBusyError && !signal.aborted
      if (!isBusy || runtime.elapsed() - start > patienceMs) throw error
      await sleep(50)
    }
  }
}

/** Returns a report that came after the time limit of its step, or of a chain above it. */
function dismissedReport(
  journal: RunJournal,
  key: string,
  step: string,
): DismissedReport | undefined {
  const outcome = journal.done.get(key)?.outcome
  const isReported = outcome?.kind === 'finished'
  if (isReported && outcome.output.evidence !== 'self-reported') return undefined
  const errors = isReported ? outcome.output.errors : chainsAbove(key).flatMap(errorsOf)
  const error = errors.find(({ code }) => code === 'timeout')
  return error && { step, ...error }

  function errorsOf(chain: string): readonly ReportedError[] {
    const outcome = journal.done.get(chain)?.outcome
    return outcome?.kind === 'finished' ? outcome.output.errors : []
  }
}

function chainsAbove(key: string): string[] {
  const end = key.lastIndexOf('/')
  return end === -1 ? [] : [key.slice(0, end), ...chainsAbove(key.slice(0, end))]
}

function keyOfReport(result: RunResult, { step, attempt }: StepReport, line: RunLine): string {
  const { runId } = result
  const waiting = handedSteps(result)
  const current = waiting.find((candidate) => candidate.step === step)
  if (current && (attempt ?? current.attempt) === current.attempt) return current.key
  const names = waiting.map((candidate) => candidate.step).join(', ')
  let message = `the run ${runId} waits for a report about ${names}`
  if (waiting.length === 0) message = `the run ${runId} waits for no report`
  if (current) message = `attempt ${current.attempt} of ${step} waits for a report`
  const hint = `See: ${line('chain next', runId)}`
  throw new RunStateError('report-refused', message, hint)
}

/** The steps that wait for a report. */
function handedSteps(result: RunResult): (HandedStep & { key: string })[] {
  const attempts = new Map(executionsOf(result).map(({ key, attempt }) => [key, attempt]))
  const waiting = walkResult(result).filter(({ step }) => step.status === 'waiting')
  const late = waiting.filter(({ step }) => step.errors.some(({ code }) => code === 'timeout'))
  return waiting.flatMap(({ key, leaf, step: { step, skill, startedAt } }) => {
    if (!leaf || startedAt === null) return []
    const overdue = late.some((one) => `${key}/`.startsWith(`${one.key}/`)) || undefined
    return { key, step, skill, attempt: attempts.get(key) ?? 1, overdue }
  })
}
