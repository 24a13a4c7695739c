import { failedOutput } from '../../exec/output-protocol.ts'
import type { FinishedOutcome, SuspendedOutcome, TaskCall } from '../engine.ts'
import { answerOfGate, stateDigest } from '../gates.ts'
import type { ApprovalRecord } from '../journal-records.ts'
import type { OpenGate, PausedChain, RunFacts } from './protocol.ts'

/** What one way through a chain came to a stand at; by key. */
export interface Standstill {
  gates: Map<string, OpenGate>
  chains: Map<string, PausedChain>
}

/** Before a chain is gone through, for the first time or again. */
export function standstillOf(paused?: PausedChain): Standstill {
  return { gates: new Map(), chains: new Map(paused?.chains) }
}

/** Every gate that somebody is to be asked about, those of nested chains too. */
export function openGates({ gates, chains }: Standstill): OpenGate[] {
  return [...gates.values(), ...[...chains.values()].flatMap((chain) => chain.gates)]
}

/** Only decisions about gates that were shown count. */
export function isAbout(gates: readonly OpenGate[], decision: ApprovalRecord): boolean {
  return gates.some((gate) => answerOfGate(gate, decision) !== 'waiting')
}

/** Undefined when the step may start; as the engine on one machine decides it. */
export function passGate(
  facts: RunFacts,
  call: TaskCall,
  standstill: Standstill,
  begunAt: number,
): SuspendedOutcome | FinishedOutcome | undefined {
  const { step, key, attempt, state } = call
  if (step.gate !== true || facts.yesGates) return undefined
  const gate = { key, planDigest: facts.planDigest, stateDigest: stateDigest(state) }
  const decision = facts.approvals?.findLast((approval) => approval.key === key)
  const answer = answerOfGate(gate, decision)
  if (answer === 'approved') return undefined
  if (answer === 'waiting') {
    standstill.gates.set(key, { ...gate, step: step.step, attempt })
    return { kind: 'suspended', why: 'approval' }
  }
  const output = failedOutput('gate-rejected', `${step.step} was rejected`)
  const startedAt = Date.parse(decision?.at ?? '') || begunAt
  return { kind: 'finished', output, startedAt, durationMs: 0, rejected: true }
}
