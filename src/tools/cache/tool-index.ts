import type { JsonValue } from '../../skill/index.ts'
import type { Category } from '../category/category.ts'
import type { ToolDefinition, ToolSummary } from '../model.ts'
import type { IndexedServer, ToolCaution, ToolIndex } from './model.ts'

/** The parts of a {@link ToolIndex}; `definition` is asked only for the tools that are needed. */
export interface ToolIndexParts {
  refreshedAt: string
  servers: readonly IndexedServer[]
  tools: readonly ToolSummary[]
  categories: readonly Category[]
  workflows?: JsonValue | undefined
  definition(id: string): ToolDefinition | undefined
  cautions?: ReadonlyMap<string, ToolCaution> | undefined
}

export function createToolIndex(parts: ToolIndexParts): ToolIndex {
  const byId = new Map(parts.tools.map((tool) => [tool.id, tool]))
  return {
    refreshedAt: parts.refreshedAt,
    servers: parts.servers,
    tools: parts.tools,
    categories: parts.categories,
    workflows: parts.workflows,
    tool: (id) => byId.get(id),
    definition: (id) => (byId.has(id) ? parts.definition(id) : undefined),
    caution: (id) => parts.cautions?.get(id),
  }
}
