import type { Diagnostic } from '../base/index.ts'
import {
  acceptingHint,
  canonicalCategory,
  fileTrust,
  type FileTrust,
  goneWorkflows,
} from '../tools/index.ts'
import { loadWorkflows, type WorkflowDefinition } from '../workflow/index.ts'
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
  const untrusted = [...new Set(acting.map(({ path }) => path))].flatMap((path) => {
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
  const told = new Set(untrusted.map(({ path }) => path))
  return [...untrusted, ...goneFindings(context, project, told)]
}

/**
 * What was accepted and was taken away since: its calls wait until that is accepted too.
 *
 * @param told files of which it was said that what they hold now is not accepted.
 */
function goneFindings(
  { runtime, settings }: CommandContext,
  project: string,
  told: ReadonlySet<string>,
): Diagnostic[] {
  const { workflows: loaded } = loadWorkflows(project, { canonicalCategory })
  const { workflows, unknown } = goneWorkflows(project, runtime, settings.workspaceTrust, loaded)
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
