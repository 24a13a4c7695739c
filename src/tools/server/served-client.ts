import type { Agent, IncomingMessage } from 'node:http'
import { isObject, messageOf, systemCode } from '../../base/index.ts'
import { decodeError, type ServedError } from './served-protocol.ts'
import type { ServedRecord } from './served-record.ts'

/** The connection to the process that keeps the servers of a project broke, or never came about. */
export class ServedConnectionError extends Error {
  /** Whether the request can have been read. */
  readonly sent: boolean

  constructor(error: unknown) {
    super(messageOf(error), { cause: error })
    this.sent = systemCode(error) !== 'ECONNREFUSED'
  }
}

export interface ServedRequestOptions {
  signal?: AbortSignal | undefined
  onProgress?: ((progress: unknown) => void) | undefined
}

export interface ServedClient {
  /** Rejects with what the other side threw, or a {@link ServedConnectionError}. */
  ask(path: string, body: object, options?: ServedRequestOptions): Promise<unknown>
  close(): void
}

export function servedClient({ port, token }: Pick<ServedRecord, 'port' | 'token'>): ServedClient {
  let agent: Agent | undefined
  return {
    async ask(path, body, options = {}) {
      // Most commands talk to nobody, and this takes them milliseconds to load.
      const http = await import('node:http')
      agent ??= new http.Agent({ keepAlive: true })
      return await new Promise((resolve, reject) => {
        const fail = (error: unknown): void => reject(new ServedConnectionError(error))
        const request = http.request(
          {
            host: '127.0.0.1',
            port,
            path,
            method: 'POST',
            agent,
            headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
            ...(options.signal === undefined ? {} : { signal: options.signal }),
          },
          (response) => {
            readAnswer(response, options.onProgress).then(resolve, (error: unknown) =>
              reject(
                error instanceof AnsweredError
                  ? decodeError(error.answer)
                  : new ServedConnectionError(error),
              ),
            )
          },
        )
        request.on('error', fail)
        request.end(JSON.stringify(body))
      })
    },
    close: () => agent?.destroy(),
  }
}

class AnsweredError extends Error {
  readonly answer: ServedError

  constructor(answer: ServedError) {
    super(answer.message)
    this.answer = answer
  }
}

async function readAnswer(
  response: IncomingMessage,
  onProgress: ((progress: unknown) => void) | undefined,
): Promise<unknown> {
  if (response.statusCode !== 200) {
    response.resume()
    throw new Error(`it answered with HTTP ${response.statusCode}`)
  }
  const parts: Buffer[] = []
  let answer: { done: unknown } | undefined
  const read = (line: string): void => {
    const value: unknown = JSON.parse(line)
    if (!isObject(value)) return
    if ('progress' in value) onProgress?.(value['progress'])
    else if ('done' in value) answer = { done: value['done'] }
    else throw new AnsweredError(errorOf(value['error']))
  }
  for await (const chunk of response) {
    let rest = Buffer.from(chunk)
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      read(Buffer.concat([...parts, rest.subarray(0, end)]).toString('utf8'))
      parts.length = 0
      rest = rest.subarray(end + 1)
    }
    if (rest.length > 0) parts.push(rest)
  }
  if (answer === undefined) throw new Error('it broke off its answer')
  return answer.done
}

function errorOf(value: unknown): ServedError {
  return isServedError(value)
    ? value
    : { type: 'other', code: 'internal', message: 'it failed without a reason' }
}

function isServedError(value: unknown): value is ServedError {
  return (
    isObject(value) && typeof value['type'] === 'string' && typeof value['message'] === 'string'
  )
}
