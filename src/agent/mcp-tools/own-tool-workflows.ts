import { hasErrors, type Runtime } from '../../base/index.ts'
import { type CallAtGate, canonicalCategory } from '../../tools/index.ts'
import { findWorkspace } from '../../trust/index.ts'
import { loadWorkflows, matchWorkflows } from '../../workflow/index.ts'

/** What the workflows of a project mean for tools of the agent itself, which belong to no server. */
export interface OwnToolWorkflows {
  /** A file of workflows cannot be read: nothing at all may be called, so no server is needed. */
  readonly unreadable: boolean
  /** Whether a workflow stands before this call, its own tools being there or not. */
  standBefore(call: CallAtGate): boolean
}

/** Read from the disk; no server is started for it. */
export function ownToolWorkflows(options: { project: string; runtime: Runtime }): OwnToolWorkflows {
  const project = findWorkspace(options.project, options.runtime)
  const { workflows, diagnostics } = loadWorkflows(project, { canonicalCategory })
  return {
    unreadable: hasErrors(diagnostics),
    standBefore({ tool, params, request, instance }) {
      if (workflows.length === 0) return false
      const call = { tool, params, request, instance }
      const { matched, notInstalled } = matchWorkflows(call, workflows, [])
      return matched !== undefined || notInstalled.length > 0
    },
  }
}
