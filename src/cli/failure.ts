import { type Diagnostic, messageOf, safeText, SkillrailError } from '../base/index.ts'
import { asFileError } from './_file-error.ts'
import { diagnosticText } from '../base/diagnostic.ts'

/** What `--json` prints instead of an answer. */
export interface FailureReport {
  error: { code: string; message: string; hint?: string | undefined }
  diagnostics?: readonly Diagnostic[] | undefined
}

export function failureReport(error: unknown): FailureReport {
  const known = asKnown(error)
  if (known === undefined) return { error: { code: 'internal', message: messageOf(error) } }
  const { code, message, hint, diagnostics } = known
  return {
    error: { code, message, hint },
    diagnostics: diagnostics.length > 0 ? diagnostics : undefined,
  }
}

/** The sentence, the diagnostics and the hint. A stack appears only for `--verbose`. */
export function failureText(error: unknown, verbose: boolean): string {
  const known = asKnown(error)
  const lines = [`skillrail: ${messageOf(known ?? error)}`]
  if (known !== undefined) {
    for (const diagnostic of known.diagnostics) {
      lines.push(`  ${diagnosticText(diagnostic, (_format, text) => text)}`)
    }
    if (known.hint !== undefined) lines.push(known.hint)
  } else {
    lines.push('This is a defect of skillrail. Run the command again with --verbose and report it.')
  }
  if (verbose && error instanceof Error && error.stack !== undefined) lines.push(error.stack)
  return `${safeText(lines.join('\n'))}\n`
}

function asKnown(error: unknown): SkillrailError | undefined {
  return error instanceof SkillrailError ? error : asFileError(error)
}
