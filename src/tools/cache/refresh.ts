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
  /** The pool has only this server; the tools of the others stay unchanged. */
  only?: string | undefined
  /** Asks the servers and writes nothing. */
  dryRun?: boolean | undefined
  /** Accepts added and changed tools as they are now. */
  accept?: boolean | undefined
  signal?: AbortSignal | undefined
  onServer?: ListOptions['onServer']
}

/** Ids of tools, compared with the cache and the record of the last refresh. */
export interface ToolChanges {
  added: readonly string[]
  removed: readonly string[]
  changed: readonly { id: string; what: readonly (keyof ToolDigests)[] }[]
  /** Tools that were accepted although an earlier or the current refresh marks a change. */
  accepted: readonly string[]
}

/** The result of a refresh. */
export interface RefreshReport {
  path: string
  refreshedAt: string
  /** False if servers were asked and none answered: the cache is then unchanged. */
  refreshed: boolean
  dryRun: boolean
  servers: readonly { name: string; tools: number; failure: ServerFailure | undefined }[]
  categories: readonly { name: string; tools: number }[]
  uncategorized: number
  tools: number
  changes: ToolChanges
  /** Tools that changed in this or an earlier refresh and have not been accepted since. */
  held: readonly string[]
  movedAside: string | undefined
  diagnostics: readonly Diagnostic[]
}

/**
 * Asks the servers for their tools and writes the cache, the definitions and the record. A server that
 * fails keeps its tools; if all fail, the cache stays. The cache is replaced as a whole, last. Throws
 * {@link StateFileError} `cache-newer` if a later version of the program wrote the cache, and
 * `write-outside` if a link leads out of the project.
 */
export async function refreshToolIndex(options: RefreshOptions): Promise<RefreshReport> {
  const path = toolCachePath(options.project)
  refuseNewer(readCacheFile(readableCachePath(options.project)))
  const { signal, onServer, only } = options
  const listing = await options.pool.list({ signal, onServer })
  signal?.throwIfAborted()
  const failedServers = new Set(listing.failures.map(({ server }) => server))
  const names = options.servers.map(({ name }) => name)
  const listedServers = new Set(
    names.filter((name) => (only ?? name) === name && !failedServers.has(name)),
  )
  const tools = listing.tools.filter(({ server }) => listedServers.has(server))
  const answers = { ...listing, serverNames: listedServers, tools }
  if (options.dryRun === true) return merge(path, options, answers)
  requireWithin(realProject(options.project), path)
  return withFileLock(path, async () => merge(path, options, answers))
}

interface ServerAnswers extends ToolListing {
  /** Names of the servers that answered, tools or not. */
  serverNames: ReadonlySet<string>
}

async function merge(
  path: string,
  options: RefreshOptions,
  listing: ServerAnswers,
): Promise<RefreshReport> {
  const { project, runtime, dryRun = false, accept = false } = options
  const source = readableCachePath(project)
  const reading = refuseNewer(readCacheFile(source))
  const cache = reading.state === 'read' ? reading.cache : undefined
  const { record, damaged, diagnostics } = readRefreshRecord(options)
  // Without any answer nothing was refreshed: the cache and its date stay.
  const isRefreshed = listing.serverNames.size > 0 || listing.failures.length === 0
  const now = new Date(runtime.now()).toISOString()
  const refreshedAt = isRefreshed ? now : (cache?.refreshedAt ?? now)
  const servers = options.servers.map(({ name }) => name).toSorted(compareText)
  const toolsInFile = cachedTools(cache)
  const tools = [...listing.tools, ...unlistedTools(toolsInFile, servers, listing.serverNames)]
  const tracking = trackTools({
    listedTools: listing.tools,
    current: new Set(tools.map(({ id }) => id)),
    toolsInFile,
    record,
    isRecordLost: damaged !== undefined,
    earlierDefinition: storedDefinitions(record, options).definition,
    at: refreshedAt,
    accept,
  })
  const heldIds = tracking.tools.flatMap(({ id, before, removedAt }) =>
    before && removedAt === undefined ? [id] : [],
  )
  // Agent clients read the cache file, so it does not describe tools that are held back.
  const visibleTools = tools.map((tool) =>
    heldIds.includes(tool.id) ? { ...tool, description: '' } : tool,
  )
  const mergeResult = mergeCache({ refreshedAt, servers, tools: visibleTools, cache, record })
  const listedIds = new Set(listing.tools.map(({ id }) => id))
  const next: RefreshRecord = {
    version: 1,
    project: realProject(project),
    refreshedAt,
    servers: recordServers(options, listing, record, refreshedAt),
    tools: tracking.tools.map((tool) =>
      listedIds.has(tool.id) ? { ...tool, category: mergeResult.generated.get(tool.id) } : tool,
    ),
    categories: mergeResult.generatedTexts,
  }
  const writesCache = isRefreshed && !dryRun
  const movedAside =
    reading.state === 'corrupt' && writesCache ? moveAside(source, runtime) : undefined
  if (!dryRun) {
    for (const { name, digest } of next.servers.filter((one) =>
      listing.serverNames.has(one.name),
    )) {
      const serverTools = listing.tools.filter(({ server }) => server === name)
      await writeSidecar(digest, serverTools, options)
    }
    await writeFileAtomic(refreshRecordPath(options), serializeRecord(next), { mode: 0o600 })
  }
  if (writesCache) await writeCache(path, cacheText(mergeResult.cache), source, options)
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
    categories: mergeResult.cache.categories
      .map(({ name, tools: members }) => ({ name, tools: members.length }))
      .toSorted((a, b) => compareText(a.name, b.name)),
    uncategorized: mergeResult.cache.uncategorized.length,
    tools: tools.length,
    changes: tracking.changes,
    held: heldIds,
    movedAside,
    diagnostics: [...reading.diagnostics, ...diagnostics, ...(listing.diagnostics ?? [])],
  }
}

/** Writes the cache and accepts its generated categories, which decide on workflows. */
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

/** Returns the cached tools of configured servers that were not listed now. */
function unlistedTools(
  toolsInFile: ReadonlyMap<string, CachedTool>,
  servers: readonly string[],
  serverNames: ReadonlySet<string>,
): CurrentTool[] {
  return [...toolsInFile.values()].flatMap(({ id, description }) => {
    const server = serverOfId(id, servers)
    if (!servers.includes(server) || serverNames.has(server)) return []
    return [{ id, server, name: nameInServer(id, server), description }]
  })
}

function recordServers(
  options: RefreshOptions,
  listing: ServerAnswers,
  record: RefreshRecord | undefined,
  at: string,
): RecordedServer[] {
  const earlierRecords = new Map(record?.servers.map((server) => [server.name, server]))
  const failures = new Map(listing.failures.map((failure) => [failure.server, failure]))
  return options.servers.flatMap(({ name, digest, trusted }) => {
    const earlierRecord = earlierRecords.get(name)
    const failure = failures.get(name)
    if (listing.serverNames.has(name)) {
      return [{ name, digest, trusted, listedAt: at, ttlMs: listing.ttlMs?.get(name) }]
    }
    if (!failure) return earlierRecord ? [earlierRecord] : []
    const { notTrusted } = failure
    const message = redactText(failure.message)
    const stderrTail = redactText(failure.stderrTail)
    // The digest stays that of the last listing, under which its definitions are stored.
    const last = earlierRecord ?? { name, digest, trusted, listedAt: '' }
    return [{ ...last, trusted, failure: { message, stderrTail, notTrusted } }]
  })
}

interface TrackInput {
  listedTools: readonly ToolDefinition[]
  /** IDs that exist now: the listed ones and the unlisted ones from the cache. */
  current: ReadonlySet<string>
  toolsInFile: ReadonlyMap<string, CachedTool>
  record?: RefreshRecord | undefined
  /** A record that cannot be read may have held back every tool. */
  isRecordLost: boolean
  earlierDefinition: (id: string) => ToolDefinition | undefined
  at: string
  /** Accepts every tool as it is now, and removes the marks of earlier changes. */
  accept: boolean
}

/**
 * Follows each tool across refreshes. If its description or schema changes, it is marked until it is
 * accepted or changes back, even if it was absent in between: a server must not replace a tool that a user
 * has reviewed. A new tool of a server that was listed before is marked too, with empty digests.
 */
function trackTools(input: TrackInput): { changes: ToolChanges; tools: readonly RecordedTool[] } {
  const { record, current, toolsInFile, at, accept } = input
  const earlierTools = new Map(record?.tools.map((tool) => [tool.id, tool]))
  const tools = new Map<string, RecordedTool>()
  const changes: { id: string; what: (keyof ToolDigests)[] }[] = []
  const acceptedIds: string[] = []
  for (const tool of input.listedTools) {
    const recordedTool = earlierTools.get(tool.id)
    const now = { id: tool.id, ...digestTool(tool) }
    const mark = markOf(now, recordedTool, input, tool.server)
    tools.set(tool.id, { ...now, before: accept ? undefined : mark })
    if (accept && mark) acceptedIds.push(tool.id)
    const changedParts = recordedTool
      ? parts(now, recordedTool)
      : textChange(tool, toolsInFile.get(tool.id))
    if (changedParts.length > 0) changes.push({ id: tool.id, what: changedParts })
  }
  for (const [id, recordedTool] of earlierTools) {
    if (tools.has(id)) continue
    const removedAt = current.has(id) ? undefined : (recordedTool.removedAt ?? at)
    const mark = accept ? undefined : recordedTool.before
    tools.set(id, { ...recordedTool, before: mark, removedAt })
    if (accept && recordedTool.before && removedAt === undefined) acceptedIds.push(id)
  }
  // Tools of servers that were not listed now: the lost record may have held them back.
  for (const id of input.isRecordLost ? current : []) {
    const nothing = { description: '', schema: '' }
    if (!tools.has(id)) tools.set(id, { id, ...nothing, before: { ...nothing, changedAt: at } })
  }
  return {
    changes: {
      added: [...current].filter((id) => !toolsInFile.has(id)).toSorted(compareText),
      removed: [...toolsInFile.keys()].filter((id) => !current.has(id)).toSorted(compareText),
      changed: changes.toSorted((a, b) => compareText(a.id, b.id)),
      accepted: acceptedIds.toSorted(compareText),
    },
    tools: [...tools.values()].toSorted((a, b) => compareText(a.id, b.id)),
  }
}

function markOf(
  now: ToolDigests & { id: string },
  recordedTool: RecordedTool | undefined,
  { at, earlierDefinition, record, isRecordLost }: TrackInput,
  server: string,
): RecordedTool['before'] {
  if (!recordedTool) {
    const isKnown = record?.servers.some(({ name, listedAt }) => name === server && listedAt !== '')
    return isKnown || isRecordLost ? { description: '', schema: '', changedAt: at } : undefined
  }
  const { description, schema } = recordedTool.before ?? recordedTool
  if (parts(now, { description, schema }).length === 0) return undefined
  return (
    recordedTool.before ?? {
      description,
      schema,
      changedAt: at,
      definition: earlierDefinition(now.id),
    }
  )
}

function parts(now: ToolDigests, then: ToolDigests): (keyof ToolDigests)[] {
  return (['description', 'schema'] as const).filter((part) => now[part] !== then[part])
}

/** Without a record only the description in the cache file can be compared. */
function textChange(
  tool: ToolDefinition,
  toolInFile: CachedTool | undefined,
): (keyof ToolDigests)[] {
  if (!toolInFile) return []
  return toolInFile.description === cutDescription(tool.description) ? [] : ['description']
}
