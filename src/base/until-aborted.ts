/** Waits for the work, but not longer than the signal lets it; leaves no listener behind. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  // One promise and no `Promise.race`: every step and every call of a tool waits here.
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    work.then(
      (value) => {
        signal.removeEventListener('abort', stop)
        resolve(value)
      },
      (error: unknown) => {
        signal.removeEventListener('abort', stop)
        reject(error)
      },
    )
    // Work that is done by now still counts.
    if (signal.aborted) queueMicrotask(stop)
  })
}
