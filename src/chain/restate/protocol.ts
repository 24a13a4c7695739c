import type { StepOutput } from '../../exec/output-protocol.ts'
import type { JsonValue } from '../../skill/model.ts'
import type { CancelledStep, ChainResult, FinishedOutcome, Outcome, RunResult } from '../engine.ts'
import type { GateFacts } from '../gates.ts'
import type { ApprovalRecord, GateRecord } from '../journal-records.ts'
import type { Plan, PlannedChain } from '../plan-model.ts'
import { type ChainState, emptyState } from '../state.ts'
import { changeSteps } from '../step-result.ts'

export const serviceName = 'skillrail'
export const handlerNames = { run: 'run', chain: 'chain', inspect: 'inspect' } as const

/**
 * The version of what travels between command line, server and workers, and of the order of a run's
 * journal. A worker gives back what is newer.
 */
export const protocolVersion = 2

/** Bytes of the answer of a whole run; the server takes 32 MiB at most. */
const maxAnswerBytes: number = 24 * 1024 * 1024

export interface RunFacts {
  version: number
  runId: string
  arguments: readonly string[]
  requireVerified: boolean
  /** Bound of a single skill whose chain sets none; 0 means no limit. */
  defaultTimeoutMs: number
  planDigest: string
  yesGates: boolean
  /** What users decided about gates, in earlier parts of the run too. */
  approvals?: readonly ApprovalRecord[] | undefined
  /** Results that this run starts with, by key: of another run, or of its own earlier part. */
  known: Readonly<Record<string, FinishedOutcome>>
}

export interface RunRequest extends RunFacts {
  plan: Plan
}

export interface RunAnswer {
  planDigest: string
  result: RunResult
  /** What users decided, wherever they were asked. */
  approvals?: readonly ApprovalRecord[] | undefined
}

export interface WaitingNotice {
  /** Who has this can answer. */
  awakeable: string
  gates: readonly GateRecord[]
  result: RunResult
}

/** The answer to a run that waits. It counts only for the gates that it names. */
export interface Decision {
  approvals: readonly ApprovalRecord[]
}

export interface NestedRequest extends RunFacts {
  step: PlannedChain
  key: string
  attempt: number
  state: ChainState
  /** Of a further attempt: how long it waits before it begins. */
  waitMs?: number | undefined
  /** It continues where it stood. */
  paused?: PausedChain | undefined
}

export interface NestedAnswer {
  chain: ChainResult
  /** What it is for its parent; absent when it was ended from above. */
  output?: StepOutput | undefined
  log?: string | undefined
  startedAt: number
  durationMs: number
  /** It waits for a user. */
  paused?: PausedChain | undefined
}

export interface WorkerReport {
  worker: string
  skillrail: string
  version: number
  node: string
  host: string
  now: number
  skills: readonly { name: string; digest: string }[]
  /** Agent clients that it can use. */
  clients?: readonly string[] | undefined
}

/**
 * The answer of a run within the size that the server takes: what steps printed goes first. Results
 * are never cut, so a run whose results do not fit is a failure.
 */
export function fitAnswer(answer: RunAnswer, limit: number = maxAnswerBytes): RunAnswer {
  const { result } = answer
  const attempts = changeSteps(result.attempts, ({ log: _log, ...step }) => step)
  const candidates = [answer, { ...answer, result: { ...result, attempts } }]
  const fitting = candidates.find((one) => Buffer.byteLength(JSON.stringify(one)) <= limit)
  if (fitting !== undefined) return fitting
  const message = `its results have more than ${limit} bytes together, which a server does not take; write them to files in SKILLRAIL_SCRATCH`
  const attempt = result.attempts.length
  const errors = [{ code: 'result-too-large', message }]
  const failed = { attempt, status: 'failure', steps: [], chain_state: emptyState, errors } as const
  return { ...answer, result: { ...result, status: 'failure', attempts: [failed] } }
}

export interface OpenGate extends GateFacts {
  step: string
  attempt: number
}

/** A nested chain that waits for a user: what it needs to continue where it stood. */
export interface PausedChain {
  pass: Pass
  /** Its own, and those further down. */
  gates: readonly OpenGate[]
  /** Chains below it that wait, by key. */
  chains: readonly (readonly [key: string, chain: PausedChain])[]
  startedAt: number
}

/** What the interpreter was answered on its way through a chain, to replay it after a pause. */
export interface Pass {
  /** By key, in the order in which they were answered. */
  answered: [key: string, outcome: Outcome][]
  left: Record<string, CancelledStep>
  decided: Record<string, JsonValue>
}
