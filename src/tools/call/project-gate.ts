import type { Diagnostic, Runtime, Settings } from '../../base/index.ts'
import { workflowsPath, workflowTool } from '../../workflow/index.ts'
import { fileTrust, type FileTrust } from '../config/file-trust.ts'
import type { CallGate, CallToForesee } from './context.ts'
import { ToolRefusedError } from './errors.ts'
import { type GoneWorkflows, goneWorkflows, refuseWithoutGone } from './gone-workflows.ts'
import { areAsAccepted } from './loaded-workflow.ts'
import { workflowGate, type WorkflowGateOptions } from './workflow-gate.ts'

export interface ProjectGateOptions extends Omit<WorkflowGateOptions, 'blockOf' | 'runtime'> {
  project: string
  runtime: Runtime
  workspaceTrust: Settings['workspaceTrust']
  /** What was wrong with the files of workflows. */
  diagnostics: readonly Diagnostic[]
}

/**
 * The gate that everything which calls a project's tools stands behind: its workflows act only as
 * far as the project is trusted, and while one of them cannot be read nothing is called, since it
 * may be the one that forbids the call.
 */
export function projectGate(options: ProjectGateOptions): CallGate {
  const { project, runtime, workspaceTrust, diagnostics } = options
  const problem = diagnostics.find(({ severity }) => severity === 'error')
  if (problem !== undefined) return closedGate(problem, project)
  let trust: FileTrust | undefined
  const asAccepted = new Map<string, boolean>()
  const blockOf: WorkflowGateOptions['blockOf'] = (path) => {
    const block = (trust ??= fileTrust(project, runtime, workspaceTrust)).blockOf(path)
    if (block !== undefined || workspaceTrust === 'trusted') return block
    const known = asAccepted.get(path) ?? areAsAccepted(project, runtime, path, options.workflows)
    asAccepted.set(path, known)
    return known ? undefined : notAsAccepted(path)
  }
  const gate = workflowGate({ ...options, blockOf })
  let gone: GoneWorkflows | undefined
  const requireAccepted = (call: CallToForesee): void => {
    gone ??= goneWorkflows(project, runtime, workspaceTrust, options.workflows)
    refuseWithoutGone(call, gone, options.index().tools.map(workflowTool))
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

function notAsAccepted(path: string): { message: string; hint: string } {
  return {
    message: `what was read from ${path} is not what was accepted when the workspace was trusted`,
    hint: 'Start again, so that the file is read anew. To see what it holds: skillrail trust',
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
