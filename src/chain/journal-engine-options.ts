import type { Runtime } from '../base/index.ts'
import type { EventListener } from './events.ts'
import type { RecordWriter } from './record-writer.ts'
import type { RunJournal } from './run-journal.ts'
import type { StepRunner } from './step-runner.ts'

export interface JournalEngineOptions {
  /** Everything recorded so far. */
  journal: RunJournal
  /** Undefined for looking only. */
  writer?: RecordWriter | undefined
  /** Executes steps; undefined for looking only, and where only a decision has to take effect. */
  runner?: StepRunner | undefined
  clock: Pick<Runtime, 'now' | 'elapsed'>
  /** Interrupts the run: what runs is ended and has no result, so that a resume repeats it. */
  signal?: AbortSignal | undefined
  onEvent?: EventListener | undefined
  /** The caller of the run approves every gate in advance. */
  yesGates?: boolean | undefined
  /** Bound of a single skill whose chain sets none; 0 is no limit. */
  defaultTimeoutMs?: number | undefined
  /** The time-out of a nested chain also counts while no process of ours runs. */
  countsAbsence?: boolean | undefined
}
