import { compareText, type Diagnostic, StateFileError } from '#core/errors'
import { redactText } from '#core/redact'
import { withFileLock } from '#core/file-lock'
import { readRegularFile } from '#core/read-files'
import { acceptPlacements } from '#trust/accept-edit'
import { TrustStore } from '#trust/store'
import { requireWithin, writeFileAtomic } from '#core/write-files'
import type { ServerDefinition } from '#tools/config/model'
import type { ListOptions, ServerFailure, ToolDefinition, ToolListing } from '#tools/model'
import {
  type CachedTool,
  cachedTools,
  type CacheReading,
  cacheText,
  cutDescription,
  moveAside,
  nameInServer,
  readCacheFile,
  serverOfId,
} from './cache-file.ts'
import { type CurrentTool, mergeCache } from './merge.ts'
import type { ListingPool } from './discover.ts'
import {
  digestTool,
  type ProjectPlace,
  readableCachePath,
  readRefreshRecord,
  realProject,
  type RecordedServer,
  type RecordedTool,
  type RefreshRecord,
  refreshRecordPath,
  serializeRecord,
  storedDefinitions,
  toolCachePath,
  type ToolDigests,
  writeSidecar,
} from './stored-tools.ts'

export interface RefreshOptions extends ProjectPlace {
  pool: ListingPool
  servers: readonly Pick<ServerDefinition, 'name' | 'digest' | 'trusted'>[]
  /** The pool has only this server; the tools of the others stay as they are. */
  only?: string | undefined
  /** Asks the servers and writes nothing. */
  dryRun?: boolean | undefined
  /** Takes added and changed tools as they are now. */
  accept?: boolean | undefined
  signal?: AbortSignal | undefined
  onServer?: ListOptions['onServer']
}

/** Ids of tools, compared with the cache and the record of the last refresh. */
export interface ToolChanges {
  added: readonly string[]
  removed: readonly string[]
  changed: readonly { id: string; what: readonly (keyof ToolDigests)[] }[]
  /** Tools that had the mark of an earlier change, or would have it now, and were accepted. */
  accepted: readonly string[]
}

/** What a refresh found and changed. */
export interface RefreshReport {
  path: string
  refreshedAt: string
  /** False where servers were asked and none answered: then the cache is as it was. */
  refreshed: boolean
  dryRun: boolean
  servers: readonly { name: string; tools: number; failure: ServerFailure | undefined }[]
  categories: readonly { name: string; tools: number }[]
  uncategorized: number
  tools: number
  changes: ToolChanges
  /** Tools that changed at this refresh or an earlier one and were not accepted since. */
  held: readonly string[]
  movedAside: string | undefined
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
  const listing = await options.pool.list({ signal, onServer })
  signal?.throwIfAborted()
  const failed = new Set(listing.failures.map(({ server }) => server))
  const names = options.servers.map(({ name }) => name)
  const listed = new Set(names.filter((name) => (only ?? name) === name && !failed.has(name)))
  const tools = listing.tools.filter(({ server }) => listed.has(server))
  const answered = { ...listing, listed, tools }
  if (options.dryRun === true) return merge(path, options, answered)
  requireWithin(realProject(options.project), path)
  return withFileLock(path, async () => merge(path, options, answered))
}

interface Answered extends ToolListing {
  /** Names of the servers that answered, tools or not. */
  listed: ReadonlySet<string>
}

async function merge(
  path: string,
  options: RefreshOptions,
  listing: Answered,
): Promise<RefreshReport> {
  const { project, runtime, dryRun = false, accept = false } = options
  const source = readableCachePath(project)
  const reading = refuseNewer(readCacheFile(source))
  const cache = reading.state === 'read' ? reading.cache : undefined
  const { record, diagnostics } = readRefreshRecord(options)
  // Where no answer was given, nothing was refreshed: the cache stays, and so does its date.
  const isRefreshed = listing.listed.size > 0 || listing.failures.length === 0
  const now = new Date(runtime.now()).toISOString()
  const refreshedAt = isRefreshed ? now : (cache?.refreshedAt ?? now)
  const servers = options.servers.map(({ name }) => name).toSorted(compareText)
  const cached = cachedTools(cache)
  const tools = [...listing.tools, ...keptTools(cached, servers, listing.listed)]
  const tracked = trackTools({
    listed: listing.tools,
    current: new Set(tools.map(({ id }) => id)),
    cached,
    record,
    earlier: storedDefinitions(record, options).definition,
    at: refreshedAt,
    accept,
  })
  const held = tracked.tools.flatMap(({ id, before, removedAt }) =>
    before && removedAt === undefined ? [id] : [],
  )
  // Clients of models read the cache file, so it says nothing of tools that are held back.
  const shown = tools.map((tool) => (held.includes(tool.id) ? { ...tool, description: '' } : tool))
  const merged = mergeCache({ refreshedAt, servers, tools: shown, cache, record })
  const listed = new Set(listing.tools.map(({ id }) => id))
  const next: RefreshRecord = {
    version: 1,
    project: realProject(project),
    refreshedAt,
    servers: recordServers(options, listing, record, refreshedAt),
    tools: tracked.tools.map((tool) =>
      listed.has(tool.id) ? { ...tool, category: merged.generated.get(tool.id) } : tool,
    ),
    categories: merged.generatedTexts,
  }
  const writesCache = isRefreshed && !dryRun
  const movedAside =
    reading.state === 'corrupt' && writesCache ? moveAside(source, runtime) : undefined
  if (!dryRun) {
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
    dryRun,
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
  cached: ReadonlyMap<string, CachedTool>,
  servers: readonly string[],
  listed: ReadonlySet<string>,
): CurrentTool[] {
  return [...cached.values()].flatMap(({ id, description }) => {
    const server = serverOfId(id, servers)
    if (!servers.includes(server) || listed.has(server)) return []
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
    if (!failure) return known ? [known] : []
    const { notTrusted } = failure
    const message = redactText(failure.message)
    const stderrTail = redactText(failure.stderrTail)
    // The definitions of the last listing stay those of its configuration.
    const last = known ?? { name, digest, trusted, listedAt: '' }
    return [{ ...last, trusted, failure: { message, stderrTail, notTrusted } }]
  })
}

interface TrackInput {
  listed: readonly ToolDefinition[]
  /** Ids that are there, the listed ones and those kept from before. */
  current: ReadonlySet<string>
  cached: ReadonlyMap<string, CachedTool>
  record?: RefreshRecord | undefined
  earlier: (id: string) => ToolDefinition | undefined
  at: string
  /** Takes every tool as it is now: what changed before is no longer held against it. */
  accept: boolean
}

/**
 * Follows each tool from refresh to refresh. One whose description or schema changes keeps the mark
 * until it is accepted or changes back, also when it was away in between: a server must not swap a
 * tool that was looked at for another one. One that comes to a server that was listed before is
 * marked too, with empty digests.
 */
function trackTools(input: TrackInput): { changes: ToolChanges; tools: readonly RecordedTool[] } {
  const { record, current, cached, at, accept } = input
  const before = new Map(record?.tools.map((tool) => [tool.id, tool]))
  const tools = new Map<string, RecordedTool>()
  const changed: { id: string; what: (keyof ToolDigests)[] }[] = []
  const accepted: string[] = []
  for (const tool of input.listed) {
    const known = before.get(tool.id)
    const now = { id: tool.id, ...digestTool(tool) }
    const mark = markOf(now, known, input, tool.server)
    tools.set(tool.id, { ...now, before: accept ? undefined : mark })
    if (accept && mark) accepted.push(tool.id)
    const what = known ? parts(now, known) : textChange(tool, cached.get(tool.id))
    if (what.length > 0) changed.push({ id: tool.id, what })
  }
  for (const [id, known] of before) {
    if (tools.has(id)) continue
    const gone = current.has(id) ? undefined : (known.removedAt ?? at)
    const mark = accept ? undefined : known.before
    tools.set(id, { ...known, before: mark, removedAt: gone })
    if (accept && known.before && gone === undefined) accepted.push(id)
  }
  return {
    changes: {
      added: [...current].filter((id) => !cached.has(id)).toSorted(compareText),
      removed: [...cached.keys()].filter((id) => !current.has(id)).toSorted(compareText),
      changed: changed.toSorted((a, b) => compareText(a.id, b.id)),
      accepted: accepted.toSorted(compareText),
    },
    tools: [...tools.values()].toSorted((a, b) => compareText(a.id, b.id)),
  }
}

function markOf(
  now: ToolDigests & { id: string },
  known: RecordedTool | undefined,
  { at, earlier, record }: TrackInput,
  server: string,
): RecordedTool['before'] {
  if (!known) {
    const isKnown = record?.servers.some(({ name, listedAt }) => name === server && listedAt !== '')
    return isKnown ? { description: '', schema: '', changedAt: at } : undefined
  }
  const { description, schema } = known.before ?? known
  if (parts(now, { description, schema }).length === 0) return undefined
  return known.before ?? { description, schema, changedAt: at, definition: earlier(now.id) }
}

function parts(now: ToolDigests, then: ToolDigests): (keyof ToolDigests)[] {
  return (['description', 'schema'] as const).filter((part) => now[part] !== then[part])
}

/** Without a record only the description in the cache file can be compared. */
function textChange(tool: ToolDefinition, cached: CachedTool | undefined): (keyof ToolDigests)[] {
  if (!cached) return []
  return cached.description === cutDescription(tool.description) ? [] : ['description']
}
