export type StopReason = 'cancelled' | 'parent-cancelled' | 'timeout'

/** Ends a run or a delegation: by cancellation, with its parent, or at a time limit that starts now. */
export class Stopper {
  readonly #controller = new AbortController()
  readonly #timer: NodeJS.Timeout | undefined
  readonly signal: AbortSignal
  #reason: StopReason = 'parent-cancelled'

  constructor(parent: AbortSignal | undefined, timeoutMs: number | undefined) {
    const { signal } = this.#controller
    this.signal = parent ? AbortSignal.any([signal, parent]) : signal
    if (timeoutMs !== undefined) this.#timer = setTimeout(() => this.stop('timeout'), timeoutMs)
  }

  get reason(): StopReason | undefined {
    return this.signal.aborted ? this.#reason : undefined
  }

  stop(reason: StopReason) {
    if (!this.signal.aborted) this.#reason = reason
    this.#controller.abort()
  }

  end() {
    clearTimeout(this.#timer)
  }
}
