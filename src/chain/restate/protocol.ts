import { failedOutput, type StepOutput } from '#exec/output-protocol'
import type { JsonValue } from '#core/json'
import type { CancelledStep, ChainCall, ChainResult, Outcome, RunStatus } from '#chain/engine'
import type { ApprovalRecord, GateRecord } from '#chain/run-journal'
import type { Plan } from '#chain/plan-model'
import { changeSteps } from '#chain/step-result'

export const serviceName = 'skillrail'
export const handlerNames = { run: 'run', chain: 'chain', inspect: 'inspect' } as const

/** The version of the requests and of the order in a run's journal. A worker executes no other version. */
export const protocolVersion = 4

/** The most bytes in the answer of a whole run. The server accepts 32 MiB. */
const maxAnswerBytes: number = 24 * 1024 * 1024

export interface RunFacts {
  version: number
  runId: string
  arguments: readonly string[]
  requireVerified: boolean
  /** The time limit of a skill whose chain sets none; 0 means no limit. */
  defaultTimeoutMs: number
  planDigest: string
  yesGates: boolean
  /** The decisions of users about gates, including those in earlier parts of the run. */
  approvals?: readonly ApprovalRecord[] | undefined
  /** The results at the start, from another run or from earlier parts of this run. */
  pass: Pass
}

/** The answers of the engine in a chain and in the chains below it, by key. */
export interface Pass {
  /** In the order of the answers. */
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

/** The status and the results of a run, from which its journal is written. */
export interface RunAnswer {
  planDigest: string
  status: RunStatus
  pass: Pass
  approvals?: readonly ApprovalRecord[] | undefined
  gates?: readonly GateRecord[]
}

export interface WaitingNotice extends RunAnswer {
  /** The ID that an answer to the run needs. */
  awakeable: string
  gates: readonly GateRecord[]
}

/** The answer to a run that waits. The answer counts only for the gates that it names. */
export interface Decision {
  approvals: readonly ApprovalRecord[]
}

export interface NestedRequest extends RunFacts, Omit<ChainCall, 'timeoutMs' | 'wait'> {
  /** How long a further attempt waits before it begins. */
  waitMs?: number | undefined
}

export interface NestedAnswer {
  chain: ChainResult
  /** The output for the parent; absent if the chain waits or a chain above ended it. */
  output?: StepOutput
  log?: string | undefined
  startedAt: number
  durationMs: number | null
  pass: Pass
  /** The open gates of the chain and of the chains below it. */
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
 * Reduces the answer of a run to the size that the server accepts: logs are removed first. Results are
 * never cut, so a run whose results do not fit fails, even if it waits.
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
  const quietOutcome = { ...outcome, chain: silent }
  return quietOutcome.kind === 'finished' ? { ...quietOutcome, log: undefined } : quietOutcome
}
