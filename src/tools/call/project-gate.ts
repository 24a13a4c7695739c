import { type Diagnostic, hasErrors, type Runtime, type Settings } from '../../base/index.ts'
import { fileTrust, type FileTrust } from '../config/file-trust.ts'
import type { CallGate } from './context.ts'
import { ToolRefusedError } from './errors.ts'
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
  if (hasErrors(diagnostics)) return closedGate
  let trust: FileTrust | undefined
  const blockOf: WorkflowGateOptions['blockOf'] = (path) =>
    (trust ??= fileTrust(project, runtime, workspaceTrust)).blockOf(path)
  return workflowGate({ ...options, blockOf })
}

const closedGate: CallGate = {
  pass: () =>
    Promise.reject(
      new ToolRefusedError({
        code: 'workflows-unreadable',
        message: 'nothing is called, because a workflow of this project cannot be read',
        hint: 'skillrail workflow check says what is wrong, and where.',
      }),
    ),
  after: () => Promise.resolve(),
}
