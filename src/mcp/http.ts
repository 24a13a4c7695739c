import { randomBytes } from 'node:crypto'
import type { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { type IdleTimer, idleTimer, openLocalServer } from '#core/local-server'
import { sendResponse, webRequest } from '#core/web-requests'
import { McpService } from './create-server.ts'
import type { ServedProject } from './served-project.ts'

interface ServeHttpOptions extends Partial<SessionLimits> {
  project: ServedProject
  /** Default: any free port. */
  port?: number | undefined
  /** Every request needs it; {@link newToken} makes one. */
  token: string
}

interface SessionLimits {
  /** A session without a request ends after this time; default 30 minutes. */
  idleMs: number
  /** If there are more, the session that was idle longest ends; default 64. */
  maxSessions: number
}

export interface ServedHttp {
  /** `http://127.0.0.1:PORT/mcp` */
  address: string
  close(): Promise<void>
}

const path = '/mcp'

/** Maximum bytes in one request body. */
const largestBody = 4 * 1024 * 1024

export function newToken(): string {
  return randomBytes(32).toString('base64url')
}

/**
 * Serves MCP over Streamable HTTP on 127.0.0.1 to clients that have the token. Clients that begin
 * with `initialize` have a session each; clients of 2026-07-28 have none and share one.
 * Rejects with the system's error if it cannot listen on the port.
 */
export async function serveHttp(options: ServeHttpOptions): Promise<ServedHttp> {
  const { project, port, token, idleMs = 1_800_000, maxSessions = 64 } = options
  const service = await McpService.open(project)
  const { sdk } = service
  const sessions = new HttpSessions(service, { idleMs, maxSessions })
  const shared = service.newClient(true)
  const modern = sdk.createMcpHandler(() => service.serverFor(shared), {
    legacy: 'reject',
    onerror: service.warn,
  })
  let address = ''
  const server = await openLocalServer({
    port,
    token,
    largestBody,
    routes: {
      [path]: {
        method: ['DELETE', 'GET', 'POST'],
        async answer(body, response, request) {
          const incoming = webRequest(request, response, address)
          const answer = (await sdk.isLegacyRequest(incoming, body))
            ? await sessions.answer(incoming, body)
            : await modern.fetch(incoming, { parsedBody: body })
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
      await project.servers.close()
    },
  }
}

interface Session {
  transport: WebStandardStreamableHTTPServerTransport
  idle: IdleTimer
  end(): Promise<void>
}

/** The sessions of clients that begin with `initialize` (MCP up to 2025-11-25). */
class HttpSessions {
  readonly #service: McpService
  readonly #limits: SessionLimits
  /** In the order of their last use. */
  readonly #sessions = new Map<string, Session>()

  constructor(service: McpService, limits: SessionLimits) {
    this.#service = service
    this.#limits = limits
  }

  /** A request that names no session may only open one. */
  async answer(request: Request, body: unknown): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    if (id === null) return await this.#begin(request, body)
    const session = this.#sessions.get(id)
    if (!session) return refusal(404, 'Session not found')
    this.#sessions.delete(id)
    this.#sessions.set(id, session)
    return await within(session, request, body)
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#sessions.values(), (session) => session.end()))
  }

  async #begin(request: Request, body: unknown): Promise<Response> {
    const { sdk, warn } = this.#service
    const sessions = this.#sessions
    if (request.method !== 'POST' || !sdk.isInitializeRequest(body))
      return refusal(400, 'Bad Request: Mcp-Session-Id header is required')
    if (sessions.size >= this.#limits.maxSessions) {
      // Clients that leave without DELETE must not keep others out.
      const idle = [...sessions.values()].find((session) => session.idle.isIdle())
      if (!idle) return refusal(503, 'Too many sessions')
      idle.end().catch(warn)
    }
    const id = newToken()
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: () => session.end(),
    })
    const client = this.#service.newClient()
    const mcp = this.#service.serverFor(client)
    const session: Session = {
      transport,
      idle: idleTimer(this.#limits.idleMs, () => void session.end().catch(warn)),
      async end() {
        if (!sessions.delete(id)) return
        session.idle.end()
        client.exchanges.close()
        await mcp.close()
      },
    }
    sessions.set(id, session)
    await mcp.connect(transport)
    const answer = await within(session, request, body)
    if (!answer.ok) await session.end()
    return answer
  }
}

/** A stream of events counts as a request that continues. */
async function within(session: Session, request: Request, body: unknown): Promise<Response> {
  const done = session.idle.busy()
  request.signal.addEventListener('abort', done, { once: true })
  const handleOptions = request.method === 'POST' ? { parsedBody: body } : {}
  const answer = await session.transport.handleRequest(request, handleOptions)
  if (answer.body === null) {
    done()
    return answer
  }
  return new Response(answer.body.pipeThrough(new TransformStream({ flush: done })), answer)
}

function refusal(status: number, message: string): Response {
  const error = { code: status === 404 ? -32_001 : -32_000, message }
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status })
}
