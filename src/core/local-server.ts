import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { systemCode, UsageError } from './errors.ts'
import { ownMember, parseJson } from './json.ts'

type LocalMethod = 'DELETE' | 'GET' | 'POST'

export interface LocalRoute {
  method: LocalMethod | readonly LocalMethod[]
  /** Needs no token: the answer has no user data, or the route checks another secret. */
  isPublic?: boolean | undefined
  /** `body` is the JSON of a POST; `{}` for an empty body. */
  answer(body: unknown, response: ServerResponse, request: IncomingMessage): Promise<void> | void
}

interface LocalServerOptions {
  /** Bytes; default 1 MiB. */
  largestBody?: number | undefined
  /** The secret of allowed callers: at least 32 random bytes, never in an address. */
  token: string
  /** By path; a function if the paths are not known in advance. */
  routes: Readonly<Record<string, LocalRoute>> | ((path: string) => LocalRoute | undefined)
  port?: number | undefined
  /** Maximum time for a request to arrive; default 30 s. Its head has at most 5 s. */
  arrivalMs?: number | undefined
  /** Called when a request with the token starts; the returned function is called after the answer. */
  onRequest?: (() => () => void) | undefined
}

/** A connection without a token is closed after this time. */
const headMs = 5000

/**
 * Maximum number of connections that have not sent the token yet; with more, the oldest is closed.
 */
const maxStrangers = 64

/** Maximum number of connections: the commands of one user never need more. */
const maxConnections = 256

/**
 * Opens an HTTP server on 127.0.0.1 for the processes and pages of one user, which have the token. It
 * refuses pages of other origins by host and origin (DNS rebinding), and never allows CORS. Its answers
 * load nothing and cannot be framed.
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
      // Explicit, because Node's command line options could change the defaults.
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
    // Node's limits start with the first byte.
    const closeStranger = (): void => {
      if (strangers.has(socket)) socket.destroy()
    }
    const late = setTimeout(closeStranger, Math.min(headMs, arrivalMs))
    socket.once('close', () => {
      clearTimeout(late)
      strangers.delete(socket)
    })
    const [oldest] = strangers
    if (strangers.size > maxStrangers) oldest?.destroy()
  })
  server.maxConnections = maxConnections
  const port = await listen(server, options.port ?? 0)
  return { port, stop: () => server.close(), destroy: () => server.closeAllConnections() }
}

export interface LocalServer {
  port: number
  /** Accepts no new connection. */
  stop(): void
  /** Ends all connections. */
  destroy(): void
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
  const route = typeof routes === 'function' ? routes(path) : ownMember(routes, path)
  const refusal = refusalOf(request, token, route)
  if (refusal !== undefined || !route) {
    refuse(response, refusal ?? 404)
    return
  }
  if (route.isPublic !== true) onToken()
  const endRequest = route.isPublic ? undefined : onRequest?.()
  try {
    const body = request.method === 'POST' ? await readJsonBody(request, options) : undefined
    await route.answer(body, response, request)
  } catch (error) {
    if (response.headersSent) throw error
    refuse(response, error instanceof RequestRefused ? error.status : 500)
  } finally {
    endRequest?.()
  }
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, { connection: 'close' }).end()
}

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

/**
 * Returns the route of a public page without user data. The page requests data from this server, with the
 * token from the fragment of its address. Only inline scripts and styles with these hashes run; the page
 * loads nothing, sends no form and cannot be framed. Trusted Types refuse text that would become markup.
 */
export function pageRoute(html: string): LocalRoute {
  const policy = [
    "default-src 'none'",
    `script-src ${hashesOf(html, 'script')}`,
    `style-src ${hashesOf(html, 'style')}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
  return {
    method: 'GET',
    isPublic: true,
    answer(_body, response) {
      response.setHeader('content-security-policy', policy)
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html)
    },
  }
}

/** Returns the policy's sources for the inline elements of one kind. */
function hashesOf(html: string, element: 'script' | 'style'): string {
  const { createHash } = process.getBuiltinModule('node:crypto')
  const [, ...parts] = html.split(`<${element}>`)
  const texts = parts.map((part) => part.slice(0, part.indexOf(`</${element}>`)))
  const hashes = texts.map((text) => createHash('sha256').update(text))
  if (hashes.length === 0) return "'none'"
  return hashes.map((hash) => `'sha256-${hash.digest('base64')}'`).join(' ')
}

class RequestRefused extends Error {
  readonly status: number

  constructor(status: number) {
    super(`HTTP ${status}`)
    this.status = status
  }
}

async function readJsonBody(
  request: IncomingMessage,
  { largestBody = 1_048_576 }: LocalServerOptions,
): Promise<unknown> {
  if (Number(request.headers['content-length'] ?? 0) > largestBody) throw new RequestRefused(413)
  const parts: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    const part = Buffer.from(chunk)
    bytes += part.length
    if (bytes > largestBody) throw new RequestRefused(413)
    parts.push(part)
  }
  const value = parseJson(Buffer.concat(parts).toString('utf8') || '{}')
  if (value === undefined) throw new RequestRefused(400)
  return value
}

/** Calls `onIdle` after `ms` milliseconds without a request; 0: never. */
export function idleTimer(ms: number, onIdle: () => void): IdleTimer {
  let active = 0
  let timer: NodeJS.Timeout | undefined
  const wait = (): void => {
    clearTimeout(timer)
    if (ms > 0 && active === 0) timer = setTimeout(onIdle, ms)
  }
  wait()
  return {
    busy(): () => void {
      active++
      clearTimeout(timer)
      let isDone = false
      return () => {
        if (isDone) return
        isDone = true
        active--
        wait()
      }
    },
    isIdle: () => active === 0,
    end(): void {
      active++
      clearTimeout(timer)
    },
  }
}

export interface IdleTimer {
  /** Marks the start of a request. The caller calls the returned function after the answer. */
  busy(): () => void
  isIdle(): boolean
  /** Stops the timer for good. */
  end(): void
}

/** Returns the HTTP status of a refusal. Without the token, the status does not reveal which paths exist. */
function refusalOf(request: IncomingMessage, token: string, route: LocalRoute | undefined) {
  if (isFromElsewhere(request)) return 403
  if (route?.isPublic !== true && !isSame(request.headers.authorization, `Bearer ${token}`)) {
    return 401
  }
  if (!route) return 404
  const { method } = request
  if (![route.method].flat().some((routeMethod) => routeMethod === method)) return 405
  // A form cannot send this type, and the server allows no preflight request.
  const isTyped = jsonType.test(request.headers['content-type'] ?? '')
  return method !== 'POST' || isTyped ? undefined : 415
}

const jsonType = /^application\/json(?:; ?charset=utf-8)?$/i

/** Whether a request names another host (DNS rebinding) or comes from another origin. */
function isFromElsewhere({ headers, headersDistinct, socket }: IncomingMessage): boolean {
  const ourHost = `127.0.0.1:${socket.localPort}`
  const hosts = headersDistinct['host'] ?? []
  const site = headers['sec-fetch-site'] ?? 'none'
  return (
    hosts.length !== 1 ||
    hosts[0] !== ourHost ||
    (headers.origin !== undefined && headers.origin !== `http://${ourHost}`) ||
    (site !== 'none' && site !== 'same-origin')
  )
}

function isSame(actual = '', expected: string): boolean {
  const { createHash, timingSafeEqual } = process.getBuiltinModule('node:crypto')
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(actual), digest(expected))
}

export async function listening<T>(port: number | undefined, open: () => Promise<T>): Promise<T> {
  try {
    return await open()
  } catch (error) {
    const code = systemCode(error)
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error
    const [name, reason] =
      code === 'EACCES' ? ['port-refused', 'not allowed'] : ['port-taken', 'the port is in use']
    const hint = 'Give another port, or none to select a free port.'
    throw new UsageError({
      code: name,
      message: `--port ${port ?? 0}: ${reason}`,
      hint,
      cause: error,
    })
  }
}
