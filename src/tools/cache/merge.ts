import { compareText } from '../../core/diagnostic.ts'
import {
  canonicalCategory,
  categorise,
  type Category,
  describeCategories,
} from '../category/categorise.ts'
import type { JsonObject } from '../model.ts'
import {
  type CachedCategory,
  type CachedTool,
  cachedTools,
  cacheVersion,
  cutDescription,
  type ToolCache,
} from './cache-file.ts'
import { digestText, type RefreshRecord } from './stored-tools.ts'

export interface CurrentTool {
  id: string
  server: string
  name: string
  title?: string | undefined
  description: string
}

interface MergeInput {
  refreshedAt: string
  servers: readonly string[]
  tools: readonly CurrentTool[]
  cache?: ToolCache | undefined
  record?: RefreshRecord | undefined
}

/**
 * The cache for the present tools. What a user wrote into the file stays: the category of a tool,
 * the text of a category, examples, workflows and every further key. Without a record of what was
 * generated, everything in the file counts as written by a user.
 *
 * `generated` has for each tool the category that was generated for it, `generatedTexts` for each
 * category the digest of its text.
 */
export function mergeCache(input: MergeInput) {
  const { cache, record } = input
  const tools = input.tools.toSorted((a, b) => compareText(a.id, b.id))
  const written = cachedTools(cache)
  const assigned = categorise(tools)
  const described = new Map(
    describeCategories(tools, assigned).map((category) => [category.name, category]),
  )
  const nameInFile = new Map(
    (cache?.categories ?? [])
      .toReversed()
      .map(({ name }): [string, string] => [canonicalCategory(name), name]),
  )
  const generated = new Map(
    [...assigned].map(([id, name]): [string, string] => [id, nameInFile.get(name) ?? name]),
  )
  const recorded = new Map(record?.tools.map((tool) => [tool.id, tool]))
  const members = new Map<string | undefined, CachedTool[]>()
  for (const tool of tools) {
    const before = written.get(tool.id)
    const place = isHandPlaced(before, recorded.get(tool.id))
      ? before?.category
      : generated.get(tool.id)
    members.set(place, [...(members.get(place) ?? []), cachedTool(tool, before)])
  }
  const { categories, generatedTexts } = mergeCategories(input, members, described)
  return {
    cache: {
      version: cacheVersion,
      refreshedAt: input.refreshedAt,
      servers: input.servers,
      categories,
      uncategorized: members.get(undefined) ?? [],
      workflows: cache?.workflows,
      further: cache?.further ?? {},
    },
    generated,
    generatedTexts,
  }
}

function isHandPlaced(
  written: { category?: string } | undefined,
  recorded: { category?: string | undefined } | undefined,
): boolean {
  if (written === undefined) return false
  if (recorded === undefined) return written.category !== undefined
  return written.category !== recorded.category
}

function cachedTool(tool: CurrentTool, before: CachedTool | undefined): CachedTool {
  return {
    id: tool.id,
    description: cutDescription(tool.description),
    prefix: `${tool.server}__`,
    examples: before?.examples,
    further: before?.further ?? {},
  }
}

function mergeCategories(
  { cache, record }: MergeInput,
  members: ReadonlyMap<string | undefined, readonly CachedTool[]>,
  described: ReadonlyMap<string, Category>,
): { categories: CachedCategory[]; generatedTexts: Map<string, string> } {
  const generatedTexts = new Map<string, string>()
  const categories: CachedCategory[] = []
  const add = (
    name: string,
    text: Pick<Category, 'description' | 'keywords'>,
    further: JsonObject,
  ): void => {
    const { description, keywords } = text
    generatedTexts.set(name, digestText(description, keywords))
    categories.push({ name, description, keywords, tools: members.get(name) ?? [], further })
  }
  for (const category of cache?.categories ?? []) {
    const tools = members.get(category.name) ?? []
    const digest = digestText(category.description, category.keywords)
    const byHand = record?.categories.get(category.name) !== digest
    const hasMore = Object.keys(category.further).length > 0
    if (byHand) categories.push({ ...category, tools })
    else if (tools.length > 0 || hasMore) {
      const text = described.get(canonicalCategory(category.name)) ?? category
      add(category.name, text, category.further)
    }
  }
  const there = new Set(categories.map(({ name }) => name))
  const names = [...members.keys()].filter((name) => name !== undefined)
  for (const name of names.toSorted(compareText)) {
    const text = described.get(name)
    if (!there.has(name) && text !== undefined) add(name, text, {})
  }
  return { categories, generatedTexts }
}
