import type { Diagnostic } from '#core/errors'
import type { JsonValue } from '#core/json'

export type JsonObject = { [key: string]: JsonValue }

export const workflowModes = ['enforce', 'warn', 'suggest'] as const

export type WorkflowMode = (typeof workflowModes)[number]

/** Which calls a workflow applies to. */
export interface WorkflowTriggers {
  /** Binds the workflow: only calls of this server match, and its prerequisites run there. */
  server?: string | undefined
  category?: string | undefined
  /** Names without their server, or IDs of tools; `*` matches any characters. */
  tools?: string[] | undefined
  /** Every tool that is not known to be read-only, if its server has the prerequisites. */
  changes?: boolean | undefined
  /** Whole words or phrases of the request; they count only within the workflow's category. */
  keywords?: string[] | undefined
}

export interface Prerequisite {
  step: number
  tool: string
  description: string
  /** If false, its failure does not stop the call. */
  required: boolean
  /** Values, or references: `$call.database`, `$steps.1.databases[0]`, `$tables[*].name ?? $sql.tables`. */
  params?: JsonObject | undefined
  outputAs?: string | undefined
  /**
   * Parameters that make it a different check: `database`, `page`; `instance` is one process of the server.
   * Default: all parameters.
   */
  scope?: string[] | undefined
  /** Tools after which its result no longer counts. */
  invalidatedBy?: string[] | undefined
}

/** Another tool that a name in a workflow means, with the parameters that make it that tool. */
export interface ToolAlias {
  tool: string
  params?: JsonObject | undefined
}

/** A workflow as its file defines it. */
export interface FileDefinition {
  name?: string | undefined
  enabled: boolean
  /** Default: the name. */
  description?: string | undefined
  triggers: WorkflowTriggers
  prerequisites: Prerequisite[]
  /** Other tools that a name in the workflow means. */
  aliases?: Record<string, ToolAlias[]> | undefined
  mode: WorkflowMode
  created_at?: string | undefined
}

export interface WorkflowDefinition extends Omit<FileDefinition, 'created_at'> {
  name: string
  description: string
  /** ISO time from the file. */
  createdAt?: string | undefined
  path: string
  line?: number | undefined
}

export interface WorkflowReading {
  /** In the order of definition, in which workflows with the same mode run. */
  workflows: readonly WorkflowDefinition[]
  diagnostics: readonly Diagnostic[]
}

export interface WorkflowTool {
  id: string
  server: string
  name: string
  category?: string | undefined
  readOnly?: boolean | undefined
  required?: readonly string[] | undefined
  /** Undefined if its schema is not known. */
  parameters?: readonly string[] | undefined
}

export interface GatedCall {
  tool: WorkflowTool
  params: JsonObject
  request?: string | undefined
  /** Changes when the tool's server restarts. */
  instance?: string | undefined
}

export type ScopeValues = { [key: string]: JsonValue }
