import type { RunJournal } from '../chain/index.ts'

/** A run in the answer of `runs list --json`. */
export interface RunRow {
  runId: string
  skill: string
  status: string
  finishedSteps: number
  startedAt: string
  updatedAt: string
}

export function runRow(journal: RunJournal, status: string): RunRow {
  const { runId, skill, at } = journal.run
  return {
    runId,
    skill,
    status,
    finishedSteps: journal.done.size,
    startedAt: at,
    updatedAt: journal.updatedAt,
  }
}
