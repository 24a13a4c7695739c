import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { lockHolder } from '../core/file-lock.ts'
import type { Runtime } from '../core/runtime.ts'
import { systemCode } from '../core/errors.ts'
import { RunStateError } from './errors.ts'
import type { ApprovalRecord, ChainRecord, GateRecord } from './journal-records.ts'
import { walkResult } from './step-result.ts'
import { readResult, refuseEnded, refuseImported } from './run-chain.ts'
import type { RunJournal } from './run-journal.ts'
import { type RunLine, runLine } from './run-line.ts'
import { alone, type RunStore } from './run-store.ts'

/** The gate that a run waits at. `step` names one where several steps of a group wait. */
export async function waitingGate(
  journal: RunJournal,
  clock: Runtime,
  step?: string,
  line: RunLine = runLine,
): Promise<GateRecord> {
  const gates = walkResult(await readResult(journal, clock)).flatMap((walked) => {
    const gate = journal.gates.get(walked.key)
    // A chain with waiting steps below has passed its own gate.
    const waits = walked.leaf && walked.step.status === 'waiting'
    return waits && gate !== undefined ? [gate] : []
  })
  const matching = step === undefined ? gates : gates.filter((gate) => gate.step === step)
  const [gate, second] = matching
  if (gate !== undefined && second === undefined) return gate
  const { runId } = journal.run
  const names = gates.map((candidate) => candidate.step).join(', ')
  throw gates.length === 0
    ? new RunStateError({
        code: 'no-gate-waits',
        message: `the run ${runId} does not wait for an approval`,
        hint: `${line('runs show', runId)} shows how it stands.`,
      })
    : new RunStateError({
        code: gate === undefined ? 'no-gate-waits' : 'gate-ambiguous',
        message: `these steps of the run ${runId} wait for approval: ${names}`,
        hint: `Choose one: --step ${gates[0]?.step}`,
      })
}

/**
 * Writes the decision of a user about the gate that was shown. Called while the journal is locked,
 * so that the gate cannot change. Throws {@link RunStateError} when the run waits for something
 * else by now.
 */
export function recordDecision(
  shown: GateRecord,
  decision: Pick<ApprovalRecord, 'approved' | 'at' | 'user' | 'shown'>,
  line: RunLine = runLine,
): (journal: RunJournal, append: (record: ChainRecord) => void) => void {
  return (journal, append) => {
    const gate = journal.gates.get(shown.key)
    if (gate?.stateDigest !== shown.stateDigest || gate.planDigest !== shown.planDigest) {
      throw new RunStateError({
        code: 'gate-changed',
        message: `the run ${journal.run.runId} waits for something else now`,
        hint: `Look again: ${line('runs show', journal.run.runId)}`,
      })
    }
    const { key, planDigest, stateDigest } = gate
    const about = { key, planDigest, stateDigest }
    const record: ApprovalRecord = { type: 'approval', ...about, by: 'person', ...decision }
    append(record)
    journal.approvals.set(key, record)
  }
}

/** How long a run may take to end its processes: 2 s until KILL, and what it writes then. */
const patienceMs = 10_000

/**
 * Cancels a run: the process that executes it is interrupted (as by Ctrl-C), then the journal says
 * that the run was cancelled. It can still be resumed. Throws {@link RunStateError} when it has
 * ended, {@link RunBusyError} when the process is on another machine or does not end.
 */
export async function cancelRun(store: RunStore, runId: string, clock: Runtime): Promise<void> {
  const path = store.pathOf(runId)
  store.read(runId)
  const isHere = (): boolean => lockHolder(path)?.host === hostname()
  const pid = lockHolder(path)?.pid
  if (isHere() && pid !== undefined) interrupt(pid)
  for (let waited = 0; waited < patienceMs && isHere(); waited += 50) await sleep(50)
  await alone(store, runId, () => {
    const journal = store.read(runId)
    refuseImported(journal)
    refuseEnded(journal)
    const at = new Date(clock.now()).toISOString()
    store.append(runId, { type: 'status', status: 'cancelled', at })
  })
}

function interrupt(pid: number): void {
  try {
    process.kill(pid, 'SIGINT')
  } catch (error) {
    if (systemCode(error) !== 'ESRCH') throw error
  }
}
