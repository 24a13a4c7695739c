import type { Transport } from '@modelcontextprotocol/client'
import { streamBroken } from './read-answers.ts'

/**
 * Ends a request with an error if its answer stream ends without an answer, for example because the server
 * was killed. The transport itself lets such a request wait until the time-out.
 */
export function failBrokenRequests(transport: Transport): void {
  const send = transport.send.bind(transport)
  transport.send = async (message, options) => {
    const isRequest = 'method' in message && 'id' in message
    const onRequestStreamEnd = (): void => {
      options?.onRequestStreamEnd?.()
      if (!isRequest) return
      const error = { code: streamBroken, message: 'the connection broke off before the answer' }
      // The client ignores this error for a request that has an answer.
      transport.onmessage?.({ jsonrpc: '2.0', id: message.id, error })
    }
    await send(message, { ...options, onRequestStreamEnd })
  }
}
