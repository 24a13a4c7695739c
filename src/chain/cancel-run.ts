import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { acquireFileLock, openJournal, type Runtime, systemCode } from '../base/index.ts'
import { RunBusyError, RunStateError } from './errors.ts'
import { runLine } from './run-line.ts'
import type { RunStore } from './run-store.ts'

/** How long a run may take to end its processes: 2 s until KILL, and what it writes then. */
const patienceMs = 10_000

/**
 * Cancels a run: a process that executes it is interrupted (as by Ctrl-C) and ends its process
 * groups; then the journal says that the run was cancelled. It can still be resumed.
 * @throws {RunStateError} when it has ended already.
 * @throws {RunBusyError} when the process is on another machine or does not end.
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
        message: `the run ${runId} is executed by process ${pid} on ${host}, which did not end`,
        hint: 'End that process, then cancel again.',
      })
    }
    if (!interrupted) interrupted = interrupt(pid)
    await sleep(50)
  }
}

function recordCancelled(store: RunStore, runId: string, clock: Pick<Runtime, 'now'>): void {
  const { status } = store.read(runId)
  if (status === 'success' || status === 'failure' || status === 'critical') {
    throw new RunStateError({
      code: 'run-ended',
      message: `the run ${runId} has ended: ${status}`,
      hint: `${runLine('runs show', runId)} shows it.`,
    })
  }
  const writer = openJournal(store.pathOf(runId))
  try {
    writer.append({ type: 'status', status: 'cancelled', at: new Date(clock.now()).toISOString() })
  } finally {
    writer.close()
  }
}

function interrupt(pid: number): boolean {
  try {
    process.kill(pid, 'SIGINT')
  } catch (error) {
    if (systemCode(error) !== 'ESRCH') throw error
  }
  return true
}
