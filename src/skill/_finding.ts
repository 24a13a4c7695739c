import type { Diagnostic } from '../base/index.ts'
import { type FieldRule, fieldRules } from './_rules-fields.ts'

/** Where something stands in the file; nodes of the tree fit. */
export interface Position {
  line: number
  column: number
}

/** A diagnostic whose severity and source come from the table of rules. */
export function finding(
  code: FieldRule,
  path: string,
  at: Position | undefined,
  message: string,
  hint?: string,
): Diagnostic {
  const { severity, source } = fieldRules[code]
  return { code, severity, message, path, line: at?.line, column: at?.column, hint, source }
}
