export type Severity = 'error' | 'warning' | 'info'

/**
 * One finding about a file or a setting. Readers of files return these instead of throwing.
 *
 * `code` is stable and kebab-case; `line` and `column` count from 1; `source` cites the section of
 * the specification or the platform document that the rule comes from.
 */
export interface Diagnostic {
  code: string
  severity: Severity
  message: string
  path: string
  line?: number | undefined
  column?: number | undefined
  hint?: string | undefined
  source?: string | undefined
}

export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((diagnostic) => diagnostic.severity === 'error')
}

/** Total order for output: path, line, column, code, all by code point. */
export function compareDiagnostics(a: Diagnostic, b: Diagnostic): number {
  return (
    compareText(a.path, b.path) ||
    (a.line ?? 0) - (b.line ?? 0) ||
    (a.column ?? 0) - (b.column ?? 0) ||
    compareText(a.code, b.code)
  )
}

/** Code-point order, the same on every machine and locale. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  const left = Array.from(a)
  const right = Array.from(b)
  for (let index = 0; index < left.length && index < right.length; index++) {
    const difference = (left[index]?.codePointAt(0) ?? 0) - (right[index]?.codePointAt(0) ?? 0)
    if (difference !== 0) return difference
  }
  return left.length - right.length
}
