import { randomBytes } from 'node:crypto'
import { messageOf, openLocalServer, safeLine } from '../base/index.ts'
import { createMcpServer, openClientSide } from './create-server.ts'
import { createHttpSessions } from './http-sessions.ts'
import { loadServerSdk } from './sdk.ts'
import { sendResponse, webRequest } from './web-request.ts'
import type { McpWorld } from './world.ts'

export interface ServeHttpOptions {
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
