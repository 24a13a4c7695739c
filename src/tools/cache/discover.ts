import { untilAborted } from '#core/runtime'
import { indexDefinitions, type ToolIndex } from './tool-index.ts'
import type { ListOptions, ToolListing } from '#tools/model'

export interface ListingPool {
  /** Those that would be asked, where they may change while the pool lives. */
  readonly definitions?: readonly object[] | undefined
  list(options?: ListOptions): Promise<ToolListing>
}

interface DiscoveryOptions {
  pool: ListingPool
  /** What the cache knows: its categories and examples stay. */
  index?: ToolIndex | undefined
  trusted: ReadonlySet<string>
  refreshedAt: string
  /** How long a server is waited for; undefined: as long as its own limits say. */
  patienceMs?: ListOptions['patienceMs']
  /** Ends the waiting of this caller; the servers are asked for all who wait, until their pool closes. */
  signal?: AbortSignal | undefined
}

/** With what the answer depends on besides the servers themselves. */
const discoveries = new WeakMap<ListingPool, { beside: string; found: Promise<ToolIndex> }>()

/**
 * Asks the servers of a pool what they have now: where the cache is missing or corrupt, does not
 * know an id or a prefix, or a tool that it knows is gone. Asks once for all callers while the
 * cache and the definitions stay the same, and again after a failure. Nothing is written. A
 * server that fails keeps its tools of the cache.
 */
export async function discoverOnce(options: DiscoveryOptions): Promise<ToolIndex> {
  const { pool, signal } = options
  const beside = identityOf(options)
  let discovery = discoveries.get(pool)
  if (discovery?.beside !== beside) {
    const forget = (): void => {
      if (discoveries.get(pool) === discovery) discoveries.delete(pool)
    }
    discovery = { beside, found: discover(options, forget) }
    discoveries.set(pool, discovery)
    discovery.found.catch(forget)
  }
  return await (signal ? untilAborted(discovery.found, signal) : discovery.found)
}

function identityOf({ pool, index, trusted }: DiscoveryOptions): string {
  const tools = index?.tools.map((tool) => [tool, index.caution(tool.id)])
  const cache = [index?.refreshedAt, index?.servers, tools]
  return JSON.stringify([pool.definitions, [...trusted], cache])
}

async function discover(
  { pool, index, trusted, refreshedAt, patienceMs }: DiscoveryOptions,
  onFailure: () => void,
): Promise<ToolIndex> {
  const { tools, failures } = await pool.list({ patienceMs })
  // Missing trust is not tried again.
  if (failures.some(({ notTrusted }) => notTrusted !== true)) onFailure()
  const failed = new Set(failures.map(({ server }) => server))
  const kept = (index?.tools ?? []).flatMap((tool) => {
    const definition = failed.has(tool.server) ? index?.definition(tool.id) : undefined
    return definition ? [definition] : []
  })
  return indexDefinitions([...tools, ...kept], {
    refreshedAt,
    failures,
    trusted,
    known: index,
  })
}
