import { describe, expect, it, vi } from 'vitest'
import { type Arrival, Exchanges, type Turn, type Work } from '../../src/mcp/exchange.ts'
import type { Question } from '../../src/mcp/tool.ts'

const field = { type: 'boolean', title: 'It is' } as const
const question: Question = { message: 'Is it?', name: 'approve', field }
const accept = (content: object): object => ({ action: 'accept', content })

function arrival(more: Partial<Arrival> = {}): Arrival {
  return {
    subject: 'call_tool {}',
    signal: new AbortController().signal,
    progress: () => undefined,
    canAsk: true,
    ...more,
  }
}

/** Asks the question several times, and returns the replies. */
function asking(times: number): (work: Work) => Promise<{ text: string }> {
  return async ({ ask }) => {
    const answers: unknown[] = []
    for (let count = 0; count < times; count++) answers.push(await ask?.(question))
    return { text: JSON.stringify(answers) }
  }
}

function stateOf(turn: Turn): string {
  if (turn.kind === 'question') return turn.state
  throw new Error('no question was asked')
}

const answered = (text: string): Turn => ({ kind: 'answer', answer: { text } })

describe('a call that asks', () => {
  it('continues where it stopped, as often as it asks', async () => {
    const exchanges = new Exchanges()
    const first = await exchanges.begin(arrival(), asking(2))
    expect(first).toMatchObject({ kind: 'question', question })
    const second = await exchanges.resume(arrival(), stateOf(first), accept({ approve: 1 }))
    const end = await exchanges.resume(arrival(), stateOf(second), accept({ approve: 2 }))
    expect(end).toEqual(answered('[1,2]'))
  })

  it.each([
    ['declined', { action: 'decline' }],
    ['cancelled', { action: 'cancel' }],
    ['accepted with an unknown word', { action: 'yes', content: { approve: true } }],
    ['not an object', 'accept'],
    ['missing', undefined],
  ])('gets no answer for a form that is %s', async (_what, reply) => {
    const exchanges = new Exchanges()
    const first = await exchanges.begin(arrival(), asking(1))
    expect(await exchanges.resume(arrival(), stateOf(first), reply)).toEqual(answered('[null]'))
  })

  it('accepts an answer once, and only for its request', async () => {
    const exchanges = new Exchanges()
    const first = await exchanges.begin(arrival(), asking(1))
    const state = stateOf(first)
    const other = arrival({ subject: 'call_tool {"name":"drop_table"}' })
    expect(() => exchanges.resume(other, state, accept({ approve: true }))).toThrow('has expired')
    await exchanges.resume(arrival(), state, accept({ approve: true }))
    expect(() => exchanges.resume(arrival(), state, accept({ approve: true }))).toThrow(
      'has expired',
    )
    expect(() => exchanges.resume(arrival(), 'guessed', accept({}))).toThrow('has expired')
    expect(state).toMatch(/^[\w-]{32}$/)
  })

  it('asks no question if the client cannot show one', async () => {
    const exchanges = new Exchanges()
    const turn = await exchanges.begin(arrival({ canAsk: false }), asking(1))
    expect(turn).toEqual(answered('[null]'))
  })

  it.each([
    ['in total', { maxWaiting: 1 }, 'another'],
    ['for its client', { maxOfClient: 1 }, 'one'],
  ])('says so when too many questions are open, %s', async (_, options, client) => {
    const exchanges = new Exchanges(options)
    const first = await exchanges.begin(arrival({ client: 'one' }), asking(1))
    await expect(exchanges.begin(arrival({ client }), asking(1))).rejects.toMatchObject({
      code: 'too-many-questions',
    })
    await exchanges.resume(arrival({ client: 'one' }), stateOf(first), accept({}))
    expect(await exchanges.begin(arrival({ client }), asking(1))).toMatchObject({
      kind: 'question',
    })
  })

  it('does not prevent questions of other clients', async () => {
    const exchanges = new Exchanges({ maxOfClient: 1 })
    await exchanges.begin(arrival({ client: 'one' }), asking(1))
    expect(await exchanges.begin(arrival({ client: 'another' }), asking(1))).toMatchObject({
      kind: 'question',
    })
  })
})

describe('the end of a call', () => {
  it('comes with the request that carries it, including the one with the answer', async () => {
    const exchanges = new Exchanges()
    const [one, two] = [new AbortController(), new AbortController()]
    let signal: AbortSignal | undefined
    const work = async (given: Work): Promise<{ text: string }> => {
      ;({ signal } = given)
      await given.ask?.(question)
      await Promise.resolve()
      return { text: given.signal.aborted ? 'aborted' : 'continues' }
    }
    const first = await exchanges.begin(arrival({ signal: one.signal }), work)
    one.abort()
    expect(signal?.aborted).toBe(false)
    const end = exchanges.resume(arrival({ signal: two.signal }), stateOf(first), accept({}))
    two.abort()
    expect(await end).toEqual(answered('aborted'))
  })

  it('comes with the end of the server, without an answer', async () => {
    const exchanges = new Exchanges()
    let outcome: unknown = 'nothing yet'
    await exchanges.begin(arrival(), async ({ ask, signal }) => {
      const answer = await ask?.(question)
      outcome = { answer, aborted: signal.aborted }
      return { text: '' }
    })
    exchanges.close()
    await vi.waitFor(() => expect(outcome).toEqual({ answer: undefined, aborted: true }))
  })

  it('comes if nobody answers in time', async () => {
    vi.useFakeTimers()
    try {
      const exchanges = new Exchanges({ patienceMs: 1000 })
      let signal: AbortSignal | undefined
      const first = await exchanges.begin(arrival(), async (work) => {
        ;({ signal } = work)
        return await asking(1)(work)
      })
      await vi.advanceTimersByTimeAsync(1001)
      expect(signal?.aborted).toBe(true)
      expect(() => exchanges.resume(arrival(), stateOf(first), accept({}))).toThrow('has expired')
    } finally {
      vi.useRealTimers()
    }
  })

  it('comes with the end of the asking request, which makes room for others', async () => {
    const exchanges = new Exchanges({ maxWaiting: 1 })
    let signal: AbortSignal | undefined
    const first = await exchanges.begin(arrival(), async (work) => {
      ;({ signal } = work)
      return await asking(1)(work)
    })
    exchanges.drop(stateOf(first))
    expect(signal?.aborted).toBe(true)
    expect(() => exchanges.resume(arrival(), stateOf(first), accept({}))).toThrow('has expired')
    expect(await exchanges.begin(arrival(), asking(1))).toMatchObject({ kind: 'question' })
  })

  it('passes an error on', async () => {
    const failing = new Exchanges().begin(arrival(), () => Promise.reject(new Error('broken')))
    await expect(failing).rejects.toThrow('broken')
  })
})
