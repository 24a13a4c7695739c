import { UsageError } from '#core/errors'
import { randomBytes } from 'node:crypto'
import { isObject, type JsonValue, type JsonObject } from '#core/json'
import { type ClientCall, type Question, type ToolAnswer } from './tool.ts'

/** The outcome of a request so far: its answer, or a question that the client must ask its user. */
export type Turn =
  | { kind: 'answer'; answer: ToolAnswer }
  | { kind: 'question'; question: Question; state: string }

/** One request as it arrives. One that was answered by a question arrives again with the reply. */
export interface Arrival extends Pick<ClientCall, 'signal' | 'progress'> {
  subject: string
  canAsk: boolean
  /** The client, if clients that share these exchanges identify themselves. */
  client?: string | undefined
}

export type Work = Omit<ClientCall, 'connection'>

interface Exchange {
  controller: AbortController
  arrival: Arrival
  done: Promise<Turn>
  raise?: ((turn: Turn) => void) | undefined
  /** Takes the reply to the question that was asked last. */
  reply?: ((content: JsonObject | undefined) => void) | undefined
}

export const questionPatienceMs = 600_000

/**
 * Lets a call ask a question before it ends, with every version of the protocol. In MCP 2026-07-28
 * the question answers the request, and the client repeats the request with the reply. The call
 * waits here under a random name that works once, so that a repeated request cannot replace the
 * approved call.
 */
export class Exchanges {
  readonly #limits = { patienceMs: questionPatienceMs, maxWaiting: 100, maxOfClient: 25 }
  readonly #waiting = new Map<string, { exchange: Exchange; timer: NodeJS.Timeout }>()
  readonly #running = new Set<Exchange>()

  constructor(limits: Partial<Record<'patienceMs' | 'maxWaiting' | 'maxOfClient', number>> = {}) {
    Object.assign(this.#limits, limits)
  }

  begin(arrival: Arrival, work: (work: Work) => Promise<ToolAnswer>): Promise<Turn> {
    const { promise, resolve } = Promise.withResolvers<Turn>()
    const exchange: Exchange = { controller: new AbortController(), arrival, done: promise }
    this.#running.add(exchange)
    const turn = this.#turn(exchange)
    const working = work({
      signal: exchange.controller.signal,
      progress: (step) => exchange.arrival.progress(step),
      ask: arrival.canAsk ? (question) => this.#ask(exchange, question) : undefined,
    })
    resolve(
      working
        .then((answer): Turn => ({ kind: 'answer', answer }))
        .finally(() => this.#running.delete(exchange)),
    )
    promise.catch(() => undefined)
    return turn
  }

  /**
   * @param state the value that was sent with the question
   * @param reply the client's reply to it
   * @throws {UsageError} for a question that is unknown, was answered, or has expired
   */
  resume(arrival: Arrival, state: string, reply: unknown): Promise<Turn> {
    const exchange = this.#waiting.get(state)?.exchange
    if (!exchange || exchange.arrival.subject !== arrival.subject) {
      throw new UsageError({
        code: 'question-over',
        message: 'this answers a question that has expired; nothing was called',
        hint: 'Make the call again.',
      })
    }
    this.#forget(state)
    exchange.arrival = arrival
    const next = this.#turn(exchange)
    exchange.reply?.(contentOf(reply))
    return next
  }

  /** Ends a call whose question nobody will answer. */
  drop(state: string, reason = 'the request was ended'): void {
    const exchange = this.#forget(state)
    exchange?.controller.abort(new Error(reason))
    exchange?.reply?.(undefined)
  }

  close(): void {
    for (const state of this.#waiting.keys()) this.#forget(state)
    for (const { controller, reply } of this.#running) {
      controller.abort(new Error('the server ends'))
      reply?.(undefined)
    }
  }

  #forget(state: string): Exchange | undefined {
    const entry = this.#waiting.get(state)
    this.#waiting.delete(state)
    clearTimeout(entry?.timer)
    return entry?.exchange
  }

  async #turn(exchange: Exchange): Promise<Turn> {
    const { signal } = exchange.arrival
    const abort = (): void => exchange.controller.abort(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    const raised = Promise.withResolvers<Turn>()
    exchange.raise = raised.resolve
    try {
      return await Promise.race([exchange.done, raised.promise])
    } finally {
      // From here on no request carries the call, until the reply to its question arrives.
      signal.removeEventListener('abort', abort)
      exchange.raise = undefined
    }
  }

  async #ask(exchange: Exchange, question: Question): Promise<JsonValue | undefined> {
    const { raise, controller, arrival } = exchange
    if (!raise || controller.signal.aborted) return undefined
    const { patienceMs, maxWaiting, maxOfClient } = this.#limits
    const all = [...this.#waiting.values()]
    const ofClient = all.filter((one) => one.exchange.arrival.client === arrival.client)
    if (ofClient.length >= maxOfClient || all.length >= maxWaiting)
      throw new UsageError({
        code: 'too-many-questions',
        message: 'not called: too many questions are open',
        hint: 'The user answers or cancels some of them; each ends after ten minutes.',
      })
    const { promise, resolve } = Promise.withResolvers<JsonObject | undefined>()
    exchange.reply = resolve
    const state = randomBytes(24).toString('base64url')
    const giveUp = (): void => this.drop(state, 'the user did not answer in time')
    this.#waiting.set(state, { exchange, timer: setTimeout(giveUp, patienceMs).unref() })
    raise({ kind: 'question', question, state })
    return (await promise)?.[question.name]
  }
}

function contentOf(reply: unknown): JsonObject | undefined {
  if (!isObject<JsonValue>(reply) || reply['action'] !== 'accept') return undefined
  const content = reply['content']
  return isObject(content) ? content : {}
}
