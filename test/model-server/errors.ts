import type { ModelRequest } from './protocol.ts'
import type { ModelError } from './turn.ts'

/** An error in the shape of the protocol that was spoken to. */
export function errorBody({ path }: ModelRequest, { status, message }: ModelError): object {
  const sentence = message ?? (status === 429 ? 'Too many requests.' : 'The server has failed.')
  const type = status === 429 ? 'rate_limit_error' : 'server_error'
  if (path.includes('/messages')) {
    const kind = status === 429 ? 'rate_limit_error' : 'api_error'
    return { type: 'error', error: { type: kind, message: sentence } }
  }
  return { error: { message: sentence, type, param: null, code: null } }
}

export function errorHeaders({ retryAfterMs }: ModelError): Record<string, string> {
  if (retryAfterMs === undefined) return {}
  const seconds = retryAfterMs / 1000
  return {
    'retry-after-ms': String(retryAfterMs),
    ...(Number.isInteger(seconds) ? { 'retry-after': String(seconds) } : {}),
  }
}
