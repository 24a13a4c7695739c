import type { ToolDefinition, ToolSummary } from '../model.ts'
import { readsOnly } from './reads-only.ts'

export interface SummaryFacts {
  category?: string | undefined
  examples?: readonly string[] | undefined
  /** Whether the server's annotations are believed. */
  trusted: boolean
}

/** What the router needs of a tool. */
export function summaryOf(tool: ToolDefinition, facts: SummaryFacts): ToolSummary {
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

export function parameterNames(tool: Pick<ToolDefinition, 'inputSchema'>): string[] {
  const properties = tool.inputSchema['properties']
  const isMap = typeof properties === 'object' && properties !== null && !Array.isArray(properties)
  return isMap ? Object.keys(properties) : []
}

export function requiredNames(tool: Pick<ToolDefinition, 'inputSchema'>): string[] {
  const required = tool.inputSchema['required']
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
}
