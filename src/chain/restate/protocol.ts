import type { StepOutput } from '../../exec/output-protocol.ts'
import type { JsonValue } from '../../skill/model.ts'
import type {
  AttemptResult,
  CancelledStep,
  ChainResult,
  FinishedOutcome,
  Outcome,
  RunResult,
  StepResult,
} from '../engine.ts'
import type { GateFacts } from '../gates.ts'
import type { ApprovalRecord, GateRecord } from '../journal-records.ts'
import type { Plan, PlannedChain } from '../plan-model.ts'
import type { ChainState } from '../state.ts'

export const serviceName = 'skillrail'
export const handlerNames = { run: 'run', chain: 'chain', inspect: 'inspect' } as const

/**
 * The version of what travels between command line, server and workers, and of the order of a run's
 * journal. A worker gives back what is newer.
 */
export const protocolVersion = 1

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
  /** Agent clients that it gives steps to. */
  clients?: readonly string[] | undefined
}

/** Characters of a result that are kept where the whole answer would be too large. */
const keptCharacters = 1000

/**
 * The answer of a run within the size that the server takes: the output of steps goes first, then
 * long results are cut.
 */
export function fitAnswer(answer: RunAnswer, limit: number = maxAnswerBytes): RunAnswer {
  const candidates = [answer, changeSteps(answer, withoutLog), changeSteps(answer, short)]
  const fitting = candidates.find(
    (candidate) => Buffer.byteLength(JSON.stringify(candidate)) <= limit,
  )
  return fitting ?? changeSteps(answer, short)
}

function changeSteps(answer: RunAnswer, change: (step: StepResult) => StepResult): RunAnswer {
  const attempts = answer.result.attempts.map((attempt) => changeAttempt(attempt, change))
  return { ...answer, result: { ...answer.result, attempts } }
}

function changeAttempt(attempt: AttemptResult, change: (step: StepResult) => StepResult) {
  const state = attempt.chain_state
  const previous = state.previous_outputs.map((output) => ({
    ...output,
    result: cut(output.result),
  }))
  return {
    ...attempt,
    steps: attempt.steps.map((step) => changeStep(step, change)),
    chain_state: change === short ? { ...state, previous_outputs: previous } : state,
  }
}

function changeStep(step: StepResult, change: (step: StepResult) => StepResult): StepResult {
  const { steps, attempts, ...rest } = change(step)
  return {
    ...rest,
    ...(steps === undefined ? {} : { steps: steps.map((inner) => changeStep(inner, change)) }),
    ...(attempts === undefined
      ? {}
      : { attempts: attempts.map((attempt) => changeAttempt(attempt, change)) }),
  }
}

function withoutLog(step: StepResult): StepResult {
  const { log, ...rest } = step
  return log === undefined ? step : rest
}

function short(step: StepResult): StepResult {
  return { ...withoutLog(step), result: cut(step.result) }
}

function cut(text: string): string {
  if (text.length <= keptCharacters) return text
  return `${text.slice(0, keptCharacters)}… (cut: the answer was too large for the server)`
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

/**
 * What the interpreter was answered on its way through a chain, as JSON, to replay the chain after
 * a pause without asking the engine below.
 */
export interface Pass {
  /** By key, in the order in which they were answered. */
  answered: [key: string, outcome: Outcome][]
  left: Record<string, CancelledStep>
  decided: Record<string, JsonValue>
}
