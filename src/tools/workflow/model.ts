import type { Diagnostic } from '#core/errors'
import type { JsonValue } from '#core/json'

export type JsonObject = { [key: string]: JsonValue }

export const workflowModes = ['enforce', 'warn', 'suggest'] as const

export type WorkflowMode = (typeof workflowModes)[number]

/** Which calls a workflow applies to. */
export interface WorkflowTriggers {
  /** Binds it: only calls of this server match, and its prerequisites run there. */
  server?: string | undefined
  category?: string | undefined
  /** Names without their server, or IDs of tools; `*` stands for any characters. */
  tools?: string[] | undefined
  /** Every tool of a server with the prerequisites that is not known to read only. */
  changes?: boolean | undefined
  /** Whole words or phrases of the request; they count only within the workflow's category. */
  keywords?: string[] | undefined
}

export interface Prerequisite {
  step: number
  tool: string
  description: string
  /** If it is not required, its failure does not stop the call. */
  required: boolean
  /** Values, or references: `$call.database`, `$steps.1.databases[0]`, `$tables[*].name ?? $sql.tables`. */
  params?: JsonObject | undefined
  outputAs?: string | undefined
  /** Parameters that make it another check: `database`, `page`; `instance` is one process of the server. Default: all parameters. */
  scope?: string[] | undefined
  /** Tools after which its result no longer counts. */
  invalidatedBy?: string[] | undefined
}

/** Another tool that a workflow means by a name, with the parameters that make it that tool. */
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
  /** Other tools that the workflow means by a name. */
  aliases?: Record<string, ToolAlias[]> | undefined
  mode: WorkflowMode
  created_at?: string | undefined
}

export interface WorkflowDefinition extends Omit<FileDefinition, 'created_at'> {
  name: string
  description: string
  /** ISO time, as the file has it. */
  createdAt?: string | undefined
  path: string
  line?: number | undefined
}

export interface WorkflowReading {
  /** In the order of definition; in that order those of one mode run. */
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
  /** None where its schema is not known. */
  parameters?: readonly string[] | undefined
}

export interface GatedCall {
  tool: WorkflowTool
  params: JsonObject
  request?: string | undefined
  /** Changes when the tool's server was started anew. */
  instance?: string | undefined
}

export type ScopeValues = { [key: string]: JsonValue }
