import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { systemCode, UsageError } from './errors.ts'
import { ownMember, parseJson } from './json.ts'

type LocalMethod = 'DELETE' | 'GET' | 'POST'

export interface LocalRoute {
  method: LocalMethod | readonly LocalMethod[]
  /** Answered without the token: it shows nothing of the user, or wants a secret of its own. */
  isPublic?: boolean | undefined
  /** `body` is the JSON of a POST; `{}` where it is empty. */
  answer(body: unknown, response: ServerResponse, request: IncomingMessage): Promise<void> | void
}

interface LocalServerOptions {
  /** Bytes; default 1 MiB. */
  largestBody?: number | undefined
  /** Whoever knows it is answered; 32 random bytes at least, and never in an address. */
  token: string
  routes: Readonly<Record<string, LocalRoute>>
  port?: number | undefined
  /** How long a request may take to arrive; default 30 s. Its head has 5 s at the most. */
  arrivalMs?: number | undefined
  /** Called when a request with the token begins; what it returns, when that was answered. */
  onRequest?: (() => () => void) | undefined
}

/** A connection that shows no token is closed after this time. */
const headMs = 5000

/**
 * Maximum number of connections that have not shown the token yet; with more, the oldest is closed.
 */
const mostStrangers = 64

/** More are refused: the commands of one user never need as many. */
const mostConnections = 256

/**
 * Opens an HTTP server on 127.0.0.1 for the processes and pages of one user, who have the token.
 * Pages of other origins are refused by their host and origin (DNS rebinding), and CORS is never
 * allowed. Its answers load nothing and cannot be framed.
 */
export async function openLocalServer(options: LocalServerOptions) {
  const { createServer } = await import('node:http')
  const { arrivalMs = 30_000 } = options
  const strangers = new Set<Socket>()
  const server = createServer(
    {
      requestTimeout: arrivalMs,
      headersTimeout: Math.min(headMs, arrivalMs),
      connectionsCheckingInterval: Math.min(1000, arrivalMs),
      // Independent of the options of this Node.
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
    const closeStranger = (): void => {
      if (strangers.has(socket)) socket.destroy()
    }
    const late = setTimeout(closeStranger, Math.min(headMs, arrivalMs))
    socket.once('close', () => {
      clearTimeout(late)
      strangers.delete(socket)
    })
    const [oldest] = strangers
    if (strangers.size > mostStrangers) oldest?.destroy()
  })
  server.maxConnections = mostConnections
  const port = await listen(server, options.port ?? 0)
  return { port, stop: () => server.close(), destroy: () => server.closeAllConnections() }
}

export type LocalServer = Awaited<ReturnType<typeof openLocalServer>>

async function handle(
  options: LocalServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
  onToken: () => void,
): Promise<void> {
  for (const [name, value] of protections) response.setHeader(name, value)
  const { routes, token, onRequest } = options
  const path = request.url ?? ''
  const route = ownMember(routes, path)
  const refusal = refusalOf(request, token, route)
  if (refusal !== undefined || !route) {
    refuse(response, refusal ?? 404)
    return
  }
  if (route.isPublic !== true) onToken()
  const done = route.isPublic ? undefined : onRequest?.()
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
 * A public page without user data: it asks this server for that, with the token from the fragment
 * of its address. Only its own scripts and styles run; it loads nothing, sends no form and cannot
 * be framed. Trusted Types refuse text that would become markup.
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

/** The sources of a policy for the elements of a kind that stand in a page as text. */
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

/** Calls `onIdle` once nothing was asked for `ms` milliseconds; 0: never. */
export function idleTimer(ms: number, onIdle: () => void) {
  let active = 0
  let timer: NodeJS.Timeout | undefined
  const wait = (): void => {
    clearTimeout(timer)
    if (ms > 0 && active === 0) timer = setTimeout(onIdle, ms)
  }
  wait()
  return {
    /** Called when a request begins; the function it returns, when it was answered. */
    busy(): () => void {
      active++
      clearTimeout(timer)
      let done = false
      return () => {
        if (done) return
        done = true
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

export type IdleTimer = ReturnType<typeof idleTimer>

/** The HTTP status of a refusal. Without the token nothing is said about which paths exist. */
function refusalOf(request: IncomingMessage, token: string, route: LocalRoute | undefined) {
  if (isFromElsewhere(request)) return 403
  if (route?.isPublic !== true && !isSame(request.headers.authorization, `Bearer ${token}`)) {
    return 401
  }
  if (!route) return 404
  const { method } = request
  if (![route.method].flat().some((allowed) => allowed === method)) return 405
  // A form cannot send this type, and a preflight request is never allowed.
  const isTyped = jsonType.test(request.headers['content-type'] ?? '')
  return method !== 'POST' || isTyped ? undefined : 415
}

const jsonType = /^application\/json(?:; ?charset=utf-8)?$/i

/** Whether it names another host (DNS rebinding) or comes from another origin. */
function isFromElsewhere({ headers, headersDistinct, socket }: IncomingMessage): boolean {
  const own = `127.0.0.1:${socket.localPort}`
  const hosts = headersDistinct['host'] ?? []
  const site = headers['sec-fetch-site'] ?? 'none'
  return (
    hosts.length !== 1 ||
    hosts[0] !== own ||
    (headers.origin !== undefined && headers.origin !== `http://${own}`) ||
    (site !== 'none' && site !== 'same-origin')
  )
}

function isSame(given = '', expected: string): boolean {
  const { createHash, timingSafeEqual } = process.getBuiltinModule('node:crypto')
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(expected))
}

export async function listening<T>(port: number | undefined, open: () => Promise<T>): Promise<T> {
  try {
    return await open()
  } catch (error) {
    const code = systemCode(error)
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error
    const [name, why] =
      code === 'EACCES' ? ['port-refused', 'not allowed'] : ['port-taken', 'the port is in use']
    const hint = 'Give another port, or none to select a free port.'
    throw new UsageError({
      code: name,
      message: `--port ${port ?? 0}: ${why}`,
      hint,
      cause: error,
    })
  }
}
