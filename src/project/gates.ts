import { ancestryOf } from '#core/agent-ancestry'
import type { Runtime } from '#core/runtime'
import type { Settings } from '#core/settings'
import type { Gate } from '#skill/model'
import { RunStateError } from '#chain/errors'
import { readResult } from '#chain/run-chain'
import { allSteps, type Plan } from '#chain/plan-model'
import type { AnswerPlace } from '#chain/run-answer'
import {
  type ApprovalRecord,
  type ChainRecord,
  type GateRecord,
  isApproved,
  type RunJournal,
} from '#chain/run-journal'
import type { RunLine } from '#chain/run-line'
import { walkResult } from '#chain/step-result'
import type { ChainProject } from './chains.ts'

/** The gate that a run waits at. `step` names one where several steps of a group wait. */
export async function waitingGate(
  journal: RunJournal,
  clock: Runtime,
  step: string | undefined,
  line: RunLine,
): Promise<GateRecord> {
  refuseCancelled(journal, line)
  const gates = await waitingGates(journal, clock)
  const matching = step === undefined ? gates : gates.filter((gate) => gate.step === step)
  const [gate, second] = matching
  if (gate && !second) return gate
  const { runId } = journal.run
  if (gates.length === 0) {
    const message = `the run ${runId} does not wait for an approval`
    throw new RunStateError('no-gate-waits', message, `See: ${line('runs show', runId)}`)
  }
  const names = gates.map((candidate) => candidate.step)
  throw new RunStateError(
    gate ? 'gate-ambiguous' : 'no-gate-waits',
    `these steps of the run ${runId} wait for approval: ${names.join(', ')}`,
    `Choose one: --step ${names[0]}`,
  )
}

/** @throws {RunStateError} for a cancelled run, which waits for nothing until a user resumes it */
function refuseCancelled({ run: { runId }, status }: RunJournal, line: RunLine): void {
  if (status !== 'cancelled') return
  throw new RunStateError(
    'run-cancelled',
    `the run ${runId} was cancelled, so it takes no decision`,
    `To let it wait for one again: ${line('runs resume', runId)}`,
  )
}

/** Returns the gates that a run waits at: several where steps of a group have one. */
export async function waitingGates(journal: RunJournal, clock: Runtime): Promise<GateRecord[]> {
  if (journal.status === 'cancelled') return []
  return walkResult(await readResult(journal, clock)).flatMap((walked) => {
    const gate = journal.gates.get(walked.key)
    // A chain with waiting steps below has passed its own gate.
    const waits = walked.leaf && walked.step.status === 'waiting'
    return waits && gate && !isOpen(journal, gate) ? [gate] : []
  })
}

/** Whether the gate was approved already, so that its step waits for something else. */
function isOpen(journal: RunJournal, gate: GateRecord): boolean {
  const planned = allSteps(journal.plan.root).find(({ step }) => step === gate.step)
  return isApproved(gate, planned?.gate, journal.approvals.get(gate.key), undefined)
}

/** What a question at this terminal proves about the user. */
export function terminalStrength(runtime: Runtime): 'attended' | 'unknown' {
  return ancestryOf(runtime, process.pid).kind === 'none' ? 'attended' : 'unknown'
}

/** Returns the approval that a gate needs: the chain's, or a stronger one from the user's setting. */
export function requiredGate(
  gate: Gate | undefined,
  { rail }: { rail: Pick<Settings['rail'], 'approval'> },
): Gate {
  if (rail.approval === 'signed' || gate === 'signed') return 'signed'
  return rail.approval === 'attended' || gate === 'attended' ? 'attended' : true
}

/** The options that `runs approve` needs for a step. Each printed command line has them. */
export function approveOptions(
  { root }: Plan,
  step: string,
  settings: { rail: Pick<Settings['rail'], 'approval'> },
): string[] {
  const gate = allSteps(root).find((one) => one.step === step)?.gate
  return requiredGate(gate, settings) === 'signed' ? ['--sign'] : []
}

/** How an answer writes the command lines that continue a run. */
export function answerPlace({ line, context }: ChainProject, plan: Plan): AnswerPlace {
  return { line, approveOptions: (step) => approveOptions(plan, step, context.settings) }
}

/**
 * Writes the decision of a user about the gate that was shown. Called while the journal is locked,
 * so that the gate cannot change. Throws {@link RunStateError} when the run waits for something
 * else by now.
 */
export function recordDecision(
  shown: GateRecord,
  decision: Pick<
    ApprovalRecord,
    | 'approved'
    | 'at'
    | 'user'
    | 'shown'
    | 'shownDigest'
    | 'channel'
    | 'strength'
    | 'signature'
    | 'reason'
  >,
  line: RunLine,
): (journal: RunJournal, append: (record: ChainRecord) => void) => void {
  return (journal, append) => {
    const gate = journal.gates.get(shown.key)
    if (gate?.stateDigest !== shown.stateDigest || gate.planDigest !== shown.planDigest) {
      throw new RunStateError(
        'gate-changed',
        `the run ${journal.run.runId} waits for something else now`,
        `Look again: ${line('runs show', journal.run.runId)}`,
      )
    }
    const { key, planDigest, stateDigest } = gate
    const about = { key, planDigest, stateDigest }
    const record: ApprovalRecord = { type: 'approval', ...about, by: 'person', ...decision }
    append(record)
    journal.approvals.set(key, record)
  }
}
