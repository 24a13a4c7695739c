/** The events of a run, for any number of readers. */
export class EventLog<Event> {
  readonly #events: Event[] = []
  readonly #limit: number
  #dropped = 0
  #ended: { error?: { thrown: unknown } | undefined } | undefined
  #more = Promise.withResolvers<void>()

  /** @param limit events that a late reader still gets. */
  constructor(limit = Infinity) {
    this.#limit = limit
  }

  add(event: Event): void {
    this.#events.push(event)
    if (this.#events.length > this.#limit) {
      this.#events.shift()
      this.#dropped += 1
    }
    this.#wake()
  }

  /** Nothing more comes; with an error the readers get that at the end. */
  end(error?: { thrown: unknown }): void {
    this.#ended ??= { error }
    this.#wake()
  }

  /** From the beginning, or from the oldest that is kept, until the end. */
  async *read(): AsyncIterableIterator<Event> {
    for (let next = 0; ;) {
      next = Math.max(next, this.#dropped)
      const event = this.#events[next - this.#dropped]
      if (event !== undefined) {
        next += 1
        yield event
      } else if (this.#ended?.error !== undefined) throw this.#ended.error.thrown
      else if (this.#ended !== undefined) return
      else await this.#more.promise
    }
  }

  #wake(): void {
    this.#more.resolve()
    this.#more = Promise.withResolvers()
  }
}
