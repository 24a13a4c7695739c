import { allSteps, isChain, stepOfKey } from './plan-model.ts'
import { voidKeys } from './rework.ts'
import type { RunJournal } from './run-journal.ts'
import { statusOfRun } from './step-result.ts'

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
  /** ISO 8601, as is `updatedAt`. */
  startedAt: string
  updatedAt: string
  /** The run was imported, and can only be shown. */
  imported?: true | undefined
}

export function listedRun(journal: RunJournal, serverStatus?: string): ListedRun {
  const { runId, skill, at, imported } = journal.run
  const voidResults = voidKeys(journal)
  const done = new Set(
    [...journal.done.keys()].filter((key) => !voidResults.has(key)).map((key) => stepOfKey(key)),
  )
  const steps = allSteps(journal.plan.root).filter(
    (step) => !isChain(step) && step.excluded !== true,
  )
  return {
    runId,
    skill,
    status: serverStatus ?? statusOfRun(journal, journal.path),
    arguments: journal.run.arguments,
    steps: steps.length,
    finishedSteps: steps.filter(({ step }) => done.has(step)).length,
    startedAt: at,
    updatedAt: journal.updatedAt,
    imported: imported && (true as const),
  }
}
