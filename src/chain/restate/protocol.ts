import type { StepOutput } from '../../exec/index.ts'
import type { ChainResult, FinishedOutcome } from '../engine.ts'
import type { ApprovalRecord, GateRecord } from '../journal-records.ts'
import type { Plan, PlannedChain } from '../plan-model.ts'
import type { RunResult } from '../result.ts'
import type { ChainState } from '../state.ts'
import type { PausedChain } from './standstill.ts'

/** The one service that workers offer; its handlers are the names below. */
export const serviceName = 'skillrail'
export const handlerNames = { run: 'run', chain: 'chain', inspect: 'inspect' } as const

/**
 * Of what travels between command line, server and workers, and of the order in which a run uses its
 * journal. A worker gives back what is newer than itself.
 */
export const protocolVersion = 1

/** Bytes of the answer of a whole run; the server takes 32 MiB at most. */
export const maxAnswerBytes: number = 24 * 1024 * 1024

/** What every part of a run needs to know. All of this is JSON and is kept by the server. */
export interface RunFacts {
  version: number
  runId: string
  arguments: readonly string[]
  requireVerified: boolean
  /** Bound of a single skill whose chain sets none; 0 is no limit. */
  defaultTimeoutMs: number
  planDigest: string
  /** The caller approves every gate in advance. */
  yesGates: boolean
  /** What persons decided about gates, in earlier parts of the run too. */
  approvals?: readonly ApprovalRecord[] | undefined
  /** Results that this run starts with, by key: of another run, or of its own earlier part. */
  known: Readonly<Record<string, FinishedOutcome>>
}

/** Input of the handler `run`. */
export interface RunRequest extends RunFacts {
  plan: Plan
}

/** Output of the handler `run`. */
export interface RunAnswer {
  /** Of the plan that was run: a run id that was used twice is noticed by it. */
  planDigest: string
  result: RunResult
  /** What persons decided, wherever they were asked. */
  approvals?: readonly ApprovalRecord[] | undefined
}

/** What a run tells that waits for a person. */
export interface WaitingNotice {
  /** Who has this can answer. */
  awakeable: string
  gates: readonly GateRecord[]
  /** How far it came. */
  result: RunResult
}

/** The answer to a run that waits. It counts for the gates that it names exactly. */
export interface Decision {
  approvals: readonly ApprovalRecord[]
  /** The caller approves every further gate. */
  yesGates?: true | undefined
}

/** Input of the handler `chain`: a nested chain is an invocation of its own. */
export interface NestedRequest extends RunFacts {
  step: PlannedChain
  /** Its key in the run, and its attempt. */
  key: string
  attempt: number
  state: ChainState
  /** It goes on where it stood. */
  paused?: PausedChain | undefined
}

/** Output of the handler `chain`. */
export interface NestedAnswer {
  chain: ChainResult
  /** What it is for its parent; absent when it was ended from above. */
  output?: StepOutput | undefined
  log?: string | undefined
  startedAt: number
  durationMs: number
  /** It waits for a person. */
  paused?: PausedChain | undefined
}

/** Output of the handler `inspect`: who answers behind the balancer. */
export interface WorkerReport {
  worker: string
  skillrail: string
  version: number
  node: string
  host: string
  /** Milliseconds since the epoch, for noticing clocks that differ. */
  now: number
  skills: readonly { name: string; digest: string }[]
  /** Agent clients that it gives steps to. */
  clients?: readonly string[] | undefined
}
