import { exitCode, type ExitCode } from './errors.ts'
import { amount, safeLine } from './text.ts'

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
  diff?: string | undefined
}

export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return errorsIn(diagnostics).length > 0
}

/** The exit code of a Result that is bad where a diagnostic is an error. */
export function codeOfErrors(result: { diagnostics: readonly Diagnostic[] }): ExitCode {
  return hasErrors(result.diagnostics) ? exitCode.failed : exitCode.done
}

export function errorsIn(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return diagnostics.filter(({ severity }) => severity === 'error')
}

/** `path:line:column: severity: message [code]` and the hint on a line of its own. */
export function diagnosticText(
  diagnostic: Diagnostic,
  style: (format: 'red' | 'yellow' | 'cyan' | 'dim', text: string) => string,
): string {
  const { path, line, column, severity, message, code, hint, diff = '' } = diagnostic
  const place = [path, line, column].filter((part) => part !== undefined).join(':')
  const colour = severity === 'error' ? 'red' : severity === 'warning' ? 'yellow' : 'cyan'
  const head = `${safeLine(place)}: ${style(colour, severity)}: ${safeLine(message)}`
  const first = `${head} ${style('dim', `[${code}]`)}`
  const below = [...(hint === undefined ? [] : [hint]), ...(diff === '' ? [] : diff.split('\n'))]
  return [first, ...below.map((text) => `  ${safeLine(text)}`)].join('\n')
}

export type ValidationSummary = Record<
  'checked' | 'valid' | 'invalid' | 'errors' | 'warnings',
  number
>

export function summaryOf(
  verdicts: readonly { valid: boolean; diagnostics: readonly Diagnostic[] }[],
): ValidationSummary {
  const checked = verdicts.length
  const valid = verdicts.filter((verdict) => verdict.valid).length
  const found = verdicts.flatMap(({ diagnostics }) => diagnostics)
  const count = (wanted: Severity) => found.filter(({ severity }) => severity === wanted).length
  const [errors, warnings] = [count('error'), count('warning')]
  return { checked, valid, invalid: checked - valid, errors, warnings }
}

export function summaryLine(
  subject: string,
  { checked, invalid, errors, warnings }: ValidationSummary,
  style: (format: 'green' | 'red', text: string) => string,
): string {
  const good = style('green', checked === 1 ? 'valid' : 'all valid')
  const verdict = invalid === 0 ? good : style('red', `${invalid} invalid`)
  return `${subject} checked, ${verdict}: ${amount(errors, 'error')}, ${amount(warnings, 'warning')}`
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
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index++) {
    const left = a.charCodeAt(index)
    const right = b.charCodeAt(index)
    if (left !== right) return codePointRank(left) - codePointRank(right)
  }
  return a.length - b.length
}

/** Compares values by one of their texts, in the order of {@link compareText}. */
export function byText<Key extends string>(key: Key) {
  return (a: Readonly<Record<Key, string>>, b: Readonly<Record<Key, string>>): number =>
    compareText(a[key], b[key])
}

/** Surrogates stand for code points above U+FFFF, so they come after U+E000 to U+FFFF. */
function codePointRank(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}
