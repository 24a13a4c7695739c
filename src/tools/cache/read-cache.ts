import {
  deepestJson,
  type Diagnostic,
  isObject,
  messageOf,
  readRegularFile,
  tooDeepAt,
} from '../../base/index.ts'
import type { JsonValue } from '../../skill/index.ts'
import { cacheLimits, newestReadable, type ToolCache } from './cache-model.ts'
import { parseCategories, parseTools, readStrings } from './_cache-parts.ts'

export type CacheReading =
  | { state: 'read'; cache: ToolCache; diagnostics: readonly Diagnostic[] }
  | { state: 'missing'; diagnostics: readonly Diagnostic[] }
  /** Not what a cache is; `newer` where a later version of the program wrote it. */
  | { state: 'corrupt' | 'newer'; diagnostics: readonly Diagnostic[] }

/** Reads a cache file of any of its schemas. Nothing is thrown: what is wrong is in the diagnostics. */
export function readCacheFile(path: string): CacheReading {
  const file = readRegularFile(path, { maxBytes: cacheLimits.fileBytes })
  if (file.ok) return parseCache(file.text, path)
  if (file.code === 'file-missing') return { state: 'missing', diagnostics: [] }
  return corrupt(path, file.code, file.message)
}

/**
 * The text of a cache file as a {@link ToolCache}. Tools and categories that cannot be used are left
 * out with a diagnostic each; of tools with one id the first counts.
 */
export function parseCache(text: string, path: string): CacheReading {
  const parsed = parseJson(text, path)
  if (!parsed.ok) return parsed.reading
  const { value } = parsed
  if (!isObject<JsonValue>(value))
    return corrupt(path, 'cache-malformed', 'the cache is not a JSON object')
  const version = typeof value['version'] === 'string' ? value['version'] : ''
  const major = /^(\d{1,6})(?:\.|$)/.exec(version)?.[1]
  if (major === undefined) {
    return corrupt(path, 'cache-malformed', 'the cache names no version such as "4.0.0"')
  }
  if (Number(major) > newestReadable) return newer(path, version)
  const missing = ['categories', 'tool_count'].filter((key) => value[key] === undefined)
  if (missing.length > 0 || !isObject<JsonValue>(value['categories'])) {
    const keys = missing.length > 0 ? missing.join(' and ') : 'categories as an object'
    return corrupt(path, 'cache-malformed', `the cache has no ${keys}`)
  }
  const diagnostics: Diagnostic[] = []
  const report = (code: string, message: string): void => {
    diagnostics.push({ code, severity: 'warning', message, path })
  }
  const seen = new Set<string>()
  const lookup = isObject<JsonValue>(value['tools']) ? value['tools'] : {}
  const categories = parseCategories(value['categories'], { seen, lookup, report })
  const uncategorized = parseTools(value['uncategorized'], { seen, lookup, report })
  const unplaced = parseTools(
    Object.keys(lookup).filter((id) => !seen.has(id)),
    { seen, lookup, report },
  )
  if (typeof value['tool_count'] === 'number' && value['tool_count'] !== seen.size) {
    report(
      'cache-count-mismatch',
      `tool_count says ${value['tool_count']}, and ${seen.size} tools are listed`,
    )
  }
  const {
    version: _version,
    refreshed_at,
    generated_at,
    mcp_servers,
    tool_sources,
    ...rest
  } = value
  const { tool_count: _count, categories: _categories, tools: _tools, ...others } = rest
  const { uncategorized: _uncategorized, workflows, ...further } = others
  return {
    state: 'read',
    cache: {
      version,
      refreshedAt: readDate(refreshed_at ?? generated_at),
      servers: readStrings(mcp_servers ?? tool_sources),
      categories,
      uncategorized: [...uncategorized, ...unplaced],
      workflows,
      further,
    },
    diagnostics,
  }
}

function readDate(value: unknown): string {
  if (typeof value !== 'string') return ''
  const time = Date.parse(value)
  return Number.isNaN(time) ? '' : new Date(time).toISOString()
}

type JsonParsing = { ok: true; value: unknown } | { ok: false; reading: CacheReading }

function parseJson(text: string, path: string): JsonParsing {
  if (tooDeepAt(text) !== undefined) {
    const problem = `it is nested deeper than ${deepestJson} levels`
    return { ok: false, reading: corrupt(path, 'cache-malformed', problem) }
  }
  try {
    const value: unknown = JSON.parse(text.startsWith('\ufeff') ? text.slice(1) : text)
    return { ok: true, value }
  } catch (error) {
    return { ok: false, reading: corrupt(path, 'cache-not-json', messageOf(error), text) }
  }
}

function corrupt(path: string, code: string, problem: string, text?: string): CacheReading {
  const message = `Cache missing or invalid at ${path}: ${problem}`
  const hint = 'Run `skillrail tools refresh`: it moves this file aside and writes a new one.'
  const place = text === undefined ? {} : placeOf(problem, text)
  return {
    state: 'corrupt',
    diagnostics: [{ code, severity: 'error', message, path, ...place, hint }],
  }
}

/** The line and column that the parser's message speaks of. */
function placeOf(problem: string, text: string): { line: number; column: number } {
  const named = /line (\d+) column (\d+)/.exec(problem)
  if (named !== null) return { line: Number(named[1]), column: Number(named[2]) }
  const at = /position (\d+)/.exec(problem)
  const before = text.slice(0, at === null ? text.length : Number(at[1])).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}

function newer(path: string, version: string): CacheReading {
  const message = `${path} has version ${version}; this program reads up to ${newestReadable}`
  const hint = 'Update skillrail, or move the file away.'
  return {
    state: 'newer',
    diagnostics: [{ code: 'cache-newer', severity: 'error', message, path, hint }],
  }
}
