import { renameSync } from 'node:fs'
import type { Diagnostic } from '#core/errors'
import { readRegularFile } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import { cutText } from '#core/text'
import { isObject, objectOf, prototypeKeys, type JsonValue, type JsonObject } from '#core/json'
import { readDocument } from '#tools/config/document'

export interface ToolCache {
  /** ISO date; empty where the file names none that can be read. */
  refreshedAt: string
  servers: readonly string[]
  categories: readonly CachedCategory[]
  uncategorized: readonly CachedTool[]
  workflows?: JsonValue | undefined
  /** Everything else at the top, kept by a refresh. */
  further: JsonObject
}

export interface CachedCategory {
  name: string
  description: string
  keywords: readonly string[]
  tools: readonly CachedTool[]
  further: JsonObject
}

export interface CachedTool {
  id: string
  description: string
  prefix?: string | undefined
  /** Phrases that ask for this tool, written by a user. */
  examples?: readonly string[] | undefined
  further: JsonObject
}

export function cachedTools(
  cache: ToolCache | undefined,
): Map<string, CachedTool & { category?: string }> {
  const tools: (CachedTool & { category?: string })[] = [
    ...(cache?.categories ?? []).flatMap((category) =>
      category.tools.map((tool) => ({ ...tool, category: category.name })),
    ),
    ...(cache?.uncategorized ?? []),
  ]
  return new Map(tools.map((tool) => [tool.id, tool]))
}

/** What we write; the `workflows` key made it 4. Files of up to version 5 are read. */
const cacheVersion = '4.0.0'
const newestReadable = 5

const cacheLimits = {
  fileBytes: 32 * 1024 * 1024,
  tools: 20_000,
  /** Characters of a description kept in the cache. */
  description: 1_000,
  examples: 100,
} as const

export type CacheReading =
  | { state: 'read'; cache: ToolCache; diagnostics: readonly Diagnostic[] }
  | { state: 'missing' | 'corrupt' | 'newer'; diagnostics: readonly Diagnostic[] }

/** Reads a cache file of any of its schemas. Nothing is thrown: what is wrong is in the diagnostics. */
export function readCacheFile(path: string): CacheReading {
  const file = readRegularFile(path, { maxBytes: cacheLimits.fileBytes })
  if (file.ok) return parseCache(file.text, path)
  if (file.code === 'file-missing') return { state: 'missing', diagnostics: [] }
  return corrupt(path, file.code, file.message)
}

/** Reads a tool cache. What cannot be used gets a diagnostic; of one id the first counts. */
export function parseCache(text: string, path: string): CacheReading {
  const document = readDocument(text, 'json', true)
  if (!document.ok) {
    const { message, line, column } = document
    const code = column === undefined ? 'cache-malformed' : 'cache-not-json'
    return corrupt(path, code, message, { line, column })
  }
  const { version, refreshed_at, generated_at, mcp_servers, tool_sources, ...rest } = document.root
  const {
    tool_count: count,
    categories: groups,
    tools,
    uncategorized,
    workflows,
    ...further
  } = rest
  const written = textOf(version)
  const major = Number.parseInt(written)
  if (major > newestReadable) return newer(path, written)
  if (Number.isNaN(major) || count === undefined || !isObject(groups)) {
    const needed = 'it needs a version such as "4.0.0", a tool_count, and categories as an object'
    return corrupt(path, 'cache-malformed', needed)
  }
  const diagnostics: Diagnostic[] = []
  const report = (code: string, message: string): [] => {
    diagnostics.push({ code, severity: 'warning', message, path })
    return []
  }
  const lookup = objectOf<JsonValue>(tools)
  const context = { seen: new Set<string>(), lookup, report }
  const categories = Object.entries(groups).flatMap(([name, value]) =>
    parseCategory(name, value, context),
  )
  const unplaced = parseTools(uncategorized, context)
  const unread = Object.keys(lookup).filter((id) => !context.seen.has(id))
  const size = context.seen.size + unread.length
  if (typeof count === 'number' && count !== size)
    report('cache-count-mismatch', `tool_count says ${count}, and ${size} tools are listed`)
  return {
    state: 'read',
    cache: {
      refreshedAt: readDate(refreshed_at ?? generated_at),
      servers: readStrings(mcp_servers ?? tool_sources),
      categories,
      uncategorized: [...unplaced, ...parseTools(unread, context)],
      workflows,
      further,
    },
    diagnostics,
  }
}

function readDate(value: unknown): string {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(time) ? '' : new Date(time).toISOString()
}

function corrupt(path: string, code: string, problem: string, place: object = {}): CacheReading {
  const message = `Cache missing or invalid at ${path}: ${problem}`
  const hint = 'Run `skillrail tools refresh`: it moves this file aside and writes a new one.'
  return {
    state: 'corrupt',
    diagnostics: [{ code, severity: 'error', message, path, ...place, hint }],
  }
}

function newer(path: string, version: string): CacheReading {
  const message = `${path} has version ${version}; this program reads up to ${newestReadable}`
  const hint = 'Update skillrail, or move the file away.'
  return {
    state: 'newer',
    diagnostics: [{ code: 'cache-newer', severity: 'error', message, path, hint }],
  }
}

export function readStrings(value: unknown): string[] {
  if (!Array.isArray(value)) return []
  return value.filter((item): item is string => typeof item === 'string')
}

interface PartsContext {
  /** Ids that were read already; of each id the first counts. */
  seen: Set<string>
  /** `tools` of the later schema: id → description and category. */
  lookup: JsonObject
  report(code: string, message: string): []
}

function parseCategory(name: string, value: JsonValue, context: PartsContext): CachedCategory[] {
  const isName = !prototypeKeys.has(name) && name.trim() !== '' && name.length <= 256
  if (!isName || !isObject(value))
    return context.report('cache-category', `the category ${JSON.stringify(name)} is left out`)
  const { description, keywords, tools, ...further } = value
  return [
    {
      name,
      description: textOf(description),
      keywords: readStrings(keywords),
      tools: parseTools(tools, context),
      further,
    },
  ]
}

/** Tools as objects (the first schema) or as ids whose facts are in the lookup (the later one). */
function parseTools(value: JsonValue | undefined, context: PartsContext): CachedTool[] {
  const { lookup } = context
  if (!Array.isArray(value)) return []
  return value.flatMap((item: JsonValue) => {
    if (typeof item !== 'string') return parseTool(objectOf<JsonValue>(item), context)
    const known = objectOf<JsonValue>(Object.hasOwn(lookup, item) ? lookup[item] : undefined)
    const { category: _category, ...facts } = known
    return parseTool({ ...facts, id: item }, context)
  })
}

function parseTool(value: JsonObject, { seen, report }: PartsContext): CachedTool[] {
  const { id, description, prefix, examples, ...further } = value
  if (typeof id !== 'string') return report('cache-tool', 'a tool in the cache has no id')
  const problem = toolIdProblem(id)
  if (problem !== undefined)
    return report('tool-name', `tool ${JSON.stringify(id.slice(0, 80))} is left out: ${problem}`)
  if (seen.has(id))
    return report('tool-repeated', `tool ${id} is listed again; the first one counts`)
  if (seen.size >= cacheLimits.tools)
    return report('cache-too-many', `tools beyond the first ${cacheLimits.tools} are left out`)
  seen.add(id)
  const phrases = readStrings(examples).slice(0, cacheLimits.examples)
  return [
    {
      id,
      description: cutDescription(textOf(description)),
      ...(typeof prefix === 'string' && { prefix }),
      ...(phrases.length > 0 && { examples: phrases }),
      further,
    },
  ]
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

export function cutDescription(text: string): string {
  return cutText(text, cacheLimits.description)
}

/** The cache file's text in the schema that the seed's clients read. */
export function cacheText(cache: ToolCache): string {
  const value = {
    version: cacheVersion,
    refreshed_at: cache.refreshedAt,
    mcp_servers: cache.servers,
    tool_count: cachedTools(cache).size,
    categories: Object.fromEntries(
      cache.categories.map(({ name, description, keywords, tools, further }) => [
        name,
        { description, keywords, tools: tools.map(toolValue), ...further },
      ]),
    ),
    uncategorized: cache.uncategorized.map(toolValue),
    workflows: cache.workflows,
    ...cache.further,
  }
  return `${JSON.stringify(value, null, 2)}\n`
}

function toolValue({ id, description, prefix, examples, further }: CachedTool): object {
  return { id, description, prefix, examples, ...further }
}

/** Longest id, server and `__` included; a tool's own name has at most 128 characters (MCP, tools). */
const longestId = 256

/** Why a tool cannot have this id, or undefined where it can. */
export function toolIdProblem(id: string): string | undefined {
  if (id === '') return 'it is empty'
  if (id.length > longestId)
    return `it has ${id.length} characters; at most ${longestId} are allowed`
  if (prototypeKeys.has(id)) return 'it is a name that JavaScript reserves for objects'
  if (!/^[\p{L}\p{N}\p{M}_.:/@+ -]+$/u.test(id) || id !== id.trim()) {
    return 'it has characters that no tool name may have; letters, digits, and _ - . / : are allowed'
  }
  return undefined
}

/** `github` for `github__get_issue`: by the longest known server, else up to the first `__`. */
export function serverOfId(id: string, servers: readonly string[]): string {
  const known = servers.filter((server) => id.startsWith(`${server}__`))
  const [longest] = known.toSorted((a, b) => b.length - a.length)
  return longest ?? id.slice(0, Math.max(id.indexOf('__'), 0))
}

export function nameInServer(id: string, server: string): string {
  return server !== '' && id.startsWith(`${server}__`) ? id.slice(server.length + 2) : id
}

/** Renames a corrupt file to `tools.json.corrupt-DATE-ID`; returns its path. */
export function moveAside(path: string, runtime: Runtime): string {
  const date = new Date(runtime.now()).toISOString().slice(0, 19).replaceAll(':', '')
  const aside = `${path}.corrupt-${date}-${runtime.id()}`
  renameSync(path, aside)
  return aside
}
