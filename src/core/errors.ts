import { amount, safeLine } from './text.ts'

/** The exit codes of every command. `refused` takes precedence over `notFound` where both apply. */
export const exitCode = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  refused: 4,
  budget: 5,
  waiting: 6,
  interrupted: 130,
} as const

export type ExitCode = (typeof exitCode)[keyof typeof exitCode]

export interface SkillrailErrorFacts {
  /** Stable, kebab-case. */
  code: string
  /** A sentence: what is wrong, where, and what is allowed. */
  message: string
  /** What to do, often a command. */
  hint?: string | undefined
  diagnostics?: readonly Diagnostic[] | undefined
  cause?: unknown
}

/** Base of every error that Skillrail throws. `exitCode` is the exit code of the command line. */
export class SkillrailError extends Error {
  readonly code: string
  readonly hint: string | undefined
  readonly diagnostics: readonly Diagnostic[]
  readonly exitCode: ExitCode = exitCode.failed

  constructor(facts: SkillrailErrorFacts) {
    super(facts.message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.name = new.target.name
    this.code = facts.code
    this.hint = facts.hint
    this.diagnostics = facts.diagnostics ?? []
  }
}

export class UsageError extends SkillrailError {
  override readonly exitCode: ExitCode = exitCode.usage
}

/** A file of Skillrail is damaged, has a newer version, or could not be read or written. */
export class StateFileError extends SkillrailError {}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Returns the `code` of a Node system error (`ENOENT`), or undefined. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

export function wrongUse(message: string, hint?: string, cause?: unknown): UsageError {
  return new UsageError({ code: 'wrong-use', message, hint, cause })
}

/** Returns the error for two options that exclude each other. */
export function contradiction(one: string, other: string, hint: string): UsageError {
  return wrongUse(`${one} and ${other} cannot be used together`, hint)
}

/** Returns the error for an option that has no effect without another one. */
export function pointless(option: string, requirement: string, hint: string): UsageError {
  return wrongUse(`${option} requires ${requirement}`, hint)
}

/** Returns why a path cannot be read, as the end of a sentence; undefined if it does not exist. */
export function lookProblem(error: unknown): string | undefined {
  const code = systemCode(error)
  if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
  return systemReason(code) ?? messageOf(error)
}

/** Returns why a system call failed, as the end of "PATH cannot be written: …". */
export function reasonOf(error: unknown): string {
  return systemReason(systemCode(error)) ?? messageOf(error)
}

export function systemReason(code = ''): string | undefined {
  return systemErrors[code]?.[0]
}

export function systemHint(code: string): string | undefined {
  return systemErrors[code]?.[1]
}

const permission = [
  'permission is denied',
  'Check the permissions of the directory, or work in another one.',
] as const

const systemErrors: Readonly<Record<string, readonly [reason: string, hint?: string] | undefined>> =
  {
    EACCES: permission,
    EPERM: permission,
    EROFS: ['the file system is read-only', 'Work in a directory that can be written.'],
    ENOSPC: ['the disk is full', 'Free some space and try again.'],
    EDQUOT: ['the disk quota is exceeded', 'Free some space and try again.'],
    ENOTDIR: ['part of the path is a file, not a directory', 'Name a path below a directory.'],
    EISDIR: ['it is a directory', 'Name a file.'],
    ENOENT: ['it does not exist', 'Check the path.'],
    EEXIST: [
      'a file or directory of that name already exists',
      'Remove it, or choose another name.',
    ],
    EMFILE: ['too many files are open', 'Close some programs, or raise the limit (ulimit -n).'],
    EFBIG: ['the file would be larger than is allowed'],
    EAGAIN: ['too many processes run'],
    ENOMEM: ['there is not enough memory'],
    E2BIG: ['the arguments and the environment are too long together'],
    ELOOP: ['it is a circular link', 'Fix or remove the link.'],
    ENAMETOOLONG: ['its name is too long', 'Choose a shorter name.'],
    EIO: ['the device reports an error', 'Check the disk.'],
  }

export type Severity = 'error' | 'warning' | 'info'

/**
 * One problem or hint about a file or a setting. Readers of files return diagnostics instead of throwing.
 *
 * `code` is stable and kebab-case; `line` and `column` count from 1; `source` cites the section of
 * the specification or platform document with the rule.
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

/** Returns the exit code of a Result: `failed` if a diagnostic is an error. */
export function codeOfErrors(result: { diagnostics: readonly Diagnostic[] }): ExitCode {
  return hasErrors(result.diagnostics) ? exitCode.failed : exitCode.done
}

export function errorsIn(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return diagnostics.filter(({ severity }) => severity === 'error')
}

/** Keeps a hint that several diagnostics in a row have only at the last of them. */
export function withoutRepeatedHints(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return diagnostics.map((one, at) => {
    const isRepeated = one.hint === diagnostics[at + 1]?.hint
    return isRepeated ? { ...one, hint: undefined } : one
  })
}

/** Returns `path:line:column: severity: message [code]`, with the hint on a separate line. */
export function diagnosticText(
  diagnostic: Diagnostic,
  style: (format: 'red' | 'yellow' | 'cyan' | 'dim', text: string) => string,
): string {
  const { path, line, column, severity, message, code, hint, diff = '' } = diagnostic
  const place = [path, line, column].filter((part) => part !== undefined).join(':')
  const colour = severity === 'error' ? 'red' : severity === 'warning' ? 'yellow' : 'cyan'
  const head = `${safeLine(place)}: ${style(colour, severity)}: ${safeLine(message)}`
  const first = `${head} ${style('dim', `[${code}]`)}`
  const details = [...(hint === undefined ? [] : [hint]), ...(diff === '' ? [] : diff.split('\n'))]
  return [first, ...details.map((text) => `  ${safeLine(text)}`)].join('\n')
}

export type ValidationSummary = Record<
  'checked' | 'valid' | 'invalid' | 'errors' | 'warnings' | 'infos',
  number
>

export function summaryOf(
  verdicts: readonly { valid: boolean; diagnostics: readonly Diagnostic[] }[],
): ValidationSummary {
  const checked = verdicts.length
  const valid = verdicts.filter((verdict) => verdict.valid).length
  const allDiagnostics = verdicts.flatMap(({ diagnostics }) => diagnostics)
  const count = (level: Severity) =>
    allDiagnostics.filter(({ severity }) => severity === level).length
  const counts = { errors: count('error'), warnings: count('warning'), infos: count('info') }
  return { checked, valid, invalid: checked - valid, ...counts }
}

export function summaryLine(
  subject: string,
  { checked, invalid, errors, warnings, infos }: ValidationSummary,
  style: (format: 'green' | 'red', text: string) => string,
): string {
  const validText = style('green', checked === 1 ? 'valid' : 'all valid')
  const verdict = invalid === 0 ? validText : style('red', `${invalid} invalid`)
  const counts = [amount(errors, 'error'), amount(warnings, 'warning')]
  if (infos > 0) counts.push(amount(infos, 'info'))
  return `${subject} checked, ${verdict}: ${counts.join(', ')}`
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
    const unitA = a.charCodeAt(index)
    const unitB = b.charCodeAt(index)
    if (unitA !== unitB) return codePointRank(unitA) - codePointRank(unitB)
  }
  return a.length - b.length
}

/** Compares values by one of their texts, in the order of {@link compareText}. */
export function byText<Key extends string>(key: Key) {
  return (a: Readonly<Record<Key, string>>, b: Readonly<Record<Key, string>>): number =>
    compareText(a[key], b[key])
}

/** Surrogates encode code points above U+FFFF, so they come after U+E000 to U+FFFF. */
function codePointRank(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}
