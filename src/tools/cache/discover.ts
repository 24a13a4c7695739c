import { indexDefinitions } from './index-definitions.ts'
import type { ListingOptions, ListingPool } from './list-servers.ts'
import type { ToolIndex } from './model.ts'
import { acceptDefinitions } from './_accept-definitions.ts'

export interface DiscoveryOptions {
  pool: ListingPool
  /** What the cache knows: its workflows and examples stay. */
  index?: ToolIndex | undefined
  /** Names of the servers whose annotations are believed. */
  trusted: ReadonlySet<string>
  refreshedAt: string
  /** How long a server is waited for; undefined: as long as its own limits say. */
  patienceMs?: ListingOptions['patienceMs']
  signal?: AbortSignal | undefined
}

const discoveries = new WeakMap<ListingPool, Promise<ToolIndex>>()

/**
 * Asks the servers of a pool what they have now, once for as long as the pool lives: where the cache
 * is missing or corrupt, does not know an id or a prefix, or a tool that it knows proved not to be
 * there. Nothing is written. A server that fails keeps the tools that the cache has of it. After a
 * failure the next caller asks again.
 */
export function discoverOnce(options: DiscoveryOptions): Promise<ToolIndex> {
  const known = discoveries.get(options.pool)
  if (known !== undefined) return known
  const discovery = discover(options)
  discoveries.set(options.pool, discovery)
  discovery.catch(() => discoveries.delete(options.pool))
  return discovery
}

async function discover(options: DiscoveryOptions): Promise<ToolIndex> {
  const { pool, index, trusted, refreshedAt, patienceMs, signal } = options
  const { tools, failures } = await pool.list({ signal, patienceMs })
  const listed = acceptDefinitions(tools).tools
  const failed = new Set(failures.map(({ server }) => server))
  const kept = (index?.tools ?? []).flatMap((tool) => {
    const definition = failed.has(tool.server) ? index?.definition(tool.id) : undefined
    return definition === undefined ? [] : [definition]
  })
  return indexDefinitions([...listed, ...kept], {
    refreshedAt,
    failures,
    trusted,
    workflows: index?.workflows,
    known: index,
  })
}
