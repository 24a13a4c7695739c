import { relative } from 'node:path'
import type { Diagnostic } from '../base/index.ts'
import type { GoneWorkflows } from '../tools/index.ts'
import {
  checkDefinition,
  checkWorkflows,
  editWorkflows,
  type JsonObject,
  type WorkflowDefinition,
  type WorkflowEdit,
  WorkflowInvalidError,
} from '../workflow/index.ts'
import { unifiedDiff } from '../base/unified-diff.ts'
import {
  installedTools,
  openWorkflows,
  trustOfWorkflows,
  type WorkflowProject,
} from '../tools/commands/workflow-project.ts'
import type { CommandContext } from './command.ts'

/** Writes one change, or shows it, and says what it was. */
export async function writeWorkflow(
  context: CommandContext,
  workflowProject: WorkflowProject,
  change: { path: string; edit: WorkflowEdit; dryRun: boolean; done: string },
): Promise<void> {
  const { path, edit, dryRun, done } = change
  const diagnostics = findingsOn(workflowProject, edit, path, context)
  const { before, after } = await editWorkflows(path, edit, { dryRun })
  const shown = relative(context.runtime.cwd, path)
  const isSame = after === before
  const written = !dryRun && !isSame
  const { output } = context
  const trust = trustOfWorkflows(context, openWorkflows(context))
  const isRefused = written && trust.blockOf(path) !== undefined
  if (context.options.json) {
    const toBeAccepted = isRefused
    output.json({ name: edit.name, path, written, toBeAccepted, before, after, diagnostics })
    return
  }
  output.diagnostics(diagnostics)
  if (isSame) output.line(`Workflow '${edit.name}' is like that already; nothing to write.`)
  else if (dryRun) output.raw(`${unifiedDiff(shown, before, after)}\n`)
  else output.line(done)
  if (isRefused) output.note(acceptanceText(edit, path, trust.gone()))
}

/** What `workflow check` will say of a definition that is written. */
function findingsOn(
  { project, workflows }: WorkflowProject,
  edit: WorkflowEdit,
  path: string,
  context: CommandContext,
): Diagnostic[] {
  if (edit.kind !== 'write') return []
  const workflow = checkDefinition(edit.name, edit.definition, path)
  const others = workflows.filter(({ name }) => name !== edit.name)
  const { tools } = installedTools(context, project)
  const before = new Set(checkWorkflows(others, tools).map(({ message }) => message))
  return checkWorkflows([...others, workflow], tools).filter(({ message }) => !before.has(message))
}

/** One that nobody accepted and that rests stands before no call; one that was accepted still does. */
function acceptanceText(edit: WorkflowEdit, path: string, gone: GoneWorkflows): string {
  const toAccept = 'Workflows act, so this change is to be accepted: skillrail trust'
  const lifts = edit.kind === 'remove' || (edit.kind === 'set' && edit.value === false)
  if (!lifts) return toAccept
  if (gone.unknown !== undefined || gone.workflows.length > 0) return toAccept
  const others = gone.loaded.filter((one) => one.path === path && one.enabled)
  return others.length === 0
    ? 'It stands before no call from now on.'
    : 'It stands before no call from now on. The other workflows of this file are to be accepted again, since the file has changed: skillrail trust'
}

/**
 * The definition, if it can stand beside the others: with steps and triggers, and without a cycle.
 *
 * @throws {WorkflowInvalidError}
 */
export function acceptDefinition(
  { workflows }: WorkflowProject,
  name: string,
  definition: JsonObject,
  path: string,
): WorkflowDefinition {
  const workflow = checkDefinition(name, definition, path)
  const others = workflows.filter((other) => other.name !== name)
  const known = new Set(checkWorkflows(others).map(({ message }) => message))
  const found = checkWorkflows([...others, workflow]).filter(({ message }) => !known.has(message))
  const refused = found.filter(isRefused)
  if (refused.length === 0) return workflow
  throw new WorkflowInvalidError({
    code: 'workflow-invalid',
    message: `workflow '${name}' cannot be kept as it is; nothing was written`,
    diagnostics: refused,
  })
}

/** Errors, and what a file may hold but nobody would ask for. */
function isRefused({ severity, code }: Diagnostic): boolean {
  return severity === 'error' || ['workflow-no-steps', 'workflow-unreachable'].includes(code)
}
