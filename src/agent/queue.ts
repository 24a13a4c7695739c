import { untilAborted } from '#core/runtime'

/** Runs a limited number of tasks at once; the others wait in order. */
export class Queue {
  #free: number
  #waiting: (() => void)[] = []

  constructor(tasksAtOnce: number) {
    this.#free = tasksAtOnce
  }

  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    while (this.#free === 0) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#waiting.push(resolve)
      await untilAborted(promise, signal)
    }
    signal.throwIfAborted()
    this.#free -= 1
    try {
      return await work()
    } finally {
      this.#free += 1
      // All waiting tasks check again, in their order: a cancelled one takes no place.
      for (const wake of this.#waiting.splice(0)) wake()
    }
  }
}
