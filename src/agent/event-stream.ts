/** Events for one reader, in order; what was sent before it came is kept for it. */
export interface EventStream<Event> extends AsyncIterable<Event> {
  send(event: Event): void
  /** Nothing more comes; with an error the reader gets that at the end. */
  end(error?: { thrown: unknown }): void
}

export function createEventStream<Event>(): EventStream<Event> {
  let waiting: Event[] = []
  let ended: { error?: { thrown: unknown } | undefined } | undefined
  let wake: (() => void) | undefined
  let abandoned = false
  return {
    send(event) {
      if (abandoned || ended !== undefined) return
      waiting.push(event)
      wake?.()
    },
    end(error) {
      ended ??= { error }
      wake?.()
    },
    async *[Symbol.asyncIterator]() {
      try {
        for (;;) {
          const ready = waiting
          waiting = []
          yield* ready
          if (waiting.length > 0) continue
          if (ended?.error !== undefined) throw ended.error.thrown
          if (ended !== undefined) return
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      } finally {
        abandoned = true
        waiting = []
      }
    },
  }
}
