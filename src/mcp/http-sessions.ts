import type { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { randomBytes } from 'node:crypto'
import { type IdleTimer, idleTimer, messageOf } from '../base/index.ts'
import { type ClientSide, createMcpServer, openClientSide } from './create-server.ts'
import type { ServerSdk } from './sdk.ts'
import type { McpWorld } from './world.ts'

/** The sessions of clients that begin with `initialize` (MCP up to 2025-11-25). */
export interface HttpSessions {
  /** The answer to a request; one that names no session may only open one. */
  answer(request: Request, body: unknown): Promise<Response>
  close(): Promise<void>
}

export interface HttpSessionsOptions {
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

export function createHttpSessions(options: HttpSessionsOptions): HttpSessions {
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

/** A stream of events counts as a request that goes on. */
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
