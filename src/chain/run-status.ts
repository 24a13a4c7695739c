import { existsSync } from 'node:fs'
import { acquireFileLock } from '../base/index.ts'
import type { RunStatus } from './result.ts'
import type { RunJournal } from './run-journal.ts'

/** How a run stands now: `running` while a process holds it, `interrupted` when none does. */
export function statusOfRun(journal: RunJournal, path: string): RunStatus | 'running' {
  if (isHeld(path)) return 'running'
  return journal.status ?? (journal.run.mode === 'stepper' ? 'waiting' : 'interrupted')
}

/** Whether a live process executes the run of this journal. */
export function isHeld(path: string): boolean {
  if (!existsSync(`${path}.lock`)) return false
  const attempt = acquireFileLock(path)
  if (!attempt.ok) return true
  attempt.release()
  return false
}
