import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until something is so, however slow the machine is. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let round = 0; round < 2500; round++) {
    if (await isSo()) return
    await sleep(20)
  }
  throw new Error('it did not come about within 50 s')
}

/**
 * Does what is ended by a limit of time; with a longer one, where the machine was too slow to get as
 * far as it has to before that.
 */
export async function withinLimit<T>(
  milliseconds: number,
  attempt: (milliseconds: number) => Promise<T>,
  gotFarEnough: (result: T) => boolean,
): Promise<T> {
  const result = await attempt(milliseconds)
  if (gotFarEnough(result) || milliseconds > 10_000) return result
  return await withinLimit(milliseconds * 6, attempt, gotFarEnough)
}
