import { type Diagnostic, messageOf, safeText, SkillrailError } from '../base/index.ts'
import { diagnosticText } from './output.ts'

/** What `--json` prints instead of an answer. */
export interface FailureReport {
  error: { code: string; message: string; hint?: string | undefined }
  diagnostics?: readonly Diagnostic[] | undefined
}

export function failureReport(error: unknown): FailureReport {
  if (!(error instanceof SkillrailError)) {
    return { error: { code: 'internal', message: messageOf(error) } }
  }
  const { code, message, hint, diagnostics } = error
  return {
    error: { code, message, hint },
    diagnostics: diagnostics.length > 0 ? diagnostics : undefined,
  }
}

/** The sentence, the diagnostics and the hint. A stack appears only for `--verbose`. */
export function failureText(error: unknown, verbose: boolean): string {
  const known = error instanceof SkillrailError
  const lines = [`skillrail: ${messageOf(error)}`]
  if (known) {
    for (const diagnostic of error.diagnostics) {
      lines.push(`  ${diagnosticText(diagnostic, (_format, text) => text)}`)
    }
    if (error.hint !== undefined) lines.push(error.hint)
  } else {
    lines.push('This is a defect of skillrail. Run the command again with --verbose and report it.')
  }
  if (verbose && error instanceof Error && error.stack !== undefined) lines.push(error.stack)
  return `${safeText(lines.join('\n'))}\n`
}
