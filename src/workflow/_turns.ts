import { untilAborted } from '../base/index.ts'

/** The end of the line for each key; nobody waits behind one that is not there. */
const lines = new Map<string, Promise<void>>()

/**
 * Does one piece of work of a key after the other, within this process. Who gives up waiting leaves
 * the line as it was.
 */
export async function inTurn<T>(
  key: string,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const before = lines.get(key)
  let leave = (): void => undefined
  const left = new Promise<void>((resolve) => (leave = resolve))
  const line = before === undefined ? left : before.then(() => left)
  lines.set(key, line)
  try {
    if (before !== undefined) await (signal === undefined ? before : untilAborted(before, signal))
    return await work()
  } finally {
    leave()
    void line.then(() => {
      if (lines.get(key) === line) lines.delete(key)
    })
  }
}
