import { type Diagnostic, safeLine } from '../../base/index.ts'
import type { ToolDefinition } from '../model.ts'
import { cutText } from './_cache-parts.ts'
import { toolIdProblem } from './tool-id.ts'

/** Characters of a description that are kept in full. */
const longestDescription = 64 * 1024
/** Characters of a whole definition as JSON. */
const largestDefinition = 1024 * 1024

/**
 * The definitions that can be kept, of those that servers listed: ids that can be used and printed,
 * each once, none of them huge. What is left out is reported.
 */
export function acceptDefinitions(listed: readonly ToolDefinition[]): {
  tools: ToolDefinition[]
  diagnostics: Diagnostic[]
} {
  const tools = new Map<string, ToolDefinition>()
  const diagnostics: Diagnostic[] = []
  for (const tool of listed) {
    const report = (code: string, problem: string): void => {
      const message = `tool ${JSON.stringify(safeLine(tool.id.slice(0, 80)))} ${problem}`
      diagnostics.push({ code, severity: 'warning', message, path: safeLine(tool.server) })
    }
    const problem = toolIdProblem(tool.id) ?? toolIdProblem(tool.name)
    if (problem !== undefined) {
      report('tool-name', `is left out: ${problem}`)
      continue
    }
    if (tools.has(tool.id)) {
      report('tool-repeated', 'is listed again; the first one counts')
      continue
    }
    const cut = cutTool(tool)
    if (cut.description.length < tool.description.length) {
      report('tool-description', `has a description of ${tool.description.length} characters; cut`)
    }
    const size = sizeOf(cut)
    if (size === undefined || size > largestDefinition) {
      const reason =
        size === undefined ? 'its schema is nested too deeply' : `it has ${size} characters`
      report('tool-definition', `is left out: ${reason}`)
      continue
    }
    tools.set(tool.id, cut)
  }
  return { tools: [...tools.values()], diagnostics }
}

function cutTool(tool: ToolDefinition): ToolDefinition {
  if (tool.description.length <= longestDescription) return tool
  return { ...tool, description: cutText(tool.description, longestDescription) }
}

/** Undefined where a schema is nested deeper than can be written. */
function sizeOf(tool: ToolDefinition): number | undefined {
  try {
    return JSON.stringify(tool).length
  } catch {
    return undefined
  }
}
