import type { RunJournal } from '../chain/index.ts'
import type { ListedRun } from '../view/index.ts'

export function runRow(journal: RunJournal, status: string): ListedRun {
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
