import type { RunStatus, StepResultStatus } from './result.ts'
import type { Suspension } from './engine.ts'

/** What happens in a run while it happens; one NDJSON line each with `--events`. Times ISO 8601. */
export type ChainEvent =
  | { type: 'run-started'; runId: string; skill: string; steps: number; at: string }
  | { type: 'step-started'; key: string; step: string; skill: string; chain: boolean; at: string }
  | { type: 'step-output'; key: string; step: string; stream: 'stdout' | 'stderr'; text: string }
  | {
      type: 'step-finished'
      key: string
      step: string
      skill: string
      chain: boolean
      status: StepResultStatus
      result: string
      /** The message of its first error. */
      error?: string | undefined
      /** The sandbox that it ran in, where it did. */
      sandbox?: string | undefined
      /** 0 for a cancelled step of which nobody knows it. */
      durationMs: number
      at: string
      /** It was finished before; only its recorded result was read. */
      replayed: boolean
    }
  | { type: 'step-suspended'; key: string; step: string; why: Suspension; at: string }
  | { type: 'run-finished'; runId: string; status: RunStatus; at: string }

export type EventListener = (event: ChainEvent) => void
