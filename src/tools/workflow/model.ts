import type { Diagnostic } from '../../core/diagnostic.ts'
import type { JsonValue } from '../../skill/model.ts'

export type JsonObject = { [key: string]: JsonValue }

/** What happens when prerequisites of a call are open. */
export const workflowModes = ['enforce', 'warn', 'suggest'] as const

export type WorkflowMode = (typeof workflowModes)[number]

/** Any of them is enough. */
export interface WorkflowTriggers {
  category?: string | undefined
  /** Names without their server, or ids of tools. */
  tools?: readonly string[] | undefined
  /** Whole words or phrases of the request; they count only within the workflow's category. */
  keywords?: readonly string[] | undefined
}

/** One call that comes before the call proper. */
export interface Prerequisite {
  step: number
  /** A name without its server, or the id of a tool. */
  tool: string
  description: string
  /** A failed one that is not required does not stop the call. */
  required: boolean
  /** Values, or references: `$call.database`, `$steps.1.databases[0]`, `$tables[*].name ?? $sql.tables`. */
  params?: JsonObject | undefined
  /** The name under which later steps reach the result. */
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
  /** The file that defines it. */
  path: string
  line?: number | undefined
}

export interface WorkflowReading {
  /** In the order of definition; that order decides which of several is used. */
  workflows: readonly WorkflowDefinition[]
  diagnostics: readonly Diagnostic[]
}

/** What a workflow knows of an installed tool. */
export interface WorkflowTool {
  id: string
  server: string
  name: string
  /** Canonical category. */
  category?: string | undefined
  /** Names of its required parameters, where they are known. */
  required?: readonly string[] | undefined
  parameters?: readonly string[] | undefined
}

export interface GatedCall {
  tool: WorkflowTool
  params: JsonObject
  /** The text of the user's request; keywords see nothing else. */
  request?: string | undefined
  /** Changes when the tool's server was started anew. */
  instance?: string | undefined
}

/** The values that a finished prerequisite holds for. */
export type ScopeValues = { [key: string]: JsonValue }
