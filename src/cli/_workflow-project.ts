import { nearest } from '../base/index.ts'
import { canonicalCategory, loadToolIndex } from '../tools/index.ts'
import { findWorkspace } from '../trust/index.ts'
import {
  loadWorkflows,
  openSession,
  type SessionStore,
  type WorkflowDefinition,
  WorkflowNotFoundError,
  type WorkflowReading,
  type WorkflowTool,
  workflowTool,
} from '../workflow/index.ts'
import type { CommandContext } from './command.ts'

/** The workflows of the project that a command works in. */
export interface WorkflowProject extends WorkflowReading {
  /** Real path. */
  project: string
}

export function openWorkflows(context: CommandContext): WorkflowProject {
  const project = findWorkspace(context.runtime.cwd, context.runtime)
  return { project, ...loadWorkflows(project, { canonicalCategory }) }
}

/** @throws {WorkflowNotFoundError} */
export function requireWorkflow({ workflows }: WorkflowReading, name: string): WorkflowDefinition {
  const found = workflows.find((workflow) => workflow.name === name)
  if (found !== undefined) return found
  throw new WorkflowNotFoundError(
    name,
    nearest(
      name,
      workflows.map((workflow) => workflow.name),
    ),
  )
}

/** The tools that the last refresh found; undefined where there was none. */
export function installedTools(
  context: CommandContext,
  project: string,
): { tools: readonly WorkflowTool[] | undefined; message?: string | undefined } {
  const { index, message } = loadToolIndex({ project, runtime: context.runtime })
  return { tools: index?.tools.map(workflowTool), message }
}

export function sessionOf(
  context: CommandContext,
  project: string,
  id: string | undefined,
): SessionStore {
  const { runtime, settings, output } = context
  const lifetimeMs = settings.tools.sessionHours * 3_600_000
  return openSession({ project, runtime, id, lifetimeMs, note: (line) => output.note(line) })
}
