import { acquireFileLock, type Diagnostic, reasonOf } from '../base/index.ts'
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

/**
 * Deletes runs, each under its lock: one that a process has taken up since it was chosen stays, and
 * is left out of the answer. What cannot be deleted is a problem of that run alone.
 */
export function removeRuns(
  store: RunStore,
  runIds: readonly string[],
): { removed: string[]; diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = []
  const removed = runIds.filter((runId) => {
    try {
      return removeAlone(store, runId)
    } catch (error) {
      const reason = reasonOf(error)
      const message = `the run ${runId} could not be removed: ${reason}`
      const hint = 'Give yourself the right to delete its files, or end what uses them.'
      const path = store.pathOf(runId)
      diagnostics.push({ code: 'run-not-removed', severity: 'error', message, path, hint })
      return false
    }
  })
  return { removed, diagnostics }
}

function removeAlone(store: RunStore, runId: string): boolean {
  const lock = acquireFileLock(store.pathOf(runId))
  if (!lock.ok) return false
  try {
    store.remove(runId)
    return true
  } finally {
    lock.release()
  }
}

function mayGo(run: RunJournal, unfinished: boolean): boolean {
  const status = statusOfRun(run, run.path)
  if (status === 'running') return false
  return unfinished || status === 'success' || status === 'failure' || status === 'critical'
}
