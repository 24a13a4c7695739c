import type { Diagnostic } from '../../core/diagnostic.ts'
import type { JsonValue } from '../../skill/model.ts'

export type JsonObject = { [key: string]: JsonValue }

/** What happens when prerequisites of a call are open. */
export const workflowModes = ['enforce', 'warn', 'suggest'] as const

export type WorkflowMode = (typeof workflowModes)[number]

export interface WorkflowTriggers {
  /** Binds it: only calls of this server match, and its prerequisites run there. */
  server?: string | undefined
  category?: string | undefined
  /** Names without their server, or ids of tools; `*` stands for any characters. */
  tools?: readonly string[] | undefined
  /** Every tool of a server with the prerequisites that is not known to read only. */
  changes?: boolean | undefined
  /** Whole words or phrases of the request; they count only within the workflow's category. */
  keywords?: readonly string[] | undefined
}

export interface Prerequisite {
  step: number
  tool: string
  description: string
  /** A failed one that is not required does not stop the call. */
  required: boolean
  /** Values, or references: `$call.database`, `$steps.1.databases[0]`, `$tables[*].name ?? $sql.tables`. */
  params?: JsonObject | undefined
  outputAs?: string | undefined
  /** Parameters that make it another check: `database`, `page`; `instance` is the server's own life. Default: all parameters. */
  scope?: readonly string[] | undefined
  /** Tools after which it no longer holds. */
  invalidatedBy?: readonly string[] | undefined
}

export interface WorkflowDefinition {
  name: string
  enabled: boolean
  description: string
  triggers: WorkflowTriggers
  prerequisites: readonly Prerequisite[]
  mode: WorkflowMode
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

/** The values that a finished prerequisite holds for. */
export type ScopeValues = { [key: string]: JsonValue }
