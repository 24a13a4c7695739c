import type { Diagnostic } from '../base/index.ts'
import { fileTrust, type FileTrust } from '../tools/index.ts'
import type { WorkflowDefinition } from '../workflow/index.ts'
import type { CommandContext } from './command.ts'

/** Says of a file whether its workflows may run; undefined: they may. */
export function workflowBlocks(
  { runtime, settings }: CommandContext,
  project: string,
): FileTrust['blockOf'] {
  let trust: FileTrust | undefined
  return (path) => (trust ??= fileTrust(project, runtime, settings.workspaceTrust)).blockOf(path)
}

/**
 * That calls are refused because the file of a workflow was not accepted, once for every file. One
 * that only suggests makes no calls and stops none.
 */
export function untrustedWorkflows(
  context: CommandContext,
  project: string,
  workflows: readonly WorkflowDefinition[],
): Diagnostic[] {
  const blockOf = workflowBlocks(context, project)
  const acting = workflows.filter(({ enabled, mode }) => enabled && mode !== 'suggest')
  return [...new Set(acting.map(({ path }) => path))].flatMap((path) => {
    const block = blockOf(path)
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
}
