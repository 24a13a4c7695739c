import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { McpService } from './create-server.ts'
import type { ServedProject } from './served-project.ts'

const largestMessage = 12 * 1024 * 1024

/**
 * Serves one client over pipes, until it closes its end or the command is ended.
 *
 * @param stdout gets nothing but messages of the protocol
 */
export async function serveStdio(
  project: ServedProject,
  stdin: Readable,
  stdout: Writable,
): Promise<void> {
  const [service, stdio] = await Promise.all([
    McpService.open(project),
    import('@modelcontextprotocol/server/stdio'),
  ])
  const client = service.newClient()
  const closed = new AbortController()
  class Transport extends stdio.StdioServerTransport {
    /** Also called for a closed pipe and a message without end. */
    override async close(): Promise<void> {
      await super.close()
      closed.abort()
    }
  }
  const handle = stdio.serveStdio(() => service.serverFor(client), {
    transport: new Transport(stdin, stdout, { maxBufferSize: largestMessage }),
    onerror: service.warn,
  })
  const ended = AbortSignal.any([project.context.signal, closed.signal])
  if (!ended.aborted) await once(ended, 'abort')
  client.exchanges.close()
  try {
    await handle.close()
  } finally {
    await project.servers.close()
  }
}
