import { systemCode } from '#core/errors'
import { isOnThisMachine, lockHolder } from '#core/file-lock'
import { poll } from '#core/poll'
import type { Runtime } from '#core/runtime'
import { refuseEnded, refuseImported } from './continuation.ts'
import { type RunStore, withRunLock } from './run-store.ts'

/**
 * Cancels a run: interrupts the process that executes it, as Ctrl-C does, then records the
 * cancellation. A user can still resume the run. Throws {@link RunStateError} if the run has ended,
 * {@link RunBusyError} if the process is on another machine or does not end.
 */
export async function cancelRun(store: RunStore, runId: string, clock: Runtime): Promise<void> {
  const path = store.pathOf(runId)
  store.read(runId)
  const holderHere = () => {
    const holder = lockHolder(path)
    return holder && isOnThisMachine(holder) ? holder : undefined
  }
  const pid = holderHere()?.pid
  if (pid !== undefined) interrupt(pid)
  await poll(() => holderHere() === undefined, { everyMs: 50, patienceMs })
  await withRunLock(store, runId, () => {
    const journal = store.read(runId)
    refuseImported(journal)
    refuseEnded(journal)
    const at = new Date(clock.now()).toISOString()
    store.append(runId, { type: 'status', status: 'cancelled', at })
  })
}

/** The time for a run to end its processes, 2 s until SIGKILL, and to write its last records. */
const patienceMs = 10_000

function interrupt(pid: number): void {
  try {
    process.kill(pid, 'SIGINT')
  } catch (error) {
    if (systemCode(error) !== 'ESRCH') throw error
  }
}
