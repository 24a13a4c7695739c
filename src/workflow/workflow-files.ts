import { join } from 'node:path'
import { readWorkflows, type ReadWorkflowsOptions, type WorkflowFile } from './read-workflows.ts'
import type { WorkflowReading } from './model.ts'

/** Where a project's workflows are written; it wins over the tool caches. */
export function workflowsPath(project: string): string {
  return join(project, '.skillrail', 'workflows.json')
}

/** Every file that may define workflows, the first wins: ours, then tool caches under all their names. */
export function workflowFiles(project: string): WorkflowFile[] {
  const caches = [
    ['.skillrail', 'tools.json'],
    ['.opencode', 'agent-skill-tools.json'],
    ['.opencode', 'skill-tools.json'],
    ['.opencode', 'mcp-tools.json'],
  ]
  return [workflowsPath(project), ...caches.map((names) => join(project, ...names))].map(
    (path) => ({ path }),
  )
}

/** The workflows of a project, from the disk. */
export function loadWorkflows(
  project: string,
  options: ReadWorkflowsOptions = {},
): WorkflowReading {
  return readWorkflows(workflowFiles(project), options)
}
