import { type Diagnostic, exitCode } from '#core/errors'
import { didYouMean } from '#core/text'
import { ToolError } from '#tools/errors'
import type { WorkflowDefinition, WorkflowReading } from './model.ts'
import { loadWorkflows } from './read-workflows.ts'
import { openSession, type SessionStore } from './session.ts'
import { workflowTrust, type WorkflowTrust } from '#tools/call/gate'
import { acceptingHint } from '#tools/config/read-configuration'
import { type ProjectContext, type ToolContext, toolProject } from '#tools/project-tools'

export interface WorkflowProject extends WorkflowReading {
  project: string
}

export function openWorkflows(context: ProjectContext): WorkflowProject {
  const project = toolProject(context)
  return { project, ...loadWorkflows(project) }
}

export interface WorkflowListing {
  workflows: readonly WorkflowDefinition[]
  diagnostics: readonly Diagnostic[]
}

/** Lists the project's workflows, with those that refuse calls because nobody accepted them. */
export function listWorkflows(context: ProjectContext): WorkflowListing {
  const project = openWorkflows(context)
  const diagnostics = [...project.diagnostics, ...untrustedWorkflows(context, project)]
  return { workflows: project.workflows, diagnostics }
}

export function requireWorkflow({ workflows }: WorkflowReading, name: string): WorkflowDefinition {
  const match = workflows.find((workflow) => workflow.name === name)
  if (match) return match
  const names = workflows.map((workflow) => workflow.name)
  throw new ToolError({
    code: 'workflow-not-found',
    message: `Workflow '${name}' not found.`,
    hint:
      didYouMean(name, names) || '`skillrail tools workflow list` shows those that are defined.',
    exitCode: exitCode.notFound,
  })
}

export function sessionOf(
  { runtime, settings, note }: ToolContext,
  project: string,
  id: string | undefined,
): SessionStore {
  return openSession({ project, runtime, settings, id, note: (line) => note(line) })
}

export function trustOfWorkflows(
  { runtime, settings }: ProjectContext,
  { project, workflows }: WorkflowProject,
): WorkflowTrust {
  return workflowTrust(project, runtime, settings.workspaceTrust, workflows)
}

/**
 * Reports that calls are refused because the file of a workflow was not accepted, once for each file. A
 * workflow that only suggests stops no calls. `workflows` defaults to all workflows of the project.
 */
export function untrustedWorkflows(
  context: ProjectContext,
  project: WorkflowProject,
  workflows: readonly WorkflowDefinition[] = project.workflows,
): Diagnostic[] {
  const trust = trustOfWorkflows(context, project)
  const acting = workflows.filter(({ enabled, mode }) => enabled && mode !== 'suggest')
  const diagnostics = [...Map.groupBy(acting, ({ path }) => path)].flatMap(([path, group]) => {
    const block = trust.blockOf(path)
    if (!block) return []
    const names = group.map(({ name }) => `'${name}'`).join(', ')
    const reason =
      block.reason === 'changed'
        ? 'the file has changed since the workspace was trusted'
        : 'the workspace was never trusted'
    return notTrusted(
      path,
      `calls that ${names} must come before are refused: ${reason}`,
      block.hint,
    )
  })
  const reportedPaths = new Set(diagnostics.map(({ path }) => path))
  return [...diagnostics, ...goneFindings(trust, reportedPaths)]
}

function notTrusted(path: string, message: string, hint = acceptingHint): Diagnostic {
  return { code: 'workflow-not-trusted', severity: 'warning', message, path, hint }
}

/** Reports workflows that were accepted and then removed, for which calls wait. Skips `reportedPaths`. */
function goneFindings(trust: WorkflowTrust, reportedPaths: ReadonlySet<string>): Diagnostic[] {
  const { workflows, loaded, unknown } = trust.gone()
  if (unknown !== undefined) {
    return [
      notTrusted(unknown, 'every call is refused: the file contained workflows and has changed'),
    ]
  }
  const now = new Set(loaded.map(({ name }) => name))
  return workflows.flatMap(({ name, path }) => {
    if (now.has(name) && reportedPaths.has(path)) return []
    const change = now.has(name) ? 'was changed' : 'was removed'
    return notTrusted(
      path,
      `calls that '${name}' came before are refused: it was accepted and ${change}`,
    )
  })
}
