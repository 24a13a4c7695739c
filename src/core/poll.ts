import { setTimeout as sleep } from 'node:timers/promises'

interface PollOptions {
  everyMs: number
  /** How long to repeat `look`; the last time is at the end. */
  patienceMs: number
  /** An abort ends the wait with its reason. */
  signal?: AbortSignal
}

/**
 * Calls `look` at once and then repeatedly, until it returns anything but undefined and false. Returns
 * undefined if that does not happen in time.
 */
export async function poll<Answer>(
  look: () => Answer | undefined | false | Promise<Answer | undefined | false>,
  { everyMs, patienceMs, signal }: PollOptions,
): Promise<Answer | undefined> {
  const deadline = performance.now() + patienceMs
  for (;;) {
    signal?.throwIfAborted()
    const isLast = performance.now() >= deadline
    const answer = await look()
    if (answer !== undefined && answer !== false) return answer
    if (isLast) return undefined
    await sleep(everyMs)
  }
}
