import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/**
 * Converts a Node request to a web-standard request, without the body, which has been read already. The
 * request is aborted when the client disconnects.
 */
export function webRequest(
  request: IncomingMessage,
  response: ServerResponse,
  address: string,
): Request {
  const { method = 'GET', headersDistinct } = request
  const controller = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) controller.abort(new Error('the client hung up'))
  })
  const headers = new Headers()
  for (const [name, values = []] of Object.entries(headersDistinct))
    headers.set(name, values.join(', '))
  return new Request(address, { method, headers, signal: controller.signal })
}

/** Sends a web-standard response. An event stream is sent in parts, until it ends or the client disconnects. */
export async function sendResponse(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  if (answer.body === null) {
    response.end()
    return
  }
  response.flushHeaders()
  await pipeline(Readable.fromWeb(answer.body), response)
}
