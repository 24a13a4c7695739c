import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { acquireFileLock } from '../core/file-lock.ts'
import type { Runtime } from '../core/runtime.ts'
import { systemCode } from '../core/errors.ts'
import { RunBusyError, RunStateError } from './errors.ts'

import type { ApprovalRecord, ChainRecord, GateRecord } from './journal-records.ts'
import { walkResult } from './step-result.ts'
import { readResult, refuseEnded, refuseImported } from './run-chain.ts'
import type { RunJournal } from './run-journal.ts'
import { type RunLine, runLine } from './run-line.ts'
import type { RunStore } from './run-store.ts'

/** The gate that a run waits at. `step` names one where several steps of a group wait. */
export async function waitingGate(
  journal: RunJournal,
  clock: Pick<Runtime, 'now' | 'elapsed'>,
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
  const names = gates.map((candidate) => candidate.step).join(', ')
  const { runId } = journal.run
  throw new RunStateError({
    code: gate === undefined ? 'no-gate-waits' : 'gate-ambiguous',
    message:
      gates.length === 0
        ? `the run ${runId} does not wait for an approval`
        : `several steps of the run ${runId} wait for approval: ${names}`,
    hint:
      gates.length === 0
        ? `${line('runs show', runId)} shows how it stands.`
        : `Choose one: --step ${gates[0]?.step}`,
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
        message: `the run ${journal.run.runId} no longer waits for what was shown`,
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
export const patienceMs = 10_000

/**
 * Cancels a run: the process that executes it is interrupted (as by Ctrl-C), then the journal says
 * that the run was cancelled. It can still be resumed. Throws {@link RunStateError} when it has
 * ended, {@link RunBusyError} when the process is on another machine or does not end.
 */
export async function cancelRun(
  store: RunStore,
  runId: string,
  clock: Pick<Runtime, 'now'>,
): Promise<void> {
  const path = store.pathOf(runId)
  store.read(runId)
  const deadline = process.uptime() * 1000 + patienceMs
  let interrupted = false
  for (;;) {
    const lock = acquireFileLock(path)
    if (lock.ok) {
      try {
        return recordCancelled(store, runId, clock)
      } finally {
        lock.release()
      }
    }
    const { pid, host } = lock.holder
    if (host !== hostname() || process.uptime() * 1000 > deadline) {
      throw new RunBusyError({
        code: 'run-busy',
        message: `the run ${runId} is executed by process ${pid} on ${host}, which is still running`,
        hint: 'End that process, then cancel again.',
      })
    }
    if (!interrupted) interrupted = interrupt(pid)
    await sleep(50)
  }
}

export function recordCancelled(store: RunStore, runId: string, clock: Pick<Runtime, 'now'>): void {
  const journal = store.read(runId)
  refuseImported(journal)
  refuseEnded(journal)
  const writer = store.open(runId)
  try {
    writer.append({ type: 'status', status: 'cancelled', at: new Date(clock.now()).toISOString() })
  } finally {
    writer.close()
  }
}

export function interrupt(pid: number): boolean {
  try {
    process.kill(pid, 'SIGINT')
  } catch (error) {
    if (systemCode(error) !== 'ESRCH') throw error
  }
  return true
}
