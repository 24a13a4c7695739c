import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { type IdleTimer, idleTimer, openLocalServer } from '../core/local-server.ts'
import { createMcpServer, offeredTools, openClientSide, warnOf } from './create-server.ts'
import type { ServedProject } from './served-project.ts'
import { loadServerSdk, type ServerSdk } from './stdio.ts'
import type { OfferedTool } from './tool.ts'

interface ServeHttpOptions {
  project: ServedProject
  /** Default: any that is free. */
  port?: number | undefined
  /** Whoever knows it is served; {@link newToken} makes one. */
  token: string
  /** A session without a request ends after so long; default 30 minutes. */
  idleMs?: number | undefined
  /** With more, the one ends that was idle for longest; default 64. */
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
 * `initialize` have a session each; those of 2026-07-28, which have none, share one.
 * Rejects with the error of the system where the port cannot be listened on.
 */
export async function serveHttp(options: ServeHttpOptions): Promise<ServedHttp> {
  const { project, port, token, idleMs = 1_800_000, mostSessions = 64 } = options
  const sdk = await loadServerSdk()
  const tools = offeredTools(project)
  const sessions = new HttpSessions({ project, tools, sdk, idleMs, mostSessions })
  const side = openClientSide(project.newSession(), true)
  const modern = sdk.createMcpHandler(() => createMcpServer({ project, tools, side, sdk }), {
    legacy: 'reject',
    onerror: warnOf(project),
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
          const asked = webRequest(request, response, address)
          const answer = (await sdk.isLegacyRequest(asked, body))
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
      side.exchanges.close()
      await Promise.all([sessions.close(), modern.close()])
      server.destroy()
      await project.servers.close()
    },
  }
}

interface HttpSessionsOptions extends Record<'idleMs' | 'mostSessions', number> {
  project: ServedProject
  tools: readonly OfferedTool[]
  sdk: ServerSdk
}

interface Session {
  transport: WebStandardStreamableHTTPServerTransport
  idle: IdleTimer
  end(): Promise<void>
}

/** The sessions of clients that begin with `initialize` (MCP up to 2025-11-25). */
class HttpSessions {
  readonly #options: HttpSessionsOptions
  /** Those that were used last come last. */
  readonly #sessions = new Map<string, Session>()

  constructor(options: HttpSessionsOptions) {
    this.#options = options
  }

  /** A request that names no session may only open one. */
  async answer(request: Request, body: unknown): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    if (id === null) return await this.#begin(request, body)
    const session = this.#sessions.get(id)
    if (session === undefined) return refusal(404, 'Session not found')
    this.#sessions.delete(id)
    this.#sessions.set(id, session)
    return await within(session, request, body)
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#sessions.values(), async (session) => session.end()))
  }

  async #begin(request: Request, body: unknown): Promise<Response> {
    const { project, tools, sdk, idleMs, mostSessions } = this.#options
    if (request.method !== 'POST' || !sdk.isInitializeRequest(body)) {
      return refusal(400, 'Bad Request: Mcp-Session-Id header is required')
    }
    if (this.#sessions.size >= mostSessions) {
      // Clients that go without DELETE must not keep others out.
      const idle = [...this.#sessions.values()].find((session) => session.idle.isIdle())
      if (idle === undefined) return refusal(503, 'Too many sessions')
      this.#end(idle)
    }
    const id = randomBytes(32).toString('base64url')
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: async () => session.end(),
    })
    const side = openClientSide(project.newSession())
    const mcp = createMcpServer({ project, tools, side, sdk })
    const session: Session = {
      transport,
      idle: idleTimer(idleMs, () => this.#end(session)),
      end: async () => {
        if (!this.#sessions.delete(id)) return
        session.idle.end()
        side.exchanges.close()
        await mcp.close()
      },
    }
    this.#sessions.set(id, session)
    await mcp.connect(transport)
    const answer = await within(session, request, body)
    if (!answer.ok) await session.end()
    return answer
  }

  #end(session: Session): void {
    session.end().catch(warnOf(this.#options.project))
  }
}

/** A stream of events counts as a request that continues. */
async function within(session: Session, request: Request, body: unknown): Promise<Response> {
  const done = session.idle.busy()
  request.signal.addEventListener('abort', done, { once: true })
  const given = request.method === 'POST' ? { parsedBody: body } : {}
  const answer = await session.transport.handleRequest(request, given)
  if (answer.body === null) {
    done()
    return answer
  }
  const passed = answer.body.pipeThrough(new TransformStream({ flush: done }))
  return new Response(passed, { status: answer.status, headers: answer.headers })
}

/** What the SDK answers in such a case. */
function refusal(status: number, message: string): Response {
  const error = { code: status === 404 ? -32_001 : -32_000, message }
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status })
}

/** The request without its body, which was read already; aborted when the client hangs up. */
function webRequest(request: IncomingMessage, response: ServerResponse, address: string): Request {
  const controller = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) controller.abort(new Error('the client hung up'))
  })
  const headers = Object.entries(request.headersDistinct).flatMap(
    ([name, values = []]): [string, string][] => [[name, values.join(', ')]],
  )
  const { method = 'GET' } = request
  return new Request(address, { method, headers, signal: controller.signal })
}

/** Sends an answer of the SDK, a stream of events part by part, until it ends or the client goes. */
async function sendResponse(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  if (answer.body === null) {
    response.end()
    return
  }
  response.flushHeaders()
  await pipeline(Readable.fromWeb(answer.body), response)
}
