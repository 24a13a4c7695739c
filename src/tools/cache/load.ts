import { compareText, type Diagnostic } from '../../core/diagnostic.ts'
import { canonicalCategory, type Category, contractCategoriesOf } from '../category/categorise.ts'
import type { ToolDefinition, ToolSummary } from '../model.ts'
import {
  type CachedTool,
  nameInServer,
  readCacheFile,
  serverOfId,
  type ToolCache,
} from './cache-file.ts'
import { type ProjectPlace, readableCachePath } from './places.ts'
import { readsOnly } from './reads-only.ts'
import { readRefreshRecord, type RefreshRecord } from './record.ts'
import { parameterNames, readSidecar, requiredNames, type Sidecar } from './sidecar.ts'
import {
  createToolIndex,
  type IndexedServer,
  type ToolCaution,
  type ToolIndex,
} from './tool-index.ts'

export interface ToolIndexLoading {
  /** Present also when stale. */
  index?: ToolIndex | undefined
  state: 'fresh' | 'stale' | 'missing' | 'corrupt'
  /** What to tell the user unless the state is `fresh`. */
  message?: string | undefined
  /** Where the cache is, or would be. */
  path: string
  diagnostics: readonly Diagnostic[]
}

/**
 * The project's tools as the last refresh left them: from the cache file, and the full definitions
 * from the user's cache directory. No server is started, nothing is written, nothing is thrown.
 */
export function loadToolIndex(place: ProjectPlace): ToolIndexLoading {
  const path = readableCachePath(place.project)
  const reading = readCacheFile(path)
  if (reading.state !== 'read') {
    const state = reading.state === 'missing' ? 'missing' : 'corrupt'
    return { state, message: refreshAdvice, path, diagnostics: reading.diagnostics }
  }
  const { cache } = reading
  const { record, diagnostics } = readRefreshRecord(place)
  const sidecars = readSidecars(record, place)
  const index = buildIndex(cache, record, sidecars.byServer)
  const stale = isStale(
    cache.refreshedAt,
    listedServers(cache.refreshedAt, record),
    place.runtime.now(),
  )
  return {
    index,
    state: stale ? 'stale' : 'fresh',
    message: stale ? refreshAdvice : undefined,
    path,
    diagnostics: [...reading.diagnostics, ...diagnostics, ...sidecars.diagnostics],
  }
}

/**
 * A cache that somebody else refreshed, such as one that came with the project's files, is judged by
 * its own date: the record of this machine is of another listing.
 */
export function listedServers(
  refreshedAt: string,
  record: RefreshRecord | undefined,
): RefreshRecord['servers'] {
  if (record === undefined || record.refreshedAt !== refreshedAt) return []
  return record.servers.filter(({ failure }) => failure === undefined)
}

interface Sidecars {
  byServer: ReadonlyMap<string, { sidecar: Sidecar; trusted: boolean }>
  diagnostics: readonly Diagnostic[]
}

function readSidecars(record: RefreshRecord | undefined, place: ProjectPlace): Sidecars {
  const byServer = new Map<string, { sidecar: Sidecar; trusted: boolean }>()
  const diagnostics: Diagnostic[] = []
  for (const { name, digest, trusted } of record?.servers ?? []) {
    const reading = readSidecar(digest, name, place)
    diagnostics.push(...reading.diagnostics)
    if (reading.sidecar !== undefined) byServer.set(name, { sidecar: reading.sidecar, trusted })
  }
  return { byServer, diagnostics }
}

function buildIndex(
  cache: ToolCache,
  record: RefreshRecord | undefined,
  sidecars: Sidecars['byServer'],
): ToolIndex {
  const names = [...new Set([...cache.servers, ...(record?.servers ?? []).map(({ name }) => name)])]
  const definitionOf = (id: string): ToolDefinition | undefined => {
    const server = serverOfId(id, names)
    return sidecars.get(server)?.sidecar.get(nameInServer(id, server))
  }
  const summarise = (tool: CachedTool, category: string | undefined): ToolSummary => {
    const server = serverOf(tool, names)
    const name = nameInServer(tool.id, server)
    const known = definitionOf(tool.id)
    const trusted = sidecars.get(known?.server ?? '')?.trusted ?? false
    return {
      id: tool.id,
      server,
      name,
      description: tool.description,
      parameters: known === undefined ? [] : parameterNames(known),
      required: known === undefined ? [] : requiredNames(known),
      category,
      examples: tool.examples,
      readOnly: readsOnly({ name, annotations: known?.annotations }, trusted),
    }
  }
  const listed = [
    ...cache.categories.flatMap((category) => {
      const name = canonicalCategory(category.name)
      return category.tools.map((tool) => summarise(tool, name))
    }),
    ...cache.uncategorized.map((tool) => summarise(tool, undefined)),
  ].toSorted((a, b) => compareText(a.id, b.id))
  // What the file says of these is a label that decides nothing.
  const decided = contractCategoriesOf(listed)
  const tools = listed.map((tool) => ({ ...tool, category: decided.get(tool.id) ?? tool.category }))
  return createToolIndex({
    refreshedAt: cache.refreshedAt,
    servers: indexedServers(names, tools, record),
    tools,
    categories: canonicalCategories(cache),
    workflows: cache.workflows,
    definition: definitionOf,
    cautions: cautionsOf(tools, record),
  })
}

function serverOf({ id, prefix }: CachedTool, names: readonly string[]): string {
  const written = prefix?.replace(/__$/, '')
  return written !== undefined && id.startsWith(`${written}__`) ? written : serverOfId(id, names)
}

function indexedServers(
  names: readonly string[],
  tools: readonly ToolSummary[],
  record: RefreshRecord | undefined,
): IndexedServer[] {
  const counts = new Map(names.map((name) => [name, 0]))
  for (const { server } of tools) {
    if (server !== '') counts.set(server, (counts.get(server) ?? 0) + 1)
  }
  const failures = new Map(record?.servers.map(({ name, failure }) => [name, failure]))
  return [...counts]
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([name, toolCount]) => {
      const failure = failures.get(name)
      if (failure === undefined) return { name, toolCount }
      return { name, toolCount, unavailable: { server: name, ...failure } }
    })
}

/** Categories of the file that are one by their canonical name become one. */
function canonicalCategories(cache: ToolCache): Category[] {
  const byName = new Map<string, Category>()
  for (const { name: written, description, keywords, tools } of cache.categories) {
    const name = canonicalCategory(written)
    const known = byName.get(name)
    byName.set(name, {
      name,
      description: known?.description || description,
      keywords: [...new Set([...(known?.keywords ?? []), ...keywords])],
      tools: [...(known?.tools ?? []), ...tools.map(({ id }) => id)].toSorted(compareText),
    })
  }
  return [...byName.values()].toSorted((a, b) => compareText(a.name, b.name))
}

function cautionsOf(
  tools: readonly ToolSummary[],
  record: RefreshRecord | undefined,
): Map<string, ToolCaution> {
  const cautions = new Map<string, ToolCaution>()
  for (const { id, before } of record?.tools ?? []) {
    if (before !== undefined) {
      const { changedAt, definition } = before
      cautions.set(id, { kind: 'changed', since: changedAt, before: definition })
    }
  }
  const failed = new Map(record?.servers.map(({ name, failure }) => [name, failure?.message]))
  for (const { id, server } of tools) {
    const message = failed.get(server)
    if (message !== undefined) cautions.set(id, { kind: 'unavailable', message })
  }
  return cautions
}

/** A cache older than this is stale, unless its servers say otherwise. */
const day = 24 * 60 * 60 * 1000
/** Clocks of machines that share a project differ; a refresh further ahead than this is not believed. */
const skewMs = 5 * 60 * 1000

/** The seed's recommendation, which every command gives that meets a cache of doubtful worth. */
export const refreshAdvice =
  'Cache appears stale or missing. Run `skillrail tools refresh` to rebuild tool metadata.'

interface ListedServer {
  /** ISO date. */
  listedAt: string
  ttlMs?: number | undefined
}

/**
 * Whether what was listed must be listed again: a server's own time to live counts before the 24
 * hours. A date that cannot be read, or that a clock has yet to reach, is none.
 */
export function isStale(
  refreshedAt: string,
  servers: readonly ListedServer[],
  now: number,
): boolean {
  if (servers.length === 0) return older(refreshedAt, day, now)
  return servers.some(({ listedAt, ttlMs }) => older(listedAt, ttlMs ?? day, now))
}

function older(date: string, ageMs: number, now: number): boolean {
  const time = Date.parse(date)
  return Number.isNaN(time) || now - time > ageMs || time - now > skewMs
}
