import { type Diagnostic, diagnosticText } from '../core/diagnostic.ts'
import {
  messageOf,
  SkillrailError,
  StateFileError,
  systemCode,
  systemHint,
  systemReason,
} from '../core/errors.ts'
import { safeText } from '../core/text.ts'

interface FailureReport {
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

/** An error of the file system as one of ours; undefined for anything else. */
function asFileError(error: unknown): StateFileError | undefined {
  const code = systemCode(error)
  const reason = systemReason(code)
  if (code === undefined || reason === undefined || !(error instanceof Error)) return undefined
  const hint = code === 'EACCES' && isLook(error) ? readable : systemHint(code)
  const subject = pathOf(error) ?? 'a file'
  return new StateFileError({
    code: `system-${code.toLowerCase()}`,
    message: `${subject} cannot be used: ${reason}`,
    hint,
    cause: error,
  })
}

const readable = 'Give yourself the right to read it, or work elsewhere.'

/** Whether the call only reads. */
function isLook(error: Error): boolean {
  const call = 'syscall' in error ? error.syscall : undefined
  return typeof call === 'string' && /^(?:l?stat|scandir|opendir|readlink|realpath)$/.test(call)
}

function pathOf(error: Error): string | undefined {
  const path = 'dest' in error ? error.dest : 'path' in error ? error.path : undefined
  return typeof path === 'string' ? path : undefined
}
