import type { Readable, Writable } from 'node:stream'
import type * as Sdk from '@modelcontextprotocol/server'
import type * as SkillsSdk from '@modelcontextprotocol/server/ext/skills'
import type * as StdioSdk from '@modelcontextprotocol/server/stdio'
import { messageOf } from '../core/errors.ts'
import { safeLine } from '../core/text.ts'
import { type ClientSide, createMcpServer, openClientSide } from './create-server.ts'
import type { McpWorld } from './world.ts'

interface ServeStdioOptions {
  world: McpWorld
  stdin: Readable
  /** Nothing but messages of the protocol is written to it. */
  stdout: Writable
  signal: AbortSignal
}

/** Bytes; a larger message ends the connection. */
const largestMessage = 12 * 1024 * 1024

/** Serves one client over pipes, until it closes its end or `signal` says so. */
export async function serveStdio(options: ServeStdioOptions): Promise<void> {
  const { world, stdin, stdout, signal } = options
  const [sdk, stdio] = await Promise.all([loadServerSdk(), loadStdioSdk()])
  const side = openClientSide(world.session())
  const closed = new AbortController()
  class Transport extends stdio.StdioServerTransport {
    /** Also what a closed pipe and a message without end come to. */
    override async close(): Promise<void> {
      await super.close()
      closed.abort()
    }
  }
  const handle = stdio.serveStdio(() => createMcpServer(world, side, sdk), {
    transport: new Transport(stdin, stdout, { maxBufferSize: largestMessage }),
    onerror: (error) => world.note(safeLine(messageOf(error)).slice(0, 500)),
  })
  await aborted(AbortSignal.any([signal, closed.signal]))
  await end(side, () => handle.close(), world)
}

async function end(side: ClientSide, close: () => Promise<void>, world: McpWorld): Promise<void> {
  side.exchanges.close()
  try {
    await close()
  } finally {
    await world.tools.close()
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise((resolve) => {
    signal.addEventListener('abort', resolve, { once: true })
  })
}

/** The official server; loaded only where one is opened. */
export async function loadServerSdk(): Promise<ServerSdk> {
  const [server, skills] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('@modelcontextprotocol/server/ext/skills'),
  ])
  return { ...server, SkillsExtension: skills.SkillsExtension }
}

export type ServerSdk = typeof Sdk & Pick<typeof SkillsSdk, 'SkillsExtension'>

/** The transport over pipes, apart from what HTTP needs. */
function loadStdioSdk(): Promise<typeof StdioSdk> {
  return import('@modelcontextprotocol/server/stdio')
}
