import { endGroup, groupIsGone } from './_process-group.ts'
import { endEscaped } from './orphans.ts'
import type { ProcessEnd, ProcessRequest } from './process.ts'

/** What is told of a program that runs, however it was started. */
export interface Supervision {
  /** Its process id, and with it that of its group. */
  identified(pid: number): void
  /** The program itself has ended; what it left in the background may still print. */
  ended(end: ProcessEnd): void
  /** Nothing more will come of its output. */
  drained(): void
}

/** How long output may stay open after the program itself has ended. */
export const drainMs = 250

/**
 * Watches the time-out and the signal of a request: at either the whole group gets TERM, and KILL
 * after 2 s; then what has left the group gets KILL. Resolves when the program has ended, its output
 * is closed, and, where it was ended by force, its group is gone.
 */
export function supervise(
  request: Pick<ProcessRequest, 'timeoutMs' | 'signal' | 'env'>,
  running: {
    closeOutput(): void
    /** Asks for the process id where it is not known from the start. */
    identify(): void
  },
  resolve: (end: ProcessEnd) => void,
): Supervision {
  let pid: number | undefined
  let forced: 'timeout' | 'aborted' | undefined
  let left: ProcessEnd | undefined
  let isDrained = false
  let ending: ReturnType<typeof endGroup> | undefined
  let drainTimer: NodeJS.Timeout | undefined
  const timer = request.timeoutMs
    ? setTimeout(() => force('timeout'), request.timeoutMs)
    : undefined
  const onAbort = (): void => force('aborted')
  request.signal?.addEventListener('abort', onAbort, { once: true })

  function force(reason: 'timeout' | 'aborted'): void {
    if (forced !== undefined || (left !== undefined && isDrained)) return
    forced = reason
    if (pid === undefined) running.identify()
    else ending = endGroup(pid, settle)
  }

  function settle(): void {
    if (left === undefined || !isDrained) return
    if (ending !== undefined && pid !== undefined && !groupIsGone(pid) && !ending.killed()) return
    clearTimeout(timer)
    clearTimeout(drainTimer)
    ending?.stop()
    request.signal?.removeEventListener('abort', onAbort)
    if (forced !== undefined) endEscaped(request.env)
    resolve(forced === undefined ? left : { kind: forced })
  }

  return {
    identified(id) {
      pid = id
      if (forced !== undefined) ending ??= endGroup(id, settle)
    },
    ended(end) {
      left = end
      if (!isDrained) drainTimer = setTimeout(running.closeOutput, drainMs)
      settle()
    },
    drained() {
      isDrained = true
      settle()
    },
  }
}
