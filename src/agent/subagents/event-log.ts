import type { AgentEvent } from '../types.ts'

/** The events of one delegation, for any number of readers. */
export interface EventLog {
  add(event: AgentEvent): void
  end(): void
  /** From the beginning, or from the oldest that is kept, until the end. */
  read(): AsyncIterableIterator<AgentEvent>
}

/** Events that a late reader still gets. */
const kept = 1000

export function createEventLog(): EventLog {
  const events: AgentEvent[] = []
  let dropped = 0
  let ended = false
  let wake: (() => void)[] = []

  return {
    add(event) {
      events.push(event)
      if (events.length > kept) {
        events.shift()
        dropped += 1
      }
      wakeAll()
    },
    end() {
      ended = true
      wakeAll()
    },
    async *read() {
      let next = 0
      for (;;) {
        next = Math.max(next, dropped)
        const event = events[next - dropped]
        if (event !== undefined) {
          next += 1
          yield event
        } else if (ended) return
        else await new Promise<void>((resolve) => void wake.push(resolve))
      }
    },
  }

  function wakeAll(): void {
    if (wake.length === 0) return
    const sleepers = wake
    wake = []
    for (const resolve of sleepers) resolve()
  }
}
