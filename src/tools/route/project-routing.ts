import { isObject } from '../../core/json.ts'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { nameInServer, readStrings, serverOfId } from '../cache/cache-file.ts'
import { isStale, listedServers, loadToolIndex, refreshAdvice } from '../cache/load.ts'
import {
  type ProjectPlace,
  readableCachePath,
  refreshRecordPath,
  sidecarPath,
} from '../cache/places.ts'
import { readRefreshRecord } from '../cache/record.ts'
import { readSidecar, type Sidecar } from '../cache/sidecar.ts'
import type { ToolIndex } from '../cache/tool-index.ts'
import type { ToolDefinition } from '../model.ts'
import { routeExamples } from './learned-example.ts'
import { readLearned } from './learned-store.ts'
import { inOneOrder, type Router, routerOf } from './router.ts'
import { routedTools } from './routed-tool.ts'
import { readRoutingFile, type Source, stampOf, writeRoutingFile } from './routing-file.ts'

/** A project's router with what is needed to use its routes, without the tool cache being read. */
export interface ProjectRouting {
  router: Router
  /** Ids of every tool, in code-point order. */
  tools: readonly string[]
  definition(id: string): ToolDefinition | undefined
  /** Ids of tools that changed and were not accepted since: they are not called. */
  held: ReadonlySet<string>
  /** What to tell the user about the age of the cache. */
  message?: string | undefined
  /** What is wrong with the file of learned examples; routing continues without them. */
  diagnostics: readonly Diagnostic[]
}

/**
 * The routing that {@link keepRouting} prepared, as long as nothing that it was made from has
 * changed; undefined otherwise. Routes are those of `projectRouter` with the project's tool index.
 */
export function readRouting(place: ProjectPlace): ProjectRouting | undefined {
  const file = readRoutingFile(place)
  const facts = file === undefined ? undefined : readFacts(file.facts)
  if (file === undefined || facts === undefined) return undefined
  const [cache] = file.sources
  if (cache?.[0] !== readableCachePath(place.project)) return undefined
  const { examples, diagnostics } = readLearned(place)
  const now = place.runtime.now()
  const options = {
    categories: facts.categories,
    examples: routeExamples(examples, now),
    unavailable: new Map(facts.unavailable),
  }
  return {
    router: routerOf(file.routed, options),
    tools: file.routed.tools.map(({ id }) => id),
    definition: definitions(facts.servers, place),
    held: new Set(facts.held),
    message: isStale(facts.refreshedAt, facts.listed, now) ? refreshAdvice : undefined,
    diagnostics,
  }
}

/**
 * Prepares the routing of a project for the commands to come. What is wrong with the tool cache
 * is for every command to say: then nothing is kept. Never throws.
 */
export function keepRouting(place: ProjectPlace): void {
  const before = sourcesOf(place)
  const { index, diagnostics } = loadToolIndex(place)
  const { record } = readRefreshRecord(place)
  if (index === undefined || record === undefined || diagnostics.length > 0) return
  const unavailable = index.servers.flatMap(({ name, unavailable: failure }) =>
    failure === undefined ? [] : [[name, failure.message]],
  )
  const facts = {
    refreshedAt: index.refreshedAt,
    listed: listedServers(index.refreshedAt, record).map(({ listedAt, ttlMs }) => ({
      listedAt,
      ttlMs,
    })),
    servers: index.servers.map(({ name }) => [
      name,
      record.servers.find((server) => server.name === name)?.digest ?? '',
    ]),
    unavailable,
    held: heldTools(index),
    categories: index.categories.map(({ name, keywords }) => ({ name, keywords })),
  }
  const routed = routedTools(inOneOrder(index.tools), (id) => index.definition(id))
  // What changed meanwhile may have been read in two states.
  const sources = sourcesOf(place)
  if (sources.join() !== before.join()) return
  try {
    writeRoutingFile({ sources, facts, routed }, place)
  } catch {
    // A disk that is full or read-only costs the next command time, and nothing else.
  }
}

/** Ids of the tools that changed and were not accepted since. */
export function heldTools(index: Pick<ToolIndex, 'tools' | 'caution'>): string[] {
  return index.tools.flatMap(({ id }) => (index.caution(id)?.kind === 'changed' ? [id] : []))
}

/** Everything that a tool index is made from. */
function sourcesOf(place: ProjectPlace): Source[] {
  const servers = readRefreshRecord(place).record?.servers ?? []
  const paths = [
    readableCachePath(place.project),
    refreshRecordPath(place),
    ...servers.map(({ digest }) => sidecarPath(digest, place)),
  ]
  return paths.map((path) => [path, stampOf(path)])
}

function definitions(
  digests: readonly (readonly [string, string])[],
  place: ProjectPlace,
): ProjectRouting['definition'] {
  const names = digests.map(([name]) => name)
  const known = new Map<string, Sidecar | undefined>()
  return (id) => {
    const server = serverOfId(id, names)
    const digest = digests.find(([name]) => name === server)?.[1] ?? ''
    if (digest === '') return undefined
    if (!known.has(server)) known.set(server, readSidecar(digest, server, place).sidecar)
    return known.get(server)?.get(nameInServer(id, server))
  }
}

interface Facts {
  refreshedAt: string
  listed: { listedAt: string; ttlMs: number | undefined }[]
  servers: [name: string, digest: string][]
  unavailable: [server: string, message: string][]
  held: readonly string[]
  categories: { name: string; keywords: string[] }[]
}

function readFacts(value: unknown): Facts | undefined {
  if (!isObject(value)) return undefined
  const { refreshedAt, listed, servers, unavailable, held, categories } = value
  if (typeof refreshedAt !== 'string') return undefined
  return {
    refreshedAt,
    listed: objects(listed).map(({ listedAt, ttlMs }) => ({
      listedAt: String(listedAt),
      ttlMs: typeof ttlMs === 'number' ? ttlMs : undefined,
    })),
    servers: pairs(servers),
    unavailable: pairs(unavailable),
    held: readStrings(held),
    categories: objects(categories).map(({ name, keywords }) => ({
      name: String(name),
      keywords: readStrings(keywords),
    })),
  }
}

function objects(value: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter((item: unknown) => isObject(item)) : []
}

function pairs(value: unknown): [string, string][] {
  return Array.isArray(value)
    ? value.map((item: unknown) => {
        const [one = '', other = ''] = readStrings(item)
        return [one, other]
      })
    : []
}
