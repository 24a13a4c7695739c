import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { type IdleTimer, idleTimer, openLocalServer } from '../core/local-server.ts'
import { messageOf } from '../core/errors.ts'
import { safeLine } from '../core/text.ts'
import { type ClientSide, createMcpServer, openClientSide } from './create-server.ts'
import { loadServerSdk, type ServerSdk } from './stdio.ts'
import type { McpWorld } from './world.ts'

interface ServeHttpOptions {
  world: McpWorld
  /** Default: any that is free. */
  port?: number | undefined
  /** Whoever knows it is served; {@link newToken} makes one. */
  token: string
  /** A session without a request ends after so long; default 30 minutes. */
  idleMs?: number | undefined
  /** Default 64. */
  mostSessions?: number | undefined
}

export interface ServedHttp {
  /** `http://127.0.0.1:PORT/mcp` */
  address: string
  /** Ends every session and every server that was started. */
  close(): Promise<void>
}

const path = '/mcp'

/** Bytes of one request. */
const largestBody = 4 * 1024 * 1024

export function newToken(): string {
  return randomBytes(32).toString('base64url')
}

/**
 * Serves MCP over Streamable HTTP on 127.0.0.1 to those who have the token. Clients that begin with
 * `initialize` have a session each; for those of 2026-07-28, which have none, all share one.
 * Rejects with the error of the system where the port cannot be listened on.
 */
export async function serveHttp(options: ServeHttpOptions): Promise<ServedHttp> {
  const { world, token, idleMs = 1_800_000, mostSessions = 64 } = options
  const sdk = await loadServerSdk()
  const sessions = createHttpSessions({ world, sdk, idleMs, mostSessions })
  const shared = openClientSide(world.session(), true)
  const modern = sdk.createMcpHandler(() => createMcpServer(world, shared, sdk), {
    legacy: 'reject',
    onerror: (error) => world.note(safeLine(messageOf(error)).slice(0, 500)),
  })
  let address = ''
  const server = await openLocalServer({
    port: options.port,
    token,
    largestBody,
    routes: {
      [path]: {
        method: ['DELETE', 'GET', 'POST'],
        async answer(body, response, request) {
          const asked = webRequest(request, response, address)
          const isLegacy = await sdk.isLegacyRequest(asked, body)
          const answer = isLegacy
            ? await sessions.answer(asked, body)
            : await modern.fetch(asked, { parsedBody: body })
          await sendResponse(answer, response)
        },
      },
    },
  })
  address = `http://127.0.0.1:${server.port}${path}`
  return {
    address,
    async close() {
      server.stop()
      shared.exchanges.close()
      await Promise.all([sessions.close(), modern.close()])
      server.destroy()
      await world.tools.close()
    },
  }
}

/** The sessions of clients that begin with `initialize` (MCP up to 2025-11-25). */
interface HttpSessions {
  /** The answer to a request; one that names no session may only open one. */
  answer(request: Request, body: unknown): Promise<Response>
  close(): Promise<void>
}

interface HttpSessionsOptions {
  world: McpWorld
  sdk: ServerSdk
  /** A session without a request ends after so long. */
  idleMs: number
  /** With more, the one ends that was idle for longest; where none is, new ones are turned away. */
  mostSessions: number
}

interface Session {
  transport: WebStandardStreamableHTTPServerTransport
  idle: IdleTimer
  end(): Promise<void>
}

function createHttpSessions(options: HttpSessionsOptions): HttpSessions {
  const { world, sdk, idleMs, mostSessions } = options
  /** Those that were used last come last. */
  const sessions = new Map<string, Session>()
  return {
    async answer(request, body) {
      const id = request.headers.get('mcp-session-id')
      if (id === null) return await begin(request, body)
      const session = sessions.get(id)
      if (session === undefined) return refusal(404, 'Session not found')
      sessions.delete(id)
      sessions.set(id, session)
      return await within(session, request, body)
    },
    async close() {
      await Promise.all(Array.from(sessions.values(), async (session) => session.end()))
    },
  }

  async function begin(request: Request, body: unknown): Promise<Response> {
    if (request.method !== 'POST' || !sdk.isInitializeRequest(body)) {
      return refusal(400, 'Bad Request: Mcp-Session-Id header is required')
    }
    if (sessions.size >= mostSessions) {
      // Clients that go without DELETE must not keep others out; who comes back begins anew.
      const idle = [...sessions.values()].find((session) => session.idle.isIdle())
      if (idle === undefined) return refusal(503, 'Too many sessions')
      end(idle)
    }
    const id = randomBytes(32).toString('base64url')
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: async () => session.end(),
    })
    const side: ClientSide = openClientSide(world.session())
    const mcp = createMcpServer(world, side, sdk)
    const session: Session = {
      transport,
      idle: idleTimer(idleMs, () => end(session)),
      async end() {
        if (!sessions.delete(id)) return
        session.idle.end()
        side.exchanges.close()
        await mcp.close()
      },
    }
    sessions.set(id, session)
    await mcp.connect(transport)
    const answer = await within(session, request, body)
    if (!answer.ok) await session.end()
    return answer
  }

  function end(session: Session): void {
    session.end().catch((error: unknown) => world.note(messageOf(error)))
  }
}

/** A stream of events counts as a request that continues. */
async function within(session: Session, request: Request, body: unknown): Promise<Response> {
  const done = session.idle.busy()
  request.signal.addEventListener('abort', done, { once: true })
  const given = request.method === 'POST' ? { parsedBody: body } : {}
  const answer = await session.transport.handleRequest(request, given)
  const { status, headers } = answer
  if (answer.body === null) {
    done()
    return answer
  }
  const passed = answer.body.pipeThrough(new TransformStream({ flush: done }))
  return new Response(passed, { status, headers })
}

/** What the SDK answers in such a case. */
function refusal(status: number, message: string): Response {
  const error = { code: status === 404 ? -32_001 : -32_000, message }
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status })
}

/**
 * A request of Node as the SDK takes it, without its body, which was read already. Its signal is
 * aborted when the client hangs up before it was answered.
 */
function webRequest(request: IncomingMessage, response: ServerResponse, address: string): Request {
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
async function sendResponse(answer: Response, response: ServerResponse): Promise<void> {
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
