import { renameSync } from 'node:fs'
import type { Diagnostic } from '#core/errors'
import { readRegularFile } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import { cutText } from '#core/text'
import { isObject, objectOf, prototypeKeys, type JsonValue, type JsonObject } from '#core/json'
import { readDocument } from '#tools/config/document'

export interface ToolCache {
  /** ISO date; empty if the file has no valid one. */
  refreshedAt: string
  servers: readonly string[]
  categories: readonly CachedCategory[]
  uncategorized: readonly CachedTool[]
  workflows?: JsonValue | undefined
  /** All other top-level keys; a refresh keeps them. */
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
  /** Phrases for this tool, written by a user. */
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

/** The version that we write; the `workflows` key made it 4. Files up to version 5 are read. */
const cacheVersion = '4.0.0'
const newestReadable = 5

const cacheLimits = {
  fileBytes: 32 * 1024 * 1024,
  tools: 20_000,
  /** Maximum length of a description in the cache, in characters. */
  description: 1_000,
  examples: 100,
} as const

export type CacheReading =
  | { state: 'read'; cache: ToolCache; diagnostics: readonly Diagnostic[] }
  | { state: 'missing' | 'corrupt' | 'newer'; diagnostics: readonly Diagnostic[] }

/** Reads a cache file with any of its schemas. Never throws: problems become diagnostics. */
export function readCacheFile(path: string): CacheReading {
  const file = readRegularFile(path, { maxBytes: cacheLimits.fileBytes })
  if (file.ok) return parseCache(file.text, path)
  if (file.code === 'file-missing') return { state: 'missing', diagnostics: [] }
  return corrupt(path, file.code, file.message)
}

/** Parses a tool cache. Unusable parts get a diagnostic; if an ID is repeated, its first entry counts. */
export function parseCache(text: string, path: string): CacheReading {
  const document = readDocument(text, 'json', true)
  if (!document.ok) {
    const { message, line, column } = document
    const code = column === undefined ? 'cache-malformed' : 'cache-not-json'
    return corrupt(path, code, message, { line, column })
  }
  const { version, refreshed_at, generated_at, mcp_servers, tool_sources, ...content } =
    document.root
  const {
    tool_count: count,
    categories: groups,
    tools,
    uncategorized,
    workflows,
    ...further
  } = content
  const versionText = textOf(version)
  const major = Number.parseInt(versionText)
  if (major > newestReadable) return newer(path, versionText)
  if (Number.isNaN(major) || count === undefined || !isObject(groups)) {
    const requirement =
      'it needs a version such as "4.0.0", a tool_count, and categories as an object'
    return corrupt(path, 'cache-malformed', requirement)
  }
  const diagnostics: Diagnostic[] = []
  const report = (code: string, message: string): [] => {
    diagnostics.push({ code, severity: 'warning', message, path })
    return []
  }
  const lookup = objectOf<JsonValue>(tools)
  const context = { readIds: new Set<string>(), lookup, report }
  const categories = Object.entries(groups).flatMap(([name, value]) =>
    parseCategory(name, value, context),
  )
  const uncategorizedTools = parseTools(uncategorized, context)
  const unread = Object.keys(lookup).filter((id) => !context.readIds.has(id))
  const size = context.readIds.size + unread.length
  if (typeof count === 'number' && count !== size)
    report('cache-count-mismatch', `tool_count says ${count}, and ${size} tools are listed`)
  return {
    state: 'read',
    cache: {
      refreshedAt: readDate(refreshed_at ?? generated_at),
      servers: readStrings(mcp_servers ?? tool_sources),
      categories,
      uncategorized: [...uncategorizedTools, ...parseTools(unread, context)],
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
  /** IDs that were already read; the first entry of each counts. */
  readIds: Set<string>
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

/** Reads tools as objects (the first schema) or as IDs whose facts are in the lookup (the later one). */
function parseTools(value: JsonValue | undefined, context: PartsContext): CachedTool[] {
  const { lookup } = context
  if (!Array.isArray(value)) return []
  return value.flatMap((item: JsonValue) => {
    if (typeof item !== 'string') return parseTool(objectOf<JsonValue>(item), context)
    const entry = objectOf<JsonValue>(Object.hasOwn(lookup, item) ? lookup[item] : undefined)
    const { category: _category, ...facts } = entry
    return parseTool({ ...facts, id: item }, context)
  })
}

function parseTool(value: JsonObject, { readIds, report }: PartsContext): CachedTool[] {
  const { id, description, prefix, examples, ...further } = value
  if (typeof id !== 'string') return report('cache-tool', 'a tool in the cache has no id')
  const problem = toolIdProblem(id)
  if (problem !== undefined)
    return report('tool-name', `tool ${JSON.stringify(id.slice(0, 80))} is left out: ${problem}`)
  if (readIds.has(id))
    return report('tool-repeated', `tool ${id} is listed again; the first one counts`)
  if (readIds.size >= cacheLimits.tools)
    return report('cache-too-many', `tools beyond the first ${cacheLimits.tools} are left out`)
  readIds.add(id)
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

/** Returns why a tool cannot have this ID; undefined if it can. */
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

/**
 * Returns `github` for `github__get_issue`: the longest matching server name, else the part before the
 * first `__`.
 */
export function serverOfId(id: string, servers: readonly string[]): string {
  const matches = servers.filter((server) => id.startsWith(`${server}__`))
  const [longest] = matches.toSorted((a, b) => b.length - a.length)
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
