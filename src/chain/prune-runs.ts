import type { RunJournal } from './run-journal.ts'
import { statusOfRun } from './run-status.ts'
import type { RunStore } from './run-store.ts'

export interface PruneChoice {
  /** Only runs whose last record is older. */
  olderThanMs?: number | undefined
  /** The newest so many runs stay. */
  keep?: number | undefined
  /** Also runs that could still go on; never one that a process executes. */
  unfinished?: boolean | undefined
  now: number
}

/** The runs that a choice would delete, the newest first. */
export function prunableRuns(store: RunStore, choice: PruneChoice): RunJournal[] {
  const { runs } = store.list()
  return runs
    .slice(choice.keep ?? 0)
    .filter(
      (run) =>
        choice.olderThanMs === undefined ||
        choice.now - Date.parse(run.updatedAt) > choice.olderThanMs,
    )
    .filter((run) => mayGo(run, choice.unfinished === true))
}

function mayGo(run: RunJournal, unfinished: boolean): boolean {
  const status = statusOfRun(run, run.path)
  if (status === 'running') return false
  return unfinished || status === 'success' || status === 'failure' || status === 'critical'
}
