import { lockHolder } from '../base/index.ts'
import type { RunStatus } from './result.ts'
import type { RunJournal } from './run-journal.ts'

/** How a run stands now: `running` while a process holds it, `interrupted` when none does. */
export function statusOfRun(journal: RunJournal, path: string): RunStatus | 'running' {
  if (lockHolder(path) !== undefined) return 'running'
  return journal.status ?? (journal.run.mode === 'stepper' ? 'waiting' : 'interrupted')
}
