import { discoverOnce, type ProjectServers, type ToolIndex } from '../tools/index.ts'
import { amount } from '../base/text.ts'
import type { CommandContext } from './command.ts'

/**
 * Asks the servers for their tools, once for as long as the pool lives. What takes long is said, and
 * so is which servers could not be asked.
 *
 * Where a cache says what there was, a name that it does not know is hardly worth a long wait: a
 * server that hangs, or that failed when it was last listed, is given up after a short one.
 */
export async function discoverTools(
  { runtime, output, signal }: CommandContext,
  pool: ProjectServers,
  index: ToolIndex | undefined,
): Promise<ToolIndex> {
  const servers = pool.definitions.filter(({ disabled }) => !disabled)
  const failed = new Set(
    index?.servers.flatMap(({ name, unavailable }) => (unavailable === undefined ? [] : [name])),
  )
  const isKnown = index !== undefined && index.tools.length > 0
  const slow = setTimeout(() => {
    output.note(`Asking ${amount(servers.length, 'server')} for their tools …`)
  }, patienceMs.silent)
  try {
    const found = await discoverOnce({
      pool,
      index,
      trusted: new Set(servers.flatMap(({ name, trusted }) => (trusted ? [name] : []))),
      refreshedAt: new Date(runtime.now()).toISOString(),
      patienceMs: isKnown
        ? (server) => (failed.has(server) ? patienceMs.failed : patienceMs.known)
        : undefined,
      signal,
    })
    for (const { unavailable } of found.servers) {
      if (unavailable !== undefined && unavailable.notTrusted !== true) {
        output.note(`Not asked: ${unavailable.message}`)
      }
    }
    return found
  } finally {
    clearTimeout(slow)
  }
}

const patienceMs = { silent: 1500, failed: 3000, known: 5000 } as const
