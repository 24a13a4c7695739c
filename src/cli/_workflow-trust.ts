import type { Diagnostic } from '../base/index.ts'
import { acceptingHint, type WorkflowTrust, workflowTrust } from '../tools/index.ts'
import type { WorkflowDefinition } from '../workflow/index.ts'
import type { WorkflowProject } from './_workflow-project.ts'
import type { CommandContext } from './command.ts'

export function trustOfWorkflows(
  { runtime, settings }: CommandContext,
  { project, workflows }: WorkflowProject,
): WorkflowTrust {
  return workflowTrust(project, runtime, settings.workspaceTrust, workflows)
}

/**
 * That calls are refused because the file of a workflow was not accepted, once for every file. One
 * that only suggests makes no calls and stops none.
 *
 * @param asked those that it is asked of, by default all of the project.
 */
export function untrustedWorkflows(
  context: CommandContext,
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
 * What was accepted and was taken away since: its calls wait until that is accepted too.
 *
 * @param told files of which it was said that what they hold now is not accepted.
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
