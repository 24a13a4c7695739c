import { compareText, type Diagnostic } from '../../core/diagnostic.ts'
import { redactText } from '../../core/redact.ts'
import type { Runtime } from '../../core/runtime.ts'
import { StateFileError } from '../../core/errors.ts'
import { withFileLock } from '../../core/file-lock.ts'
import { readRegularFile } from '../../core/read-files.ts'
import { acceptPlacements } from '../../trust/project-files.ts'
import { TrustStore } from '../../trust/store.ts'
import { requireWithin, writeFileAtomic } from '../../core/write-files.ts'
import type { ServerDefinition } from '../config/model.ts'
import type { ListOptions, ServerFailure, ToolListing } from '../model.ts'
import {
  cachedTools,
  type CacheReading,
  cacheText,
  moveAside,
  nameInServer,
  readCacheFile,
  serverOfId,
  type ToolCache,
} from './cache-file.ts'
import { type ToolChanges, trackTools } from './changes.ts'
import { type CurrentTool, mergeCache } from './merge.ts'
import type { ListingPool } from './discover.ts'
import {
  type ProjectPlace,
  readableCachePath,
  readRefreshRecord,
  realProject,
  type RecordedServer,
  type RefreshRecord,
  refreshRecordPath,
  serializeRecord,
  storedDefinitions,
  toolCachePath,
  writeSidecar,
} from './stored-tools.ts'

export interface RefreshOptions {
  pool: ListingPool
  /** Those that are enabled. */
  servers: readonly Pick<ServerDefinition, 'name' | 'digest' | 'trusted'>[]
  project: string
  runtime: Runtime
  /** The pool has only this server; the tools of the others stay as they are. */
  only?: string | undefined
  /** Asks the servers and writes nothing. */
  dryRun?: boolean | undefined
  /** Takes added and changed tools as they are now. */
  accept?: boolean | undefined
  signal?: AbortSignal | undefined
  onServer?: ListOptions['onServer']
}

export interface RefreshReport {
  path: string
  refreshedAt: string
  /** False where servers were asked and none answered: then the cache is as it was. */
  refreshed: boolean
  dryRun: boolean
  servers: readonly { name: string; tools: number; failure?: ServerFailure | undefined }[]
  categories: readonly { name: string; tools: number }[]
  uncategorized: number
  tools: number
  changes: ToolChanges
  /** Tools that changed at this refresh or an earlier one and were not accepted since. */
  held: readonly string[]
  movedAside?: string | undefined
  diagnostics: readonly Diagnostic[]
}

/**
 * Asks the servers for their tools and writes the cache, the definitions and the record. A server
 * that fails keeps the tools it had; where all fail, the cache stays. The cache is replaced as a
 * whole, last. Throws {@link StateFileError} `cache-newer` where a later version of the program
 * wrote the cache, and `write-outside` where a link leads out of the project.
 */
export async function refreshToolIndex(options: RefreshOptions): Promise<RefreshReport> {
  const path = toolCachePath(options.project)
  refuseNewer(readCacheFile(readableCachePath(options.project)))
  const { signal, onServer, only } = options
  const { tools, ...listing } = await options.pool.list({ signal, onServer })
  signal?.throwIfAborted()
  const failed = new Set(listing.failures.map(({ server }) => server))
  const listed = options.servers
    .map(({ name }) => name)
    .filter((name) => (only ?? name) === name && !failed.has(name))
  const answered = {
    ...listing,
    listed: new Set(listed),
    tools: tools.filter(({ server }) => listed.includes(server)),
  }
  if (options.dryRun === true) return merge(path, options, answered)
  requireWithin(realProject(options.project), path)
  return withFileLock(path, async () => merge(path, options, answered))
}

interface Answered extends ToolListing {
  /** Names of the servers that answered, tools or not. */
  listed: ReadonlySet<string>
}

async function merge(path: string, options: RefreshOptions, listing: Answered) {
  const source = readableCachePath(options.project)
  const reading = refuseNewer(readCacheFile(source))
  const cache = reading.state === 'read' ? reading.cache : undefined
  const { record, diagnostics } = readRefreshRecord(options)
  // Where no answer was given, nothing was refreshed: the cache stays, and so does its date.
  const isRefreshed = listing.listed.size > 0 || listing.failures.length === 0
  const now = new Date(options.runtime.now()).toISOString()
  const refreshedAt = isRefreshed ? now : (cache?.refreshedAt ?? now)
  const servers = options.servers.map(({ name }) => name).toSorted(compareText)
  const kept = keptTools(cache, servers, listing)
  const tools = [...listing.tools, ...kept]
  const tracked = trackTools({
    listed: listing.tools,
    current: new Set(tools.map(({ id }) => id)),
    cached: cachedTools(cache),
    record,
    earlier: storedDefinitions(record, options).definition,
    at: refreshedAt,
    accept: options.accept === true,
  })
  const held = tracked.tools.flatMap(({ id, before, removedAt }) =>
    before !== undefined && removedAt === undefined ? [id] : [],
  )
  // Clients of models read the cache file, so it says nothing of tools that are held back.
  const shown = tools.map((tool) => (held.includes(tool.id) ? { ...tool, description: '' } : tool))
  const merged = mergeCache({ refreshedAt, servers, tools: shown, cache, record })
  const listed = new Set(listing.tools.map(({ id }) => id))
  const next: RefreshRecord = {
    version: 1,
    project: realProject(options.project),
    refreshedAt,
    servers: recordServers(options, listing, record, refreshedAt),
    tools: tracked.tools.map((tool) =>
      listed.has(tool.id) ? { ...tool, category: merged.generated.get(tool.id) } : tool,
    ),
    categories: merged.generatedTexts,
  }
  const writesCache = isRefreshed && options.dryRun !== true
  const movedAside =
    reading.state === 'corrupt' && writesCache ? moveAside(source, options.runtime) : undefined
  if (options.dryRun !== true) {
    for (const { name, digest } of next.servers.filter((one) => listing.listed.has(one.name))) {
      const own = listing.tools.filter(({ server }) => server === name)
      await writeSidecar(digest, own, options)
    }
    await writeFileAtomic(refreshRecordPath(options), serializeRecord(next), { mode: 0o600 })
  }
  if (writesCache) await writeCache(path, cacheText(merged.cache), source, options)
  return {
    path,
    refreshedAt,
    refreshed: isRefreshed,
    dryRun: options.dryRun === true,
    servers: servers.map((name) => ({
      name,
      tools: tools.filter(({ server }) => server === name).length,
      failure: listing.failures.find(({ server }) => server === name),
    })),
    categories: merged.cache.categories
      .map(({ name, tools: members }) => ({ name, tools: members.length }))
      .toSorted((a, b) => compareText(a.name, b.name)),
    uncategorized: merged.cache.uncategorized.length,
    tools: tools.length,
    changes: tracked.changes,
    held,
    movedAside,
    diagnostics: [...reading.diagnostics, ...diagnostics, ...(listing.diagnostics ?? [])],
  }
}

/** The categories that a refresh gives are accepted with it: workflows go by them. */
async function writeCache(path: string, after: string, source: string, place: ProjectPlace) {
  const { project, runtime } = place
  const file = readRegularFile(source, { maxBytes: maxCacheBytes })
  const before = file.ok ? file.text : ''
  await writeFileAtomic(path, after)
  const workspace = realProject(project)
  await acceptPlacements(new TrustStore(runtime), { workspace, path, before, after })
}

const maxCacheBytes = 64 * 1024 * 1024

function refuseNewer(reading: CacheReading): CacheReading {
  if (reading.state !== 'newer') return reading
  const [problem] = reading.diagnostics
  throw new StateFileError({
    code: 'cache-newer',
    message: problem?.message ?? 'the tool cache was written by a later version',
    hint: problem?.hint,
  })
}

/** Tools from the cache of servers that are configured and were not listed now. */
function keptTools(
  cache: ToolCache | undefined,
  servers: readonly string[],
  listing: Answered,
): CurrentTool[] {
  return [...cachedTools(cache).values()].flatMap(({ id, description }) => {
    const server = serverOfId(id, servers)
    if (!servers.includes(server) || listing.listed.has(server)) return []
    return [{ id, server, name: nameInServer(id, server), description }]
  })
}

function recordServers(
  options: RefreshOptions,
  listing: Answered,
  record: RefreshRecord | undefined,
  at: string,
): RecordedServer[] {
  const before = new Map(record?.servers.map((server) => [server.name, server]))
  const failures = new Map(listing.failures.map((failure) => [failure.server, failure]))
  return options.servers.flatMap(({ name, digest, trusted }) => {
    const known = before.get(name)
    const failure = failures.get(name)
    if (listing.listed.has(name)) {
      return [{ name, digest, trusted, listedAt: at, ttlMs: listing.ttlMs?.get(name) }]
    }
    if (failure === undefined) return known === undefined ? [] : [known]
    const { notTrusted } = failure
    const message = redactText(failure.message)
    const stderrTail = redactText(failure.stderrTail)
    // The definitions of the last listing stay those of its configuration.
    const last = known ?? { name, digest, trusted, listedAt: '' }
    return [{ ...last, trusted, failure: { message, stderrTail, notTrusted } }]
  })
}
