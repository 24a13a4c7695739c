import type { EndReason } from './result.ts'

type StopReason = Extract<EndReason, 'cancelled' | 'parent-cancelled' | 'timeout'>

/** What ends a delegation: a cancellation of it or of what waits for it, or the end of its time. */
export interface Stopper {
  readonly signal: AbortSignal
  stop(reason: StopReason): void
  /** The first reason for which it was stopped. */
  reason(): StopReason | undefined
  /** Takes away the timer and the listener. */
  end(): void
}

/** Its time, in milliseconds, begins now. */
export function stopper(parent: AbortSignal | undefined, timeoutMs: number | undefined): Stopper {
  const controller = new AbortController()
  let first: StopReason | undefined
  let over = false
  const stop = (reason: StopReason): void => {
    if (first !== undefined || over) return
    first = reason
    controller.abort(new DOMException('The delegation was stopped.', 'AbortError'))
  }
  const withParent = (): void => stop('parent-cancelled')
  const timer = timeoutMs === undefined ? undefined : setTimeout(stop, timeoutMs, 'timeout')
  if (parent?.aborted === true) withParent()
  else parent?.addEventListener('abort', withParent, { once: true })
  return {
    signal: controller.signal,
    stop,
    reason: () => first,
    end() {
      over = true
      clearTimeout(timer)
      parent?.removeEventListener('abort', withParent)
    },
  }
}
