/** Lets a number of delegations work at once; the others wait in the order in which they came. */
export interface Queue {
  /**
   * Waits for a free place. The function that is returned gives it back.
   *
   * Rejects with the signal's reason when that comes first.
   */
  enter(signal: AbortSignal): Promise<() => void>
  readonly waiting: number
}

export function createQueue(places: number): Queue {
  let free = places
  const line: (() => void)[] = []

  return {
    get waiting() {
      return line.length
    },
    async enter(signal) {
      signal.throwIfAborted()
      if (free > 0) free -= 1
      else await wait(signal)
      let left = false
      return () => {
        if (left) return
        left = true
        const next = line.shift()
        if (next === undefined) free += 1
        else next()
      }
    },
  }

  function wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = (): void => {
        line.splice(line.indexOf(enter), 1)
        reject(signal.reason)
      }
      line.push(enter)
      signal.addEventListener('abort', leave, { once: true })
    })
  }
}
