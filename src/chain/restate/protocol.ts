import { failedOutput, type StepOutput } from '#exec/output-protocol'
import type { JsonValue } from '#core/json'
import type { CancelledStep, ChainCall, ChainResult, Outcome, RunStatus } from '#chain/engine'
import type { ApprovalRecord, GateRecord } from '#chain/run-journal'
import type { Plan } from '#chain/plan-model'
import { changeSteps } from '#chain/step-result'

export const serviceName = 'skillrail'
export const handlerNames = { run: 'run', chain: 'chain', inspect: 'inspect' } as const

/** Of what travels, and of the order of a run's journal. A worker gives back any other. */
export const protocolVersion = 3

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
  /** What it starts with: results of another run, or of its own before it was ended or waited. */
  pass: Pass
}

/** What the interpreter was answered on its way through a chain and those below it, by key. */
export interface Pass {
  /** In the order in which they were answered. */
  answered: Record<string, Outcome>
  left: Record<string, CancelledStep>
  decided: Record<string, JsonValue>
  /** When each nested chain began; milliseconds since the epoch. */
  begun: Record<string, number>
}

export function emptyPass(answered: Pass['answered'] = {}): Pass {
  return { answered, left: {}, decided: {}, begun: {} }
}

export interface RunRequest extends RunFacts {
  plan: Plan
}

/** How a run stands: its results, from which its journal is written. */
export interface RunAnswer {
  planDigest: string
  status: RunStatus
  pass: Pass
  approvals?: readonly ApprovalRecord[] | undefined
  gates?: readonly GateRecord[]
}

export interface WaitingNotice extends RunAnswer {
  /** Who has this can answer. */
  awakeable: string
  gates: readonly GateRecord[]
}

/** The answer to a run that waits. It counts only for the gates that it names. */
export interface Decision {
  approvals: readonly ApprovalRecord[]
}

export interface NestedRequest extends RunFacts, Omit<ChainCall, 'timeoutMs' | 'wait'> {
  /** Of a further attempt: how long it waits before it begins. */
  waitMs?: number | undefined
}

export interface NestedAnswer {
  chain: ChainResult
  /** What it is for its parent; absent when it waits or was ended from above. */
  output?: StepOutput
  log?: string | undefined
  startedAt: number
  durationMs: number
  pass: Pass
  /** What it waits for, and what chains below it wait for. */
  gates: readonly GateRecord[]
}

export interface WorkerReport {
  worker: string
  skillrail: string
  version: number
  node: string
  host: string
  now: number
  skills: readonly { name: string; digest: string }[]
  clients?: readonly string[]
}

/**
 * The answer of a run within the size that the server takes: what steps printed goes first. Results
 * are never cut, so a run whose results do not fit is a failure, also where it would wait.
 */
export function fitAnswer<Answer extends RunAnswer>(
  answer: Answer,
  limit = maxAnswerBytes,
): Answer {
  const fits = (one: Answer): boolean => Buffer.byteLength(JSON.stringify(one)) <= limit
  if (fits(answer)) return answer
  const { pass, gates = [] } = answer
  const quiet = Object.entries(pass.answered).map(([key, one]) => [key, withoutLogs(one)] as const)
  const silent = { ...answer, pass: { ...pass, answered: Object.fromEntries(quiet) } }
  if (fits(silent)) return silent
  const message = `the results of the run have more than ${limit} bytes; write them to files in SKILLRAIL_SCRATCH`
  const output = failedOutput('result-too-large', message)
  const answered: Pass['answered'] = {}
  for (const key of [...Object.keys(pass.answered), ...gates.map((gate) => gate.key)]) {
    // A chain that waits has an answer only below it.
    const [step = key] = key.split('/')
    if (step in pass.left) continue
    const startedAt = pass.answered[step]?.startedAt ?? pass.begun[step] ?? 0
    answered[step] = { kind: 'finished', output, startedAt, durationMs: 0 }
  }
  return { ...answer, status: 'failure', pass: { ...pass, answered }, gates: [] }
}

function withoutLogs(outcome: Outcome): Outcome {
  const { chain } = outcome
  const silent = chain && {
    ...chain,
    attempts: changeSteps(chain.attempts, ({ log: _log, ...step }) => step),
  }
  const rest = { ...outcome, chain: silent }
  return rest.kind === 'finished' ? { ...rest, log: undefined } : rest
}
