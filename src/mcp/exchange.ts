import { randomBytes } from 'node:crypto'
import { isObject } from '../core/json.ts'
import type { JsonValue } from '../skill/model.ts'
import {
  type AskPerson,
  type ClientProgress,
  McpRequestError,
  type Question,
  type ToolAnswer,
} from './model.ts'

/** What came of a request so far: its answer, or a question that the client must put to its person. */
export type Turn =
  | { kind: 'answer'; answer: ToolAnswer }
  | { kind: 'question'; question: Question; state: string }

/** One request as it arrives. A request that was answered by a question arrives again with the answer. */
export interface Arrival {
  /** Name and input, to tell that the same request continues. */
  subject: string
  signal: AbortSignal
  progress(step: ClientProgress): void
  /** Whether the client can ask a user. */
  canAsk: boolean
  /** Who asks, in as far as clients that share one of these say so. */
  client?: string | undefined
}

/** The work of a request, which continues while it is asked for something. */
export interface Work {
  signal: AbortSignal
  progress(step: ClientProgress): void
  ask: AskPerson | undefined
}

/** Requests that wait for the answer of a user. */
export interface Exchanges {
  begin(arrival: Arrival, work: (work: Work) => Promise<ToolAnswer>): Promise<Turn>
  /**
   * @param state as it was handed out with the question
   * @param reply what the client sends for it
   * @throws {McpRequestError} for a question that nobody asked, that was answered, or that is over
   */
  resume(arrival: Arrival, state: string, reply: unknown): Promise<Turn>
  /** Nobody will answer any more: the call ends without an answer for anyone. */
  drop(state: string): void
  /** Ends everything that is under way. */
  close(): void
}

interface ExchangesOptions {
  /** How long a user may take; default 10 minutes. */
  patienceMs?: number | undefined
  /** How many may wait; default 100. */
  mostWaiting?: number | undefined
  /** How many of one client; default 25. */
  mostOfClient?: number | undefined
}

interface Exchange {
  subject: string
  controller: AbortController
  /** Of the request that is answered next. */
  arrival: Arrival
  done: Promise<Turn>
  /** Called with a question; set while a request waits for what comes. */
  raise?: ((turn: Turn) => void) | undefined
  /** Takes what the user said to the question that was asked last. */
  answer: ((content: Answer) => void) | undefined
}

/** How long a user may take. */
export const questionPatienceMs = 600_000

type Answer = Awaited<ReturnType<AskPerson>>

/**
 * Lets a call ask in the middle, whatever the protocol of the client: with MCP of 2026-07-28 a
 * question is the answer to a request, which the client repeats with what its person said. The call
 * itself waits here; the client holds nothing but a random name of it, which counts once, so that no
 * repeated request can exchange what was approved for something else.
 */
export function createExchanges(options: ExchangesOptions = {}): Exchanges {
  const { patienceMs = questionPatienceMs, mostWaiting = 100, mostOfClient = 25 } = options
  const waiting = new Map<string, { exchange: Exchange; timer: NodeJS.Timeout }>()
  const running = new Set<Exchange>()
  return {
    begin(arrival, work) {
      const exchange: Exchange = {
        subject: arrival.subject,
        controller: new AbortController(),
        arrival,
        done: Promise.resolve({ kind: 'answer', answer: { text: '' } }),
        answer: undefined,
      }
      running.add(exchange)
      // Later than `turn`, which must be there when the work asks something at once.
      exchange.done = Promise.resolve()
        .then(async () => start(exchange, work))
        .finally(() => running.delete(exchange))
      exchange.done.catch(() => undefined)
      return turn(exchange)
    },
    resume(arrival, state, reply) {
      const found = waiting.get(state)
      if (found === undefined || found.exchange.subject !== arrival.subject) {
        throw new McpRequestError({
          code: 'question-over',
          message: 'this answers a question that has expired; nothing was called',
          hint: 'Make the call again.',
        })
      }
      waiting.delete(state)
      clearTimeout(found.timer)
      const { exchange } = found
      exchange.arrival = arrival
      const next = turn(exchange)
      exchange.answer?.(contentOf(reply))
      return next
    },
    drop(state) {
      giveUp(state, 'the request was ended')
    },
    close() {
      for (const { timer } of waiting.values()) clearTimeout(timer)
      waiting.clear()
      for (const { controller, answer } of running) {
        controller.abort(new Error('the server ends'))
        answer?.(undefined)
      }
    },
  }

  async function start(
    exchange: Exchange,
    work: (work: Work) => Promise<ToolAnswer>,
  ): Promise<Turn> {
    const answer = await work({
      signal: exchange.controller.signal,
      progress: (step) => exchange.arrival.progress(step),
      ask: exchange.arrival.canAsk ? (question) => ask(exchange, question) : undefined,
    })
    return { kind: 'answer', answer }
  }

  /** What the request that is there now is answered with. */
  async function turn(exchange: Exchange): Promise<Turn> {
    const { signal } = exchange.arrival
    const abort = (): void => exchange.controller.abort(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    try {
      const raised = new Promise<Turn>((resolve) => {
        exchange.raise = resolve
      })
      return await Promise.race([exchange.done, raised])
    } finally {
      // From here on no request carries the call, until the answer to its question does.
      signal.removeEventListener('abort', abort)
      exchange.raise = undefined
    }
  }

  /** Nobody repeats the request any more. */
  function giveUp(state: string, reason: string): void {
    const found = waiting.get(state)
    if (found === undefined) return
    waiting.delete(state)
    clearTimeout(found.timer)
    found.exchange.controller.abort(new Error(reason))
    found.exchange.answer?.(undefined)
  }

  function ask(exchange: Exchange, question: Question): Promise<Answer> {
    const { raise, controller } = exchange
    if (raise === undefined || controller.signal.aborted) return Promise.resolve(undefined)
    const { client } = exchange.arrival
    const own = [...waiting.values()].filter((one) => one.exchange.arrival.client === client)
    if (own.length >= mostOfClient || waiting.size >= mostWaiting) {
      return Promise.reject(tooManyQuestions())
    }
    return new Promise((resolve) => {
      exchange.answer = resolve
      const state = randomBytes(24).toString('base64url')
      const timer = setTimeout(() => giveUp(state, 'the user did not answer in time'), patienceMs)
      timer.unref()
      waiting.set(state, { exchange, timer })
      raise({ kind: 'question', question, state })
    })
  }
}

function tooManyQuestions(): McpRequestError {
  return new McpRequestError({
    code: 'too-many-questions',
    message: 'too many questions are open, so that the user was not asked; nothing was called',
    hint: 'The user answers or cancels some of them in the client; each ends by itself after ten minutes.',
  })
}

/** What a client sends for a question: `{ action: 'accept', content: { … } }`. */
function contentOf(reply: unknown): Answer {
  if (!isObject<JsonValue>(reply) || reply['action'] !== 'accept') return undefined
  const content = reply['content']
  return isObject<JsonValue>(content) ? content : {}
}
