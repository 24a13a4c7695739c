import type { Diagnostic, Runtime, Settings } from '../../base/index.ts'
import { workflowsPath, workflowTool } from '../../workflow/index.ts'
import type { CallGate, CallToForesee } from './context.ts'
import { ToolRefusedError } from './errors.ts'
import { refuseWithoutGone } from './refuse-without-gone.ts'
import { workflowGate, type WorkflowGateOptions } from './workflow-gate.ts'
import { type WorkflowTrust, workflowTrust } from './workflow-trust.ts'

export interface ProjectGateOptions extends Omit<WorkflowGateOptions, 'blockOf' | 'runtime'> {
  project: string
  runtime: Runtime
  workspaceTrust: Settings['workspaceTrust']
  /** What was wrong with the files of workflows. */
  diagnostics: readonly Diagnostic[]
  /** Where it was read already. */
  trust?: WorkflowTrust | undefined
}

/**
 * The gate that everything which calls a project's tools stands behind: its workflows act only as
 * far as the project is trusted, and while one of them cannot be read nothing is called, since it
 * may be the one that forbids the call.
 */
export function projectGate(options: ProjectGateOptions): CallGate {
  const { project, runtime, workspaceTrust, workflows, diagnostics } = options
  const problem = diagnostics.find(({ severity }) => severity === 'error')
  if (problem !== undefined) return closedGate(problem, project)
  const trust = options.trust ?? workflowTrust(project, runtime, workspaceTrust, workflows)
  const gate = workflowGate({ ...options, blockOf: trust.blockOf })
  const requireAccepted = (call: CallToForesee): void => {
    refuseWithoutGone(call, trust.gone(), options.index().tools.map(workflowTool))
  }
  return {
    ...gate,
    async pass(call, callStep) {
      requireAccepted(call)
      await gate.pass(call, callStep)
    },
    async foresee(call) {
      requireAccepted(call)
      return await gate.foresee?.(call)
    },
  }
}

function closedGate(problem: Diagnostic, project: string): CallGate {
  const refuse = (): Promise<never> => Promise.reject(refusal(problem, project))
  return { pass: refuse, foresee: refuse, after: () => Promise.resolve() }
}

/** A file of the tool cache that cannot be read at all is made anew by a refresh. */
function refusal({ code, path, line }: Diagnostic, project: string): ToolRefusedError {
  const at = line === undefined ? path : `${path}:${line}`
  const isUnreadable = code === 'workflows-syntax' || code.startsWith('file-')
  if (!isUnreadable || path === workflowsPath(project)) {
    return new ToolRefusedError({
      code: 'workflows-unreadable',
      message: `nothing is called, because a workflow of this project cannot be read (${at})`,
      hint: 'skillrail workflow check says what is wrong, and where.',
    })
  }
  return new ToolRefusedError({
    code: 'workflows-unreadable',
    message: `nothing is called, because the tool cache ${at} cannot be read and may hold a workflow that comes first`,
    hint: 'skillrail tools refresh moves the file aside and writes a new one; copy workflows that were in it.',
  })
}
