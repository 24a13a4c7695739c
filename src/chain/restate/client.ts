import { messageOf } from '../../base/index.ts'
import { ChainError } from '../errors.ts'

/** Where a Restate server is. */
export interface ServerAddress {
  /** The ingress, such as http://127.0.0.1:8080. */
  url: string
  /** The admin interface, such as http://127.0.0.1:9070. */
  adminUrl: string
  /** Sent as a bearer token to both. */
  token?: string | undefined
}

/** The server did not answer, or not as expected. */
export class RestateServerError extends ChainError {}

export interface ServerAnswer {
  status: number
  /** The JSON document; undefined where there was none. */
  body: unknown
}

/**
 * One request to the server.
 * @throws {RestateServerError} `restate-away` when nobody answers there.
 */
export async function ask(
  address: ServerAddress,
  place: 'ingress' | 'admin',
  path: string,
  request: {
    method?: 'GET' | 'POST' | 'PATCH' | undefined
    body?: unknown
    headers?: Readonly<Record<string, string>> | undefined
    signal?: AbortSignal | undefined
  } = {},
): Promise<ServerAnswer> {
  const base = place === 'ingress' ? address.url : address.adminUrl
  const { method = 'GET', body, headers = {}, signal } = request
  const bearer = address.token === undefined ? {} : { authorization: `Bearer ${address.token}` }
  const content = body === undefined ? {} : { 'content-type': 'application/json' }
  try {
    const response = await fetch(new URL(path, base), {
      method,
      headers: { accept: 'application/json', ...content, ...bearer, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    })
    return { status: response.status, body: parsed(await response.text()) }
  } catch (error) {
    if (signal?.aborted === true) throw error
    throw new RestateServerError({
      code: 'restate-away',
      message: `no Restate server answers at ${base}: ${reasonOf(error)}`,
      hint: 'Start one (docs/scale.md says how), or name it with --url and --admin-url.',
      cause: error,
    })
  }
}

/** The sentence for an answer that means failure. */
export function refusal(what: string, { status, body }: ServerAnswer): RestateServerError {
  const told = typeof body === 'object' && body !== null && 'message' in body ? body.message : body
  const detail = typeof told === 'string' && told !== '' ? `: ${told}` : ''
  return new RestateServerError({
    code: 'restate-refused',
    message: `the Restate server did not ${what} (HTTP ${status})${detail}`,
    hint: 'skillrail doctor --engine restate checks the server and its workers.',
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text === '' ? undefined : text
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  return messageOf(cause ?? error)
}
