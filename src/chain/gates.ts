import { sha256 } from '../base/index.ts'
import type { ApprovalRecord } from './journal-records.ts'
import type { ChainState } from './state.ts'

/** What an approval is bound to besides the run: nothing of it may differ when it is used. */
export interface GateFacts {
  /** Step and attempt, level by level. */
  key: string
  planDigest: string
  /** Of the outputs that the step will see, and that the person was shown. */
  stateDigest: string
}

export type GateAnswer = 'approved' | 'rejected' | 'waiting'

/** What was decided about exactly this gate; a decision about anything else does not count. */
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
