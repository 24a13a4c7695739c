import type { Diagnostic } from '../base/index.ts'
import type { WorkflowDefinition } from './model.ts'

/** A finding about one workflow, at the line where it begins. */
export function finding(
  { name, path, line }: WorkflowDefinition,
  code: string,
  severity: Diagnostic['severity'],
  message: string,
  hint?: string,
): Diagnostic {
  return { code, severity, message: `workflow '${name}': ${message}`, path, line, hint }
}
