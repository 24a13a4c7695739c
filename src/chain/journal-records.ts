import type { StepOutput } from '../exec/index.ts'
import type { JsonValue } from '../skill/index.ts'
import type { CancelledStep, FinishedOutcome } from './engine.ts'
import type { Plan } from './plan-model.ts'
import type { RunStatus } from './result.ts'

/**
 * The format of our journals; 2 added the sums of lines. A file of another version is refused, never
 * touched. The first line has its version and its sum at the same places in every format from 2 on.
 */
export const journalVersion = 2

/** The first record: everything a run needs to be continued. Times are ISO 8601. */
export interface RunRecord {
  type: 'run'
  version: typeof journalVersion
  runId: string
  skill: string
  at: string
  /** `stepper`: an agent is driven through it. */
  mode: 'run' | 'stepper'
  /** Secrets masked; `argumentsDigest` is that of the arguments as they were given. */
  arguments: readonly string[]
  argumentsDigest: string
  requireVerified: boolean
  /** The skill as the caller named it, and what changed its plan, to plan it again. */
  request: RunRequest
  plan: Plan
  /** The run whose results this one reuses. */
  origin?: { runId: string; kind: 'retry' | 'fork' } | undefined
  /** Where scripts that are not trusted run; absent when the caller gave nothing. */
  confinement?: ConfinementRecord | undefined
  /** The server that executes it; absent when this machine does. */
  server?: ServerRecord | undefined
}

/**
 * A sandbox with what was granted, or `off` after `--unsafe-no-sandbox`. A record only: it is given
 * again with every command, because a project could bring journals of its own.
 */
export type ConfinementRecord =
  | { sandbox: 'off' }
  | {
      sandbox: string
      read: readonly string[]
      write: readonly string[]
      network: boolean
      /** Names alone. */
      environment: readonly string[]
    }

export interface ServerRecord {
  engine: 'restate'
  url: string
  adminUrl: string
}

export interface RunRequest {
  /** Directory of the skill, relative to the workspace where it lies inside. */
  directory: string
  /** `--set` as given. */
  set: readonly string[]
  from?: string | undefined
  only?: string | undefined
  /** The agent client of `--via`. */
  via?: string | undefined
  /** The model of `--model`, where it is (`--base-url`), and its built-in tools (`--tools`). */
  model?: string | undefined
  baseUrl?: string | undefined
  tools?: string | undefined
}

/** A step began: written before anything of it acts. */
export interface StartRecord {
  type: 'start'
  key: string
  at: string
}

/** A step ended; its result is final, also after a crash. */
export interface DoneRecord {
  type: 'done'
  key: string
  outcome: FinishedOutcome | ({ kind: 'cancelled' } & CancelledStep)
  /** Taken over from another run. */
  reused?: true | undefined
}

/** The outcome that a record stands for, marked where it was taken over. */
export function recordedOutcome({ outcome, reused }: DoneRecord): DoneRecord['outcome'] {
  return reused === true && outcome.kind === 'finished' ? { ...outcome, reused } : outcome
}

/** A value that the interpreter decided once. */
export interface DecidedRecord {
  type: 'decided'
  key: string
  value: JsonValue
}

/** A step waits for a person; `stateDigest` names the outputs that the person is shown. */
export interface GateRecord {
  type: 'gate'
  key: string
  step: string
  attempt: number
  planDigest: string
  stateDigest: string
  at: string
}

/** What a person decided about exactly one gate. */
export interface ApprovalRecord {
  type: 'approval'
  key: string
  approved: boolean
  planDigest: string
  stateDigest: string
  /** `person`: at a terminal; `caller`: `--yes-gates` of the run. */
  by: 'person' | 'caller'
  at: string
}

/** A step was handed out to the agent that is driven. */
export interface HandedRecord {
  type: 'handed'
  key: string
  at: string
}

/** What the agent reported. */
export interface ReportRecord {
  type: 'report'
  key: string
  output: StepOutput
  at: string
}

/** The run was taken up again, perhaps with a changed plan. */
export interface ResumedRecord {
  type: 'resumed'
  at: string
  plan?: Plan | undefined
  confinement?: ConfinementRecord | undefined
}

/** The run stands: it ended, was cancelled or interrupted, or waits. The last one counts. */
export interface StatusRecord {
  type: 'status'
  status: RunStatus
  at: string
}

export type ChainRecord =
  | RunRecord
  | StartRecord
  | DoneRecord
  | DecidedRecord
  | GateRecord
  | ApprovalRecord
  | HandedRecord
  | ReportRecord
  | ResumedRecord
  | StatusRecord
