import type { RawServer } from './model.ts'
import { mcpServers, readStandardServer } from './shape-mcp-servers.ts'
import type { ServerShape } from './shape.ts'

/**
 * Gemini CLI, `mcpServers` in settings.json: `httpUrl` is streamable HTTP, `url` server-sent events
 * unless `type` says otherwise; the time-out is one for all requests, in ms.
 */
export const gemini: ServerShape = {
  ...mcpServers,
  read(fields): RawServer | undefined {
    const server = readStandardServer(fields)
    if (server === undefined) return undefined
    const http = fields.text('httpUrl')
    const byAddress = http === undefined && fields.text('type') === undefined
    return {
      ...server,
      url: http ?? server.url,
      transport: server.transport === 'http' && byAddress ? 'sse' : server.transport,
      allow: fields.texts('includeTools'),
      deny: fields.texts('excludeTools'),
      callTimeoutMs: fields.amount('timeout'),
    }
  },
}
