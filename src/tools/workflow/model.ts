import type { Diagnostic } from '#core/errors'
import type { JsonValue } from '#core/json'
import type { WrittenDefinition } from './read-workflows.ts'

export type JsonObject = { [key: string]: JsonValue }

export const workflowModes = ['enforce', 'warn', 'suggest'] as const

export type WorkflowMode = (typeof workflowModes)[number]

export type Prerequisite = WrittenDefinition['prerequisites'][number]

/** Another tool that a workflow means by a name, with the parameters that make it that tool. */
export interface ToolAlias {
  tool: string
  params?: JsonObject | undefined
}

export interface WorkflowDefinition extends Omit<WrittenDefinition, 'created_at'> {
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
