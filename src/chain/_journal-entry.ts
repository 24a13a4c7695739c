import type { ChainCall, ChainResult, Engine, Outcome, TaskCall } from './engine.ts'
import type { JournalEngineOptions } from './journal-engine-options.ts'

/** What the engines of all levels of a run share. */
export interface EngineCore extends JournalEngineOptions {
  interruption: AbortController
  launched: Set<Promise<void>>
  /** The journal could not be written: the run stops where it is. */
  failure: { error: unknown } | undefined
  /** Position of the next record of a result. */
  order: number
  engineFor(scope: AbortSignal): Engine
}

interface EntryBase {
  key: string
  /** Aborted when the chain above is ended. */
  scope: AbortSignal
  controller: AbortController
  outcome: Outcome | undefined
  order: number
  /** Present once it was launched. */
  ending?: Promise<void> | undefined
  /** Whether it really began: not where a gate or a stop kept it back. */
  started?: boolean | undefined
}

export type Announced =
  | { kind: 'task'; call: TaskCall }
  | { kind: 'chain'; call: ChainCall; body: (engine: Engine) => Promise<ChainResult> }

export type Entry = EntryBase & Announced
