import { canonicalCategory, type ToolIndex, type ToolSummary } from '../tools/index.ts'
import { loadWorkflows, matchWorkflows, type WorkflowDefinition } from '../workflow/index.ts'

/** The workflow that stands before a bare call of the tool, and those that it goes before. */
export function guardsOf(
  tool: ToolSummary,
  index: ToolIndex,
  project: string,
): WorkflowDefinition[] {
  const { workflows } = loadWorkflows(project, { canonicalCategory })
  const { matched, also } = matchWorkflows({ tool, params: {} }, workflows, index.tools)
  return workflows.filter(({ name }) => name === matched?.name || also.includes(name))
}
