import type { Diagnostic } from '../../core/diagnostic.ts'
import { nearest } from '../../core/text.ts'
import { findWorkspace } from '../../core/read-files.ts'
import { WorkflowNotFoundError } from '../workflow/errors.ts'
import type { WorkflowDefinition, WorkflowReading, WorkflowTool } from '../workflow/model.ts'
import { loadWorkflows } from '../workflow/read-workflows.ts'
import { openSession, type SessionStore } from '../workflow/session.ts'
import { workflowTool } from '../workflow/match.ts'
import { loadToolIndex } from '../cache/tool-index.ts'
import { workflowTrust, type WorkflowTrust } from '../call/gate.ts'
import { acceptingHint } from '../config/read-configuration.ts'
import type { ToolContext } from './project-tools.ts'

export interface WorkflowProject extends WorkflowReading {
  project: string
}

export function openWorkflows(context: Pick<ToolContext, 'runtime'>): WorkflowProject {
  const project = findWorkspace(context.runtime.cwd, context.runtime)
  return { project, ...loadWorkflows(project) }
}

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

export function installedTools(
  context: Pick<ToolContext, 'runtime'>,
  project: string,
): { tools: readonly WorkflowTool[] | undefined; message?: string | undefined } {
  const { index, message } = loadToolIndex({ project, runtime: context.runtime })
  return { tools: index?.tools.map(workflowTool), message }
}

export function sessionOf(
  context: Pick<ToolContext, 'runtime' | 'settings' | 'note'>,
  project: string,
  id: string | undefined,
): SessionStore {
  const { runtime, settings, note } = context
  return openSession({ project, runtime, settings, id, note: (line) => note(line) })
}

export function trustOfWorkflows(
  { runtime, settings }: Pick<ToolContext, 'runtime' | 'settings'>,
  { project, workflows }: WorkflowProject,
): WorkflowTrust {
  return workflowTrust(project, runtime, settings.workspaceTrust, workflows)
}

/**
 * Says that calls are refused because the file of a workflow was not accepted, once for every file.
 * A workflow that only suggests stops no calls. `asked` defaults to all of the project.
 */
export function untrustedWorkflows(
  context: Pick<ToolContext, 'runtime' | 'settings'>,
  project: WorkflowProject,
  asked: readonly WorkflowDefinition[] = project.workflows,
): Diagnostic[] {
  const trust = trustOfWorkflows(context, project)
  const acting = asked.filter(({ enabled, mode }) => enabled && mode !== 'suggest')
  const untrusted = [...new Set(acting.map(({ path }) => path))].flatMap((path) => {
    const block = trust.blockOf(path)
    if (block === undefined) return []
    const why =
      block.reason === 'changed'
        ? 'the file has changed since the workspace was trusted'
        : 'the workspace was never trusted'
    const names = acting.filter((workflow) => workflow.path === path).map(({ name }) => `'${name}'`)
    const message = `calls that ${names.join(', ')} must come before are refused: ${why}`
    const code = 'workflow-not-trusted'
    return [{ code, severity: 'warning' as const, message, path, hint: block.hint }]
  })
  const told = new Set(untrusted.map(({ path }) => path))
  return [...untrusted, ...goneFindings(trust, told)]
}

/**
 * What was accepted and has been removed since: its calls wait until the removal is accepted.
 * `told` are files that were reported already.
 */
function goneFindings(trust: WorkflowTrust, told: ReadonlySet<string>): Diagnostic[] {
  const { workflows, loaded, unknown } = trust.gone()
  const now = new Set(loaded.map(({ name }) => name))
  const finding = (path: string, message: string): Diagnostic => {
    return { code: 'workflow-not-trusted', severity: 'warning', message, path, hint: acceptingHint }
  }
  if (unknown !== undefined) {
    return [finding(unknown, 'every call is refused: the file held workflows and has changed')]
  }
  return workflows.flatMap(({ name, path }) => {
    if (now.has(name) && told.has(path)) return []
    const what = now.has(name) ? 'was changed' : 'was removed'
    return finding(
      path,
      `calls that '${name}' came before are refused: it was accepted and ${what}`,
    )
  })
}
