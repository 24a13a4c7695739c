import { compareText } from '../../base/index.ts'
import type { JsonValue } from '../../skill/index.ts'
import { categorise } from '../category/categorise.ts'
import { digestTool } from './_digest-tool.ts'
import type { Category } from '../category/category.ts'
import { describeCategories } from '../category/describe.ts'
import type { ToolDefinition } from '../model.ts'
import type { IndexedServer, ServerFailure, ToolCaution, ToolIndex } from './model.ts'
import { readAnnotations } from './sidecar.ts'
import { createToolIndex } from './tool-index.ts'
import { summaryOf } from './tool-summary.ts'

export interface IndexDefinitionsOptions {
  /** Default: the epoch. */
  refreshedAt?: string | undefined
  failures?: readonly ServerFailure[] | undefined
  /** Names of the servers whose annotations are believed; default all. */
  trusted?: ReadonlySet<string> | undefined
  workflows?: JsonValue | undefined
  /** Categories, examples and cautions of an earlier index hold for the tools that it knows. */
  known?: ToolIndex | undefined
}

/**
 * An index straight from definitions, as after a discovery: categorised, nothing read or written.
 * Of definitions with one id the first is kept.
 */
export function indexDefinitions(
  definitions: readonly ToolDefinition[],
  options: IndexDefinitionsOptions = {},
): ToolIndex {
  const byId = new Map<string, ToolDefinition>()
  for (const tool of definitions) if (!byId.has(tool.id)) byId.set(tool.id, tool)
  const unique = [...byId.values()].toSorted((a, b) => compareText(a.id, b.id))
  const { known, failures = [] } = options
  const assigned = categorise(unique)
  for (const { id } of unique) {
    const category = known?.tool(id)?.category
    if (category !== undefined) assigned.set(id, category)
  }
  return createToolIndex({
    refreshedAt: options.refreshedAt ?? new Date(0).toISOString(),
    servers: serversOf(unique, failures),
    tools: unique.map((tool) =>
      summaryOf(tool, {
        category: assigned.get(tool.id),
        examples: known?.tool(tool.id)?.examples,
        trusted: options.trusted?.has(tool.server) ?? true,
      }),
    ),
    categories: describeCategories(unique, assigned).map((category) => ({
      ...category,
      ...textOf(known, category.name),
    })),
    workflows: options.workflows,
    definition: (id) => byId.get(id),
    cautions: cautionsOf(unique, options),
  })
}

function serversOf(
  tools: readonly ToolDefinition[],
  failures: readonly ServerFailure[],
): IndexedServer[] {
  const servers = new Map<string, IndexedServer>()
  for (const { server } of tools) {
    const known = servers.get(server)
    servers.set(server, { name: server, toolCount: (known?.toolCount ?? 0) + 1 })
  }
  for (const failure of failures) {
    const toolCount = servers.get(failure.server)?.toolCount ?? 0
    servers.set(failure.server, { name: failure.server, toolCount, unavailable: failure })
  }
  return [...servers.values()].toSorted((a, b) => compareText(a.name, b.name))
}

function textOf(
  known: ToolIndex | undefined,
  name: string,
): Pick<Category, 'description' | 'keywords'> | undefined {
  const category = known?.categories.find((candidate) => candidate.name === name)
  if (category === undefined) return undefined
  return { description: category.description, keywords: category.keywords }
}

function hasChanged(now: ToolDefinition, before: ToolDefinition): boolean {
  const annotations = readAnnotations(now.annotations)
  const [one, other] = [digestTool({ ...now, annotations }), digestTool(before)]
  return one.description !== other.description || one.schema !== other.schema
}

/** A change that was seen stays one, and another may be seen; whether a server answers is known anew. */
function cautionsOf(
  tools: readonly ToolDefinition[],
  { failures = [], known, refreshedAt: since = '' }: IndexDefinitionsOptions,
): Map<string, ToolCaution> {
  const failed = new Map(failures.map(({ server, message }) => [server, message]))
  const cautions = new Map<string, ToolCaution>()
  for (const tool of tools) {
    const { id } = tool
    const message = failed.get(tool.server)
    const caution = known?.caution(id)
    const before = known?.definition(id)
    if (message !== undefined) cautions.set(id, { kind: 'unavailable', message })
    else if (caution?.kind === 'changed') cautions.set(id, caution)
    else if (before !== undefined && hasChanged(tool, before)) {
      cautions.set(id, { kind: 'changed', since, before })
    }
  }
  return cautions
}
