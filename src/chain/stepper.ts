import { setTimeout as sleep } from 'node:timers/promises'
import type { ReportedError, StepOutput } from '#exec/output-protocol'
import type { RunResult, TaskCall } from './engine.ts'
import { RunBusyError, RunStateError } from './errors.ts'
import type { Plan } from './plan-model.ts'
import { type ChainState, executionsOf, isFinal, walkResult } from './step-result.ts'
import { readResult, resumeRun, type Resumption, type RunSetup, startRun } from './run-chain.ts'
import type { RunLine } from './run-line.ts'
import type { RunJournal, RunRequest } from './run-journal.ts'

export type StepperAnswer = (
  | { kind: 'next'; next: readonly HandedStep[] }
  | { kind: 'approval'; step: string }
  | { kind: 'ended' | 'interrupted'; result: RunResult }
) & {
  runId: string
  dismissed?: DismissedReport | undefined
}

/** `code` and `message` are those of the error that the step has instead. */
export interface DismissedReport extends ReportedError {
  step: string
}

export interface HandedStep {
  step: string
  skill: string
  attempt: number
  /** Its time is over; what continues the run will say so. Never of a step just handed out. */
  overdue?: true | undefined
  state?: ChainState | undefined
}

export async function startStepper(
  plan: Plan,
  run: { arguments: readonly string[]; request: RunRequest; requireVerified: boolean },
  setup: RunSetup,
): Promise<StepperAnswer> {
  return await drive(setup, async (driven) => startRun({ ...run, plan, mode: 'stepper' }, driven))
}

/**
 * Continues a driven run: executes scripts, enforces time-outs, hands out steps. `given` are the
 * arguments of the run, where they held a secret and were not kept. Throws {@link RunStateError}
 * for a cancelled run, as {@link reportStep} does.
 */
export async function continueStepper(
  runId: string,
  plan: Plan,
  setup: RunSetup,
  given?: readonly string[],
  prepare?: Resumption['prepare'],
): Promise<StepperAnswer> {
  const resumption = { runId, plan, prepare, arguments: given, refusesCancelled: true } as const
  return await drive(setup, async (driven) => resumeRun(resumption, driven))
}

export async function drive(
  setup: RunSetup,
  go: (setup: RunSetup) => Promise<RunResult>,
): Promise<StepperAnswer> {
  const states = new Map<string, ChainState>()
  const onHandOut = ({ key, state }: TaskCall): void => void states.set(key, state)
  return stepperAnswer(await go({ ...setup, onHandOut }), states)
}

export async function reportStep(
  report: { runId: string; step: string; attempt?: number | undefined; output: StepOutput },
  plan: Plan,
  setup: RunSetup,
  given?: readonly string[],
): Promise<StepperAnswer> {
  const { runId } = report
  let find: () => DismissedReport | undefined = () => undefined
  const prepare: Resumption['prepare'] = async (journal, append) => {
    // Looking leaves marks in what is looked at.
    const result = await readResult(setup.store.read(runId), setup.runtime)
    const key = keyOfHanded(result, report, setup.line)
    find = () => dismissedReport(journal, key, report.step)
    const at = new Date(setup.runtime.now()).toISOString()
    const record = { type: 'report', key, output: report.output, at } as const
    append(record)
    journal.reports.set(key, record)
  }
  const answer = await inTurn(setup, async () =>
    continueStepper(runId, plan, setup, given, prepare),
  )
  return { ...answer, dismissed: find() }
}

const patienceMs = 10_000

/** Reports about the steps of a group may come at once. */
async function inTurn<T>({ runtime, signal }: RunSetup, go: () => Promise<T>): Promise<T> {
  const start = runtime.elapsed()
  for (;;) {
    try {
      return await go()
    } catch (error) {
      const isBusy = error instanceof RunBusyError && signal?.aborted !== true
      if (!isBusy || runtime.elapsed() - start > patienceMs) throw error
      await sleep(50)
    }
  }
}

/** Its time was over before the report: its own, or that of a chain above. */
function dismissedReport(journal: RunJournal, key: string, step: string) {
  const outcome = journal.done.get(key)?.outcome
  const isReported = outcome?.kind === 'finished'
  if (isReported && outcome.output.evidence !== 'self-reported') return undefined
  const errors = isReported ? outcome.output.errors : chainsAbove(key).flatMap(errorsOf)
  const error = errors.find(({ code }) => code === 'timeout')
  return error && { step, ...error }

  function errorsOf(chain: string): readonly ReportedError[] {
    const ended = journal.done.get(chain)?.outcome
    return ended?.kind === 'finished' ? ended.output.errors : []
  }
}

function chainsAbove(key: string): string[] {
  const end = key.lastIndexOf('/')
  return end === -1 ? [] : [key.slice(0, end), ...chainsAbove(key.slice(0, end))]
}

function keyOfHanded(
  result: RunResult,
  { runId, step, attempt }: Parameters<typeof reportStep>[0],
  line: RunLine,
): string {
  const handed = handedSteps(result)
  const found = handed.find((candidate) => candidate.step === step)
  if (found && (attempt ?? found.attempt) === found.attempt) return found.key
  const names = handed.map((candidate) => candidate.step).join(', ')
  let message = `the run ${runId} waits for a report about ${names}`
  if (handed.length === 0) message = `the run ${runId} waits for no report`
  if (found) message = `attempt ${found.attempt} of ${step} waits for a report`
  const hint = `See: ${line('chain next', runId)}`
  throw new RunStateError('report-refused', message, hint)
}

/** What an agent is to report about, with the number of its execution in the run. */
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

/** Where a result leaves the agent. `states`: what each step gets of those before it, by key. */
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
  const asked = walkResult(result).find(({ leaf, step }) => leaf && step.status === 'waiting')
  return { kind: 'approval', runId, step: asked?.step.step ?? '' }
}
