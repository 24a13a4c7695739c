import { allSteps, isChain, stepOfKey } from './plan-model.ts'
import { voidKeys } from './rework.ts'
import type { RunJournal } from './run-journal.ts'
import { isFailed, isFinal, statusOfRun } from './step-result.ts'

/** A run as a list shows it. */
export interface ListedRun {
  runId: string
  skill: string
  /** The status in the journal, or the current status on the run's server. */
  status: string
  arguments: readonly string[]
  /** Counts the plan's steps, except excluded ones and chains. */
  steps: number
  finishedSteps: number
  /** Those of the finished steps that failed. */
  failedSteps: number
  /** ISO 8601, as is `updatedAt`. */
  startedAt: string
  updatedAt: string
  /** The run was imported, and can only be shown. */
  imported?: true | undefined
  /** The session of an agent client executes it. */
  rail?: ListedRail | undefined
}

/** A rail as a list shows it. */
export interface ListedRail {
  /** As in `--client`: `claude`. */
  client: string
  /** The current step, or the one whose gate waits. */
  step?: string | undefined
  /** What has to happen next: `your approval`, `the agent`. Undefined after the end. */
  waitsFor?: string | undefined
}

/** What a rail at a gate waits for. */
export const approvalWaits = 'your approval'

/** Describes a rail in a few words: `claude: publish, waits for your approval`. */
export function railText({ client, step, waitsFor }: ListedRail): string {
  const parts = [step, waitsFor && `waits for ${waitsFor}`].filter((part) => part !== undefined)
  return parts.length === 0 ? client : `${client}: ${parts.join(', ')}`
}

/** Counts the steps of a run: `4/5, 1 failed, 1 not run`. */
export function stepCounts({ status, steps, finishedSteps, failedSteps }: ListedRun): string {
  const unrun = isFinal(status) ? steps - finishedSteps : 0
  return [
    `${finishedSteps}/${steps}`,
    ...(failedSteps > 0 ? [`${failedSteps} failed`] : []),
    ...(unrun > 0 ? [`${unrun} not run`] : []),
  ].join(', ')
}

/** @param rail the open rail of the run; after its end the journal knows the client alone */
export function listedRun(
  journal: RunJournal,
  { serverStatus, rail }: { serverStatus?: string | undefined; rail?: ListedRail | undefined } = {},
): ListedRun {
  const { runId, skill, at, imported } = journal.run
  const voidResults = voidKeys(journal)
  // The last attempt of a step counts.
  const outcomes = new Map(
    [...journal.done].flatMap(([key, { outcome }]) =>
      voidResults.has(key) ? [] : [[stepOfKey(key), outcome]],
    ),
  )
  const steps = allSteps(journal.plan.root).filter(
    (step) => !isChain(step) && step.excluded !== true,
  )
  const finished = steps.flatMap(({ step }) => outcomes.get(step) ?? [])
  return {
    runId,
    skill,
    status: serverStatus ?? statusOfRun(journal, journal.path),
    arguments: journal.run.arguments,
    steps: steps.length,
    finishedSteps: finished.length,
    failedSteps: finished.filter((one) => one.kind === 'finished' && isFailed(one.output.status))
      .length,
    startedAt: at,
    updatedAt: journal.updatedAt,
    imported: imported && (true as const),
    rail: listedRail(journal, rail),
  }
}

/** The rail of a run: with its state while it is open, then the client alone. */
export function listedRail(
  journal: RunJournal,
  open: ListedRail | undefined,
): ListedRail | undefined {
  const { rail } = journal.run
  if (!open) return rail && { client: rail.client }
  return { ...open, step: open.step ?? waitingStep(journal) }
}

/** Returns the step of the last gate without a decision. */
function waitingStep({ status, gates, approvals }: RunJournal): string | undefined {
  if (status !== 'waiting') return undefined
  return [...gates.values()].findLast(({ key }) => !approvals.has(key))?.step
}
