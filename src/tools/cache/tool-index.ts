import { compareText } from '../../core/diagnostic.ts'
import type { JsonValue } from '../../skill/model.ts'
import { categorise, type Category, describeCategories } from '../category/categorise.ts'
import type { ToolDefinition, ToolSummary } from '../model.ts'
import { digestTool } from './changes.ts'
import { readsOnly } from './reads-only.ts'
import { parameterNames, readAnnotations, requiredNames } from './sidecar.ts'

/** What is known of a project's tools without a server running. */
export interface ToolIndex {
  /** When the servers were last asked, as an ISO date. */
  refreshedAt: string
  /** In code-point order of their names. */
  servers: readonly IndexedServer[]
  /** In code-point order of their ids; each id once. */
  tools: readonly ToolSummary[]
  /** In code-point order of their names. */
  categories: readonly Category[]
  /** The `workflows` that the cache file carries, as they stand there. */
  workflows?: JsonValue | undefined
  tool(id: string): ToolSummary | undefined
  /** With the full schemas; undefined where only a refresh or a running server knows them. */
  definition(id: string): ToolDefinition | undefined
  /** Why a known tool should not be called without a second look; undefined when nothing is wrong. */
  caution(id: string): ToolCaution | undefined
}

export interface IndexedServer {
  name: string
  toolCount: number
  /** Why the last refresh could not list it; its tools are those of the refresh before. */
  unavailable?: ServerFailure | undefined
}

export interface ServerFailure {
  server: string
  /** In one line. */
  message: string
  /** The last lines of its stderr. */
  stderrTail: string
  /** It was not started, because the workspace was not trusted then. */
  notTrusted?: boolean | undefined
}

export type ToolCaution =
  | { kind: 'unavailable'; message: string }
  /** Description or schema differ from those that were first seen in this project. */
  | {
      kind: 'changed'
      since: string
      /** What it was, where that was kept. */
      before?: ToolDefinition | undefined
    }

/** The parts of a {@link ToolIndex}; `definition` is asked only for the tools that are needed. */
interface ToolIndexParts {
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

interface SummaryFacts {
  category?: string | undefined
  examples?: readonly string[] | undefined
  /** Whether the server's annotations are believed. */
  trusted: boolean
}

/** What the router needs of a tool. */
function summaryOf(tool: ToolDefinition, facts: SummaryFacts): ToolSummary {
  const { id, server, name, description } = tool
  return {
    id,
    server,
    name,
    description,
    parameters: parameterNames(tool),
    required: requiredNames(tool),
    category: facts.category,
    examples: facts.examples,
    readOnly: readsOnly(tool, facts.trusted),
  }
}

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
