import { untilAborted } from '#core/runtime'
import { indexDefinitions, type ToolIndex } from './tool-index.ts'
import type { ListOptions, ToolListing } from '#tools/model'

export interface ListingPool {
  /** The definitions of the servers that would be asked, if they can change while the pool is open. */
  readonly definitions?: readonly object[] | undefined
  list(options?: ListOptions): Promise<ToolListing>
}

interface DiscoveryOptions {
  pool: ListingPool
  /** The cached tools, whose categories and examples stay. */
  index?: ToolIndex | undefined
  trusted: ReadonlySet<string>
  refreshedAt: string
  /** How long to wait for a server; undefined: as long as its own limits allow. */
  patienceMs?: ListOptions['patienceMs']
  /** Ends this caller's wait; the servers are asked for all callers until their pool closes. */
  signal?: AbortSignal | undefined
}

/**
 * One discovery for each pool; the key contains everything besides the servers that the index depends on.
 */
const discoveries = new WeakMap<ListingPool, { key: string; index: Promise<ToolIndex> }>()

/**
 * Asks the servers of a pool for their current tools, if the cache is missing or corrupt, does not contain
 * an ID or a prefix, or contains a tool that no longer exists. Asks once for all callers while the cache
 * and the definitions stay the same, and again after a failure. Writes nothing. A server that fails keeps
 * its cached tools.
 */
export async function discoverOnce(options: DiscoveryOptions): Promise<ToolIndex> {
  const { pool, signal } = options
  const key = identityOf(options)
  let discovery = discoveries.get(pool)
  if (discovery?.key !== key) {
    const forget = (): void => {
      if (discoveries.get(pool) === discovery) discoveries.delete(pool)
    }
    discovery = { key, index: discover(options, forget) }
    discoveries.set(pool, discovery)
    discovery.index.catch(forget)
  }
  return await (signal ? untilAborted(discovery.index, signal) : discovery.index)
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
  // A retry does not help where trust is missing.
  if (failures.some(({ notTrusted }) => notTrusted !== true)) onFailure()
  const failedServers = new Set(failures.map(({ server }) => server))
  const cachedDefinitions = (index?.tools ?? []).flatMap((tool) => {
    const definition = failedServers.has(tool.server) ? index?.definition(tool.id) : undefined
    return definition ? [definition] : []
  })
  return indexDefinitions([...tools, ...cachedDefinitions], {
    refreshedAt,
    failures,
    trusted,
    earlierIndex: index,
  })
}
