import type { CachedCategory, CachedTool, ToolCache } from './cache-model.ts'

/** The cache file's text in the schema that the seed's clients read. */
export function cacheText(cache: ToolCache): string {
  const count = cache.categories.reduce((sum, { tools }) => sum + tools.length, 0)
  const value = {
    version: cache.version,
    refreshed_at: cache.refreshedAt,
    mcp_servers: cache.servers,
    tool_count: count + cache.uncategorized.length,
    categories: Object.fromEntries(
      cache.categories.map((item) => [item.name, categoryValue(item)]),
    ),
    uncategorized: cache.uncategorized.map(toolValue),
    workflows: cache.workflows,
    ...cache.further,
  }
  return `${JSON.stringify(value, null, 2)}\n`
}

function categoryValue({ description, keywords, tools, further }: CachedCategory): object {
  return { description, keywords, tools: tools.map(toolValue), ...further }
}

function toolValue({ id, description, prefix, examples, further }: CachedTool): object {
  return { id, description, prefix, examples, ...further }
}
