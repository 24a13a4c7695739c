import { setTimeout as wait } from 'node:timers/promises'
import type { ClientOptions, FetchLike, Transport } from '@modelcontextprotocol/client'
import { messageOf } from '#core/errors'
import { hexDigest } from '#core/json'
import { clientInfo, untilAborted } from '#core/runtime'
import type { HttpServer, ServerDefinition } from '#tools/config/model'
import { failBrokenRequests } from './broken-streams.ts'
import { foreign, hasCode, httpStatus, neverReached, signInNeeded } from './read-answers.ts'
import type { OpenedServer, OpenOptions } from './connection.ts'
import { startCancelled, startFailed } from './errors.ts'
import type { HttpSignIn } from './sign-in.ts'

/**
 * Connects over streamable HTTP, with the newest protocol that the server supports. If the server refuses
 * that, as servers before 2025 do, connects over server-sent events (MCP, Transports, Backwards
 * Compatibility).
 */
export async function openHttp(
  definition: ServerDefinition,
  transport: HttpServer,
  options: OpenOptions,
): Promise<OpenedServer> {
  let first: unknown
  for (const kind of transport.kind === 'http' ? (['http', 'sse'] as const) : (['sse'] as const)) {
    try {
      return await attempt(kind, definition, transport, options)
    } catch (error) {
      first ??= error
      const status = httpStatus(error) ?? 0
      const isOld = status >= 400 && status < 500 && status !== 401 && status !== 403
      if (!isOld || options.signal.aborted) break
    }
  }
  throw startError(first, definition, transport, options)
}

async function attempt(
  kind: 'http' | 'sse',
  definition: ServerDefinition,
  transport: HttpServer,
  { signal, answerLimit, signIn }: OpenOptions,
): Promise<OpenedServer> {
  const sdk = await import('@modelcontextprotocol/client')
  const url = new URL(transport.url)
  const requestInit = { headers: { ...transport.headers } }
  const authProvider = signIn?.authProvider
  const fetch = limitedFetch(answerLimit, signIn)
  const init = { requestInit, fetch, ...(authProvider && { authProvider }) }
  const http = kind === 'http' ? new sdk.StreamableHTTPClientTransport(url, init) : undefined
  if (http) failBrokenRequests(http)
  const channel: Transport = http ?? new sdk.SSEClientTransport(url, init)
  const mode: ClientOptions = kind === 'http' ? { versionNegotiation: { mode: 'auto' } } : {}
  const client = new sdk.Client(clientInfo(), { capabilities: {}, ...mode })
  const timeout = definition.startupTimeoutMs
  // The client limits each request; this limits all of them together.
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeout)])
  try {
    await untilAborted(client.connect(channel, { timeout, signal: limit }), limit)
  } catch (error) {
    await client.close().catch(() => undefined)
    await channel.close().catch(() => undefined)
    throw limit.aborted ? new StartTimeout() : error
  }
  return {
    client,
    instance: http?.sessionId ?? hexDigest(transport.url, 16),
    ending: async () => undefined,
    async close() {
      // The server can free its session, but this waits at most a second.
      await Promise.race([
        http?.terminateSession().catch(() => undefined),
        wait(1000, undefined, { ref: false }),
      ])
      await client.close().catch(() => undefined)
    },
  }
}

function startError(
  error: unknown,
  { name: server, startupTimeoutMs }: ServerDefinition,
  { url }: HttpServer,
  { signal, mask }: OpenOptions,
) {
  if (signal.aborted) return startCancelled(server, error)
  const { origin, pathname } = new URL(url)
  const status = httpStatus(error)
  const message =
    status === 401 || status === 403
      ? signInNeeded(server, status)
      : `The server ${server} at ${origin}${pathname} cannot be used: ${reasonOf(error, startupTimeoutMs)}`
  return startFailed({ message: mask(message) }, { cause: error })
}

class StartTimeout extends Error {}

function reasonOf(error: unknown, timeoutMs: number): string {
  if (error instanceof StartTimeout || hasCode(error, 'REQUEST_TIMEOUT'))
    return `it gave no answer within ${timeoutMs} ms`
  const networkError = neverReached(error)
  if (networkError !== undefined) return `nothing answers there (${networkError})`
  const status = httpStatus(error)
  if (status !== undefined) return `it answers with HTTP ${status}`
  return hasCode(error, 'CLIENT_HTTP_UNEXPECTED_CONTENT')
    ? `it answers with ${foreign}`
    : messageOf(error)
}

/** Returns a `fetch` that aborts an answer above the limit. */
function limitedFetch(limit: number, signIn: HttpSignIn | undefined): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init)
    await signIn?.inspect(response)
    if (init?.method !== 'POST' || response.body === null || !response.ok) return response
    let bytes = 0
    const count = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.length
        if (bytes <= limit) controller.enqueue(chunk)
        else controller.error(new Error(`the answer is over the limit of ${limit} bytes`))
      },
    })
    return new Response(response.body.pipeThrough(count), response)
  }
}
