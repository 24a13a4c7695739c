import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import type * as Sdk from '@modelcontextprotocol/server'
import type * as SkillsSdk from '@modelcontextprotocol/server/ext/skills'
import { createMcpServer, offeredTools, openClientSide, warnOf } from './create-server.ts'
import type { ServedProject } from './served-project.ts'

const largestMessage = 12 * 1024 * 1024

/** Serves one client over pipes, until it closes its end or the command is ended. */
export async function serveStdio(
  project: ServedProject,
  stdin: Readable,
  stdout: Writable,
): Promise<void> {
  const [sdk, stdio] = await Promise.all([
    loadServerSdk(),
    import('@modelcontextprotocol/server/stdio'),
  ])
  const side = openClientSide(project.newSession())
  const tools = offeredTools(project)
  const closed = new AbortController()
  class Transport extends stdio.StdioServerTransport {
    /** Also called for a closed pipe and a message without end. */
    override async close(): Promise<void> {
      await super.close()
      closed.abort()
    }
  }
  const handle = stdio.serveStdio(() => createMcpServer({ project, tools, side, sdk }), {
    transport: new Transport(stdin, stdout, { maxBufferSize: largestMessage }),
    onerror: warnOf(project),
  })
  const ended = AbortSignal.any([project.context.signal, closed.signal])
  if (!ended.aborted) await once(ended, 'abort')
  side.exchanges.close()
  try {
    await handle.close()
  } finally {
    await project.servers.close()
  }
}

/** The official server; loaded only where one is opened. */
export async function loadServerSdk(): Promise<ServerSdk> {
  const [server, { SkillsExtension }] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('@modelcontextprotocol/server/ext/skills'),
  ])
  return { ...server, SkillsExtension }
}

export type ServerSdk = typeof Sdk & Pick<typeof SkillsSdk, 'SkillsExtension'>
