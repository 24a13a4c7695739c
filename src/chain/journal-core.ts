import type { Runtime } from '../core/runtime.ts'
import type { ChainCall, ChainResult, Engine, EventListener, Outcome, TaskCall } from './engine.ts'
import type { RecordWriter, RunJournal } from './run-journal.ts'
import type { StepRunner } from './step-runner.ts'

export interface JournalEngineOptions {
  journal: RunJournal
  writer?: RecordWriter | undefined
  /** Executes steps; undefined for looking only, and where only a decision has to take effect. */
  runner?: StepRunner | undefined
  clock: Pick<Runtime, 'now' | 'elapsed'>
  /** Interrupts the run: what runs is ended and has no result, so that a resume repeats it. */
  signal?: AbortSignal | undefined
  onEvent?: EventListener | undefined
  /** The caller of the run approves every gate in advance. */
  yesGates?: boolean | undefined
  defaultTimeoutMs?: number | undefined
  /** The time-out of a nested chain also counts while no process runs. */
  countsAbsence?: boolean | undefined
}

export interface EngineCore extends JournalEngineOptions {
  interruption: AbortController
  launched: Set<Promise<void>>
  /** The journal could not be written: the run stops where it is. */
  failure: { error: unknown } | undefined
  /** Position of the next record of a result. */
  order: number
  engineFor(scope: AbortSignal): Engine
}

export interface EntryBase {
  key: string
  /** Aborted when the chain above is ended. */
  scope: AbortSignal
  controller: AbortController
  outcome: Outcome | undefined
  order: number
  ending?: Promise<void> | undefined
  started?: boolean | undefined
}

export type Announced =
  | { kind: 'task'; call: TaskCall }
  | { kind: 'chain'; call: ChainCall; body: (engine: Engine) => Promise<ChainResult> }

export type Entry = EntryBase & Announced
