import type { JsonValue } from '../../skill/index.ts'
import type { JsonObject } from '../model.ts'

/** The cache file's content, whichever of its schemas it was written in. */
export interface ToolCache {
  version: string
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
  /** As the file has it. */
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
  /** Phrases that ask for this tool, written by a person. */
  examples?: readonly string[] | undefined
  further: JsonObject
}

/** What we write; the `workflows` key made it 4. Files of up to version 5 are read. */
export const cacheVersion = '4.0.0'
export const newestReadable = 5

export const cacheLimits = {
  fileBytes: 32 * 1024 * 1024,
  tools: 20_000,
  /** Characters of a description kept in the cache. */
  description: 1_000,
  examples: 100,
} as const
