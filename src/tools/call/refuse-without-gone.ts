import { matchWorkflows, type WorkflowDefinition, type WorkflowTool } from '../../workflow/index.ts'
import { acceptingHint } from '../config/file-trust.ts'
import type { CallToForesee } from './context.ts'
import { ToolRefusedError } from './errors.ts'
import { gatedCall } from './workflow-gate.ts'
import { type GoneWorkflows, isSameWorkflow } from './workflow-trust.ts'

/**
 * @throws {ToolRefusedError} for a call that a workflow stood before which is gone, and for every call
 *   where nobody knows what is gone.
 */
export function refuseWithoutGone(
  call: CallToForesee,
  { accepted, loaded, workflows, unknown }: GoneWorkflows,
  installed: readonly WorkflowTool[],
): void {
  if (unknown !== undefined) {
    throw new ToolRefusedError({
      code: 'workflow-not-trusted',
      message: `nothing is called, because ${unknown} held workflows when the workspace was trusted and has changed since`,
      hint: acceptingHint,
    })
  }
  const gated = gatedCall(call)
  const removed = workflows.find((workflow) => {
    const { matched, notInstalled } = matchWorkflows(gated, [workflow], installed)
    return matched !== undefined || notInstalled.length > 0
  })
  const standing = removed ?? overtaken()
  if (standing === undefined) return
  throw new ToolRefusedError({
    code: 'workflow-not-trusted',
    message: `Workflow '${standing.name}' must run first: what was read from ${standing.path} is not what was accepted when the workspace was trusted`,
    hint: acceptingHint,
  })

  /** The one that stood first as accepted, where another has come before it. */
  function overtaken(): WorkflowDefinition | undefined {
    const first = matchWorkflows(gated, accepted, installed).matched
    if (first === undefined || first.mode === 'suggest') return undefined
    return isSameWorkflow(first, matchWorkflows(gated, loaded, installed).matched)
      ? undefined
      : first
  }
}
