import { setTimeout as sleep } from 'node:timers/promises'
import { ask, refusal, type ServerAddress } from './client.ts'

/** Rows of the tables that the admin interface has about invocations. */
export async function select(
  address: ServerAddress,
  query: string,
): Promise<Record<string, unknown>[]> {
  for (let left = attempts; ; left--) {
    const answer = await ask(address, 'admin', '/query', {
      method: 'POST',
      body: { query },
      signal: AbortSignal.timeout(10_000),
    })
    const { body, status } = answer
    if (status === 200 && typeof body === 'object' && body !== null && 'rows' in body) {
      return Array.isArray(body.rows) ? body.rows : []
    }
    if (status < 500 || left <= 1) throw refusal('answer a query', answer)
    await sleep(pauseMs)
  }
}

/** A server that has just started takes requests before its tables can be read. */
const attempts = 10
const pauseMs = 300
