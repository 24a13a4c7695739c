import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * A request of Node as the SDK takes it, without its body, which was read already. Its signal is
 * aborted when the client hangs up before it was answered.
 */
export function webRequest(
  request: IncomingMessage,
  response: ServerResponse,
  address: string,
): Request {
  const controller = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) controller.abort(new Error('the client hung up'))
  })
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value)
  }
  return new Request(address, {
    method: request.method ?? 'GET',
    headers,
    signal: controller.signal,
  })
}

/** Sends an answer of the SDK, a stream of events part by part, until it ends or the client goes. */
export async function sendResponse(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  const { body } = answer
  if (body === null) {
    response.end()
    return
  }
  const reader = body.getReader()
  const gone = (): void => void reader.cancel().catch(() => undefined)
  response.once('close', gone)
  try {
    response.flushHeaders()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      if (!response.write(value)) await drained(response)
    }
  } finally {
    response.off('close', gone)
    response.end()
  }
}

function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    const settle = (): void => {
      response.off('drain', settle)
      response.off('close', settle)
      resolve()
    }
    response.once('drain', settle)
    response.once('close', settle)
  })
}
