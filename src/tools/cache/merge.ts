import { compareText } from '#core/errors'
import {
  canonicalCategory,
  categorise,
  type Category,
  describeCategories,
} from '#tools/category/categorise'
import type { ToolDefinition } from '#tools/model'
import {
  type CachedCategory,
  type CachedTool,
  cachedTools,
  cutDescription,
  type ToolCache,
} from './cache-file.ts'
import { digestText, type RefreshRecord } from './stored-tools.ts'

export type CurrentTool = Pick<ToolDefinition, 'id' | 'server' | 'name' | 'description'>

interface MergeInput {
  refreshedAt: string
  servers: readonly string[]
  tools: readonly CurrentTool[]
  cache?: ToolCache | undefined
  record?: RefreshRecord | undefined
}

/**
 * Returns the cache for the current tools. A user's changes to the file stay: the category of a tool, the
 * text of a category, examples, workflows and every further key. Without a record of generated texts,
 * everything in the file counts as a user's change.
 *
 * `generated` maps each tool to its generated category, `generatedTexts` each category to the digest of its
 * text.
 */
export function mergeCache(input: MergeInput) {
  const { cache, record } = input
  const tools = input.tools.toSorted((a, b) => compareText(a.id, b.id))
  const toolsInFile = cachedTools(cache)
  const categoryById = categorise(tools)
  const descriptions = new Map(
    describeCategories(tools, categoryById).map((category) => [category.name, category]),
  )
  const nameInFile = new Map(
    (cache?.categories ?? [])
      .toReversed()
      .map(({ name }): [string, string] => [canonicalCategory(name), name]),
  )
  const generated = new Map(
    [...categoryById].map(([id, name]): [string, string] => [id, nameInFile.get(name) ?? name]),
  )
  const recordedTools = new Map(record?.tools.map((tool) => [tool.id, tool]))
  const members = Map.groupBy(tools, ({ id }) => {
    const toolInFile = toolsInFile.get(id)
    const isByHand =
      toolInFile !== undefined && toolInFile.category !== recordedTools.get(id)?.category
    return isByHand ? toolInFile.category : generated.get(id)
  })
  const membersOf = (name: string | undefined): CachedTool[] =>
    (members.get(name) ?? []).map((tool) => cachedTool(tool, toolsInFile.get(tool.id)))
  const names = [...members.keys()].filter((name) => name !== undefined)
  const { categories, generatedTexts } = mergeCategories(input, names, descriptions)
  return {
    cache: {
      refreshedAt: input.refreshedAt,
      servers: input.servers,
      categories: categories.map((category) => ({ ...category, tools: membersOf(category.name) })),
      uncategorized: membersOf(undefined),
      workflows: cache?.workflows,
      further: cache?.further ?? {},
    },
    generated,
    generatedTexts,
  }
}

function cachedTool(tool: CurrentTool, toolInFile: CachedTool | undefined): CachedTool {
  return {
    id: tool.id,
    description: cutDescription(tool.description),
    prefix: `${tool.server}__`,
    examples: toolInFile?.examples,
    further: toolInFile?.further ?? {},
  }
}

function mergeCategories(
  { cache, record }: MergeInput,
  names: readonly string[],
  descriptions: ReadonlyMap<string, Category>,
) {
  const generatedTexts = new Map<string, string>()
  const categories: Omit<CachedCategory, 'tools'>[] = []
  const add = (name: string, text: Pick<Category, 'description' | 'keywords'>, further = {}) => {
    const { description, keywords } = text
    generatedTexts.set(name, digestText(description, keywords))
    categories.push({ name, description, keywords, further })
  }
  for (const category of cache?.categories ?? []) {
    const { name, further } = category
    const digest = digestText(category.description, category.keywords)
    const byHand = record?.categories.get(name) !== digest
    const hasMore = Object.keys(further).length > 0
    if (byHand) categories.push(category)
    else if (names.includes(name) || hasMore)
      add(name, descriptions.get(canonicalCategory(name)) ?? category, further)
  }
  const existingNames = new Set(categories.map(({ name }) => name))
  for (const name of names.toSorted(compareText)) {
    const text = descriptions.get(name)
    if (!existingNames.has(name) && text) add(name, text)
  }
  return { categories, generatedTexts }
}
