import { redactValue } from '../base/index.ts'
import type { ReportedError, StepOutput } from '../exec/index.ts'
import { RunStateError } from './errors.ts'
import type { Plan } from './plan-model.ts'
import type { RunResult } from './result.ts'
import { resumeRun, type RunWorld, startRun } from './run-chain.ts'
import type { RunJournal } from './run-journal.ts'
import type { RunRequest } from './journal-records.ts'
import { walkResult } from './walk-result.ts'

/** Where a run stands that an agent is driven through. */
export type StepperAnswer = (
  | { kind: 'next'; runId: string; next: readonly HandedStep[] }
  | { kind: 'approval'; runId: string; step: string }
  | { kind: 'ended'; runId: string; result: RunResult }
  | { kind: 'interrupted'; runId: string; result: RunResult }
) & {
  /** The report that led here came too late and does not count. */
  dismissed?: DismissedReport | undefined
}

/** `code` and `message` are those of the error that the step has instead. */
export interface DismissedReport extends ReportedError {
  step: string
}

/** A step that waits for the report of the agent. Those of a parallel group come together. */
export interface HandedStep {
  step: string
  skill: string
  attempt: number
  /** Its time is over; what goes on with the run will say so. Never of a step just handed out. */
  overdue?: true | undefined
}

/** Begins to drive an agent through a chain: everything up to the first steps that it must do. */
export async function startStepper(
  plan: Plan,
  run: { arguments: readonly string[]; request: RunRequest; requireVerified: boolean },
  world: RunWorld,
): Promise<StepperAnswer> {
  return stepperAnswer(await startRun({ ...run, plan, mode: 'stepper' }, world))
}

/** Where it stands now: runs what is ours to run, enforces time-outs, hands out again. */
export async function continueStepper(
  runId: string,
  plan: Plan,
  world: RunWorld,
): Promise<StepperAnswer> {
  return stepperAnswer(await resumeRun({ runId, plan }, world))
}

/**
 * Records what the agent reports about a step, and goes on.
 * @throws {RunStateError} for a step that was not handed out, or was reported already.
 */
export async function reportStep(
  report: { runId: string; step: string; output: StepOutput },
  plan: Plan,
  world: RunWorld,
): Promise<StepperAnswer> {
  const { runId } = report
  let reported = ''
  const result = await resumeRun(
    {
      runId,
      plan,
      prepare(journal, append) {
        const key = keyOfHanded(journal, report.step)
        reported = key
        const at = new Date(world.runtime.now()).toISOString()
        const record = { type: 'report', key, output: redactValue(report.output), at } as const
        append(record)
        journal.reports.set(key, record)
      },
    },
    world,
  )
  const dismissed = dismissedReport(world.store.read(runId), reported, report.step)
  return { ...stepperAnswer(result), ...(dismissed === undefined ? {} : { dismissed }) }
}

/** A time-out that the agent is to vouch for is one of its report, not of its verification. */
function dismissedReport(
  journal: RunJournal,
  key: string,
  step: string,
): DismissedReport | undefined {
  const outcome = journal.done.get(key)?.outcome
  if (outcome?.kind !== 'finished' || outcome.output.evidence !== 'self-reported') return undefined
  const [error] = outcome.output.errors
  return error?.code === 'timeout' ? { step, ...error } : undefined
}

/** The steps that wait for a report, as recorded. */
export function handedSteps(journal: RunJournal): { key: string; step: string }[] {
  return [...journal.handed.keys()]
    .filter((key) => !journal.done.has(key) && !journal.reports.has(key))
    .map((key) => ({ key, step: stepOfKey(key) }))
}

function keyOfHanded(journal: RunJournal, step: string): string {
  const handed = handedSteps(journal)
  const found = handed.find((candidate) => candidate.step === step)
  if (found !== undefined) return found.key
  const names = handed.map((candidate) => candidate.step).join(', ')
  const { runId } = journal.run
  throw new RunStateError({
    code: 'report-refused',
    message:
      handed.length === 0
        ? `the run ${runId} waits for no report`
        : `the run ${runId} waits for a report about ${names}, not about ${step}`,
    hint: `skillrail chain next ${runId} shows what is to be done now.`,
  })
}

/** The id of a step in the plan: its key without the attempts. */
function stepOfKey(key: string): string {
  return key.replace(/(^|\/)\d+:/g, '$1')
}

/** Where a result leaves the agent. */
export function stepperAnswer(result: RunResult): StepperAnswer {
  const { runId } = result
  if (result.status === 'interrupted' || result.status === 'cancelled') {
    return { kind: 'interrupted', runId, result }
  }
  if (result.status !== 'waiting') return { kind: 'ended', runId, result }
  const waiting = walkResult(result).filter(
    (walked) => walked.leaf && walked.step.status === 'waiting',
  )
  const next = waiting
    .filter((walked) => walked.step.startedAt !== null)
    .map(({ attempt, step: { step, skill, errors } }) => {
      const overdue = errors.some((error) => error.code === 'timeout')
      return { step, skill, attempt, ...(overdue ? { overdue } : {}) }
    })
  if (next.length > 0) return { kind: 'next', runId, next }
  return { kind: 'approval', runId, step: waiting[0]?.step.step ?? '' }
}
