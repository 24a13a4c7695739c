import type { WorkflowTool } from './model.ts'

/** What a registry knows of a tool. */
interface KnownTool {
  id: string
  server: string
  name: string
  category?: string | undefined
  required: readonly string[]
  parameters: readonly string[]
}

/** A tool of a registry as workflows see it. Without any parameter its schema may be unknown. */
export function workflowTool(tool: KnownTool): WorkflowTool {
  const { id, server, name, category, required, parameters } = tool
  return parameters.length === 0
    ? { id, server, name, category }
    : { id, server, name, category, required, parameters }
}
