import { sha256 } from '../core/json.ts'
import { failedOutput } from '../exec/output-protocol.ts'
import type { Call, CancelledStep, Outcome, SuspendedOutcome } from './engine.ts'
import type { ApprovalRecord } from './journal-records.ts'

export interface GateFacts {
  /** Step and attempt, level by level. */
  key: string
  planDigest: string
  /** Of the outputs that the step will see, and that the user was shown. */
  stateDigest: string
}

export function gateOf({ key, state }: Pick<Call, 'key' | 'state'>, planDigest: string): GateFacts {
  return { key, planDigest, stateDigest: sha256(JSON.stringify(state)) }
}

/** Whether a decision is about this gate and about nothing else. */
export function isAbout(gate: GateFacts, decision: GateFacts | undefined): boolean {
  return (
    decision?.key === gate.key &&
    decision.planDigest === gate.planDigest &&
    decision.stateDigest === gate.stateDigest
  )
}

/** Whether the step was approved; one with a result was, unless that is its rejection. */
export function isApproved(
  gate: GateFacts,
  decision: ApprovalRecord | undefined,
  outcome: Outcome | CancelledStep | undefined,
): boolean {
  if (outcome !== undefined) return !('rejected' in outcome) || outcome.rejected !== true
  return decision?.approved === true && isAbout(gate, decision)
}

/** What a gate lets become of its step, which was rejected at `now`; undefined when it may start. */
export function passGate(
  gate: GateFacts,
  step: string,
  decision: ApprovalRecord | undefined,
  now: number,
): (Outcome & { kind: 'finished' }) | SuspendedOutcome | undefined {
  if (!isAbout(gate, decision)) return { kind: 'suspended', why: 'approval' }
  if (decision?.approved === true) return undefined
  const output = failedOutput('gate-rejected', `${step} was rejected`)
  return { kind: 'finished', output, startedAt: now, durationMs: 0, rejected: true }
}
