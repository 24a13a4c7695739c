import type { Diagnostic } from '../base/index.ts'
import { finding } from './_finding.ts'
import { callsTool } from './tool-names.ts'
import type { WorkflowDefinition, WorkflowTool } from './model.ts'

/**
 * Workflows that trigger each other through their prerequisites: a step of A is a tool that triggers
 * B, and a step of B one that triggers A. The gate never loops, since a prerequisite is not gated
 * again; but neither of the two can be kept as it was meant. Each cycle is reported once.
 */
export function findCycles(workflows: readonly WorkflowDefinition[]): Diagnostic[] {
  const cycles: WorkflowDefinition[][] = []
  const finished = new Set<WorkflowDefinition>()
  for (const workflow of workflows) visit(workflow, [])
  return cycles.flatMap((cycle) => {
    const [first] = cycle
    if (first === undefined) return []
    const names = [...cycle, first].map(({ name }) => name).join(' → ')
    const message = `it is part of a cycle: ${names}`
    const hint = 'Take a prerequisite out of one of them.'
    return [finding(first, 'workflow-cycle', 'error', message, hint)]
  })

  function visit(workflow: WorkflowDefinition, path: readonly WorkflowDefinition[]): void {
    const start = path.indexOf(workflow)
    if (start !== -1) cycles.push(path.slice(start))
    if (start !== -1 || finished.has(workflow)) return
    for (const next of triggeredBy(workflow, workflows)) visit(next, [...path, workflow])
    finished.add(workflow)
  }
}

/** The workflows that a prerequisite of this one would trigger, were it an ordinary call. */
function triggeredBy(
  workflow: WorkflowDefinition,
  workflows: readonly WorkflowDefinition[],
): WorkflowDefinition[] {
  return workflows.filter((other) =>
    workflow.prerequisites.some(({ tool }) => {
      const isOwn = other.prerequisites.some((step) => names(tool, step.tool, other))
      if (isOwn && other !== workflow) return false
      return (other.triggers.tools ?? []).some((trigger) => names(tool, trigger, other))
    }),
  )
}

function names(tool: string, wanted: string, { triggers }: WorkflowDefinition): boolean {
  const named: WorkflowTool = { id: tool, server: '', name: tool }
  return callsTool({ tool: named, params: {} }, wanted, triggers.category)
}
