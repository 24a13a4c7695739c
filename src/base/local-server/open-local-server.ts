import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type ReadBodyOptions, readJsonBody, RequestRefused } from './read-json-body.ts'
import { refusalOf } from './refusal.ts'

export type LocalMethod = 'DELETE' | 'GET' | 'POST'

/** What a path of a local server answers. */
export interface LocalRoute {
  /** No other is answered. */
  method: LocalMethod | readonly LocalMethod[]
  /**
   * Without the token: for what has nothing of the user in it, such as an empty page, or wants a
   * secret of its own.
   */
  isPublic?: boolean | undefined
  /** `body` is the JSON of a POST; `{}` where it is empty. */
  answer(body: unknown, response: ServerResponse, request: IncomingMessage): Promise<void> | void
}

export interface LocalServerOptions extends ReadBodyOptions {
  /** Whoever knows it is answered; 32 random bytes at least, and never in an address. */
  token: string
  /** By path, as it stands in a request; no other is answered. */
  routes: Readonly<Record<string, LocalRoute>>
  /** Default: any that is free. */
  port?: number | undefined
  /** How long a request may take to arrive; default 30 s. Its head has 5 s at the most. */
  arrivalMs?: number | undefined
  /**
   * Called once a request with the token is let in, and what it returns when that has been answered.
   * What everybody may ask does not count.
   */
  onRequest?: (() => () => void) | undefined
}

export interface LocalServer {
  port: number
  /** Takes nothing new; what is being answered is answered. */
  stop(): void
  /** Ends every connection. */
  destroy(): void
}

/** Whoever shows no token holds a connection no longer. */
const headMs = 5000

/**
 * So many connections may not have shown the token yet. With more, the oldest of them is closed, so that
 * whoever opens them keeps nobody out.
 */
const mostStrangers = 64

/** More are turned away: one user's commands never need as many. */
const mostConnections = 256

/**
 * A server for the processes and pages of one user on this machine: HTTP on 127.0.0.1, for those who
 * have the token. A web page of another origin reaches nothing: the host is compared, so that no name
 * that was bound to this machine afterwards counts; the origin too; and nothing is allowed across
 * origins. What it serves loads nothing, is in no frame and is never taken for another type.
 */
export async function openLocalServer(options: LocalServerOptions): Promise<LocalServer> {
  const { createServer } = await import('node:http')
  const { arrivalMs = 30_000 } = options
  const strangers = new Set<Socket>()
  const server = createServer(
    {
      requestTimeout: arrivalMs,
      headersTimeout: Math.min(headMs, arrivalMs),
      connectionsCheckingInterval: Math.min(1000, arrivalMs),
      // Whatever the options of this Node say.
      insecureHTTPParser: false,
      requireHostHeader: true,
    },
    (request, response) => {
      const onToken = (): void => void strangers.delete(request.socket)
      handle(options, request, response, onToken).catch(() => response.destroy())
    },
  )
  server.on('connection', (socket) => {
    strangers.add(socket)
    // The limits of Node begin with the first byte.
    const late = setTimeout(
      () => {
        if (strangers.has(socket)) socket.destroy()
      },
      Math.min(headMs, arrivalMs),
    )
    socket.once('close', () => {
      clearTimeout(late)
      strangers.delete(socket)
    })
    const [oldest] = strangers
    if (strangers.size > mostStrangers) oldest?.destroy()
  })
  server.maxConnections = mostConnections
  const port = await listen(server, options.port ?? 0)
  return {
    port,
    stop: () => server.close(),
    destroy: () => server.closeAllConnections(),
  }
}

async function handle(
  options: LocalServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
  onToken: () => void,
): Promise<void> {
  for (const [name, value] of protections) response.setHeader(name, value)
  const { routes, token, onRequest } = options
  const path = request.url ?? ''
  const route = Object.hasOwn(routes, path) ? routes[path] : undefined
  const refusal = refusalOf(request, token, route)
  if (refusal !== undefined || route === undefined) {
    refuse(response, refusal ?? 404)
    return
  }
  if (route.isPublic !== true) onToken()
  const done = route.isPublic === true ? undefined : onRequest?.()
  try {
    const body = request.method === 'POST' ? await readJsonBody(request, options) : undefined
    await route.answer(body, response, request)
  } catch (error) {
    if (response.headersSent) throw error
    refuse(response, error instanceof RequestRefused ? error.status : 500)
  } finally {
    done?.()
  }
}

/** Says a number and nothing of the request, and hears no more on this connection. */
function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, { connection: 'close' }).end()
}

/** On every answer; a page has a policy of its own. */
const protections: readonly (readonly [name: string, value: string])[] = [
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'; sandbox"],
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['cross-origin-opener-policy', 'same-origin'],
  ['referrer-policy', 'no-referrer'],
  ['cache-control', 'no-store'],
]

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      const address = server.address()
      if (typeof address === 'object' && address !== null) resolve(address.port)
    })
  })
}
