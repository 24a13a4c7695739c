import type { JsonValue } from '../../skill/index.ts'
import type { Category } from '../category/category.ts'
import type { ToolDefinition, ToolSummary } from '../model.ts'

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
  /** The last lines of its standard error. */
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
