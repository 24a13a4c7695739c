/** Events in their order. Every reader gets all of them, from the first to the end. */
export class EventLog<Event> {
  readonly #events: Event[] = []
  #ended: { error?: { thrown: unknown } | undefined } | undefined
  #more = Promise.withResolvers<void>()

  add(event: Event) {
    this.#events.push(event)
    this.#wake()
  }

  end(error?: { thrown: unknown }) {
    this.#ended ??= { error }
    this.#wake()
  }

  async *read(): AsyncIterableIterator<Event> {
    for (let next = 0; ;) {
      const unread = this.#events.slice(next)
      yield* unread
      next += unread.length
      if (next < this.#events.length) continue
      if (this.#ended?.error) throw this.#ended.error.thrown
      if (this.#ended) return
      await this.#more.promise
    }
  }

  #wake() {
    this.#more.resolve()
    this.#more = Promise.withResolvers()
  }
}
