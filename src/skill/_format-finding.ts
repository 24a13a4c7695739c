import type { Diagnostic } from '../base/index.ts'
import type { Position } from './_finding.ts'
import { type FormatRule, formatRules } from './_rules-format.ts'

/** A diagnostic about the file or its YAML, with severity and source from the table of rules. */
export function formatFinding(
  code: FormatRule,
  path: string,
  at: Position | undefined,
  message: string,
  hint?: string,
): Diagnostic {
  const { severity, source } = formatRules[code]
  return { code, severity, message, path, line: at?.line, column: at?.column, hint, source }
}
