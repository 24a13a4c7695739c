import { sha256 } from '../core/json.ts'
import { failedOutput } from '../exec/output-protocol.ts'
import type { Call, CancelledStep, Outcome } from './engine.ts'
import type { EngineCore, Entry } from './journal-engine.ts'
import type { ApprovalRecord } from './journal-records.ts'
import type { ChainState } from './state.ts'

export interface GateFacts {
  /** Step and attempt, level by level. */
  key: string
  planDigest: string
  /** Of the outputs that the step will see, and that the user was shown. */
  stateDigest: string
}

type GateAnswer = 'approved' | 'rejected' | 'waiting'

export function answerOfGate(gate: GateFacts, decision: ApprovalRecord | undefined): GateAnswer {
  if (
    decision === undefined ||
    decision.key !== gate.key ||
    decision.planDigest !== gate.planDigest ||
    decision.stateDigest !== gate.stateDigest
  ) {
    return 'waiting'
  }
  return decision.approved ? 'approved' : 'rejected'
}

export function stateDigest(state: ChainState): string {
  return sha256(JSON.stringify(state))
}

/** Whether the step was approved; one with a result was, unless that is its rejection. */
export function isApproved(
  call: Pick<Call, 'key' | 'state'>,
  planDigest: string,
  decision: ApprovalRecord | undefined,
  outcome: Outcome | CancelledStep | undefined,
): boolean {
  if (outcome !== undefined) return !('rejected' in outcome) || outcome.rejected !== true
  const gate = { key: call.key, planDigest, stateDigest: stateDigest(call.state) }
  return answerOfGate(gate, decision) === 'approved'
}

/** Undefined when a step with a gate may start. */
export function passGate(core: EngineCore, entry: Entry): Outcome | undefined {
  const { key, call } = entry
  const { journal } = core
  const gate = { key, planDigest: journal.plan.digest, stateDigest: stateDigest(call.state) }
  const answer = answerOfGate(gate, journal.approvals.get(key))
  if (answer === 'approved') return undefined
  const now = core.clock.now()
  const at = new Date(now).toISOString()
  if (answer === 'rejected') {
    const output = failedOutput('gate-rejected', `${call.step.step} was rejected`)
    return { kind: 'finished', output, startedAt: now, durationMs: 0, rejected: true }
  }
  if (core.yesGates === true && core.writer !== undefined) {
    core.writer.append({ type: 'approval', ...gate, approved: true, by: 'caller', at })
    return undefined
  }
  const known = journal.gates.get(key)
  if (known?.stateDigest !== gate.stateDigest || known.planDigest !== gate.planDigest) {
    const record = {
      type: 'gate',
      ...gate,
      step: call.step.step,
      attempt: call.attempt,
      at,
    } as const
    core.writer?.append(record)
    journal.gates.set(key, record)
  }
  return { kind: 'suspended', why: 'approval' }
}
