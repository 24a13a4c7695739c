import type { Diagnostic } from './diagnostic.ts'

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
  /** A sentence: what was wrong, where, what is allowed. */
  message: string
  /** What to do, often a command. */
  hint?: string | undefined
  diagnostics?: readonly Diagnostic[] | undefined
  cause?: unknown
}

/** Base of every error that Skillrail throws. `exitCode` is what the command line ends with. */
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

/** A file of ours is broken, of a newer version, or could not be read or written. */
export class StateFileError extends SkillrailError {}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The `code` of a Node system error (`ENOENT`), or undefined. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

export function wrongUse(message: string, hint?: string, cause?: unknown): UsageError {
  return new UsageError({ code: 'wrong-use', message, hint, cause })
}

/** The error for two options of one call of which only one can be meant. */
export function contradiction(one: string, other: string, hint: string): UsageError {
  return wrongUse(`${one} and ${other} cannot be used together`, hint)
}

/** The error for an option that says something about what nothing asks for. */
export function pointless(option: string, needed: string, hint: string): UsageError {
  return wrongUse(`${option} requires ${needed}`, hint)
}

/** Why PATH cannot be read, as the end of a sentence; undefined where nothing is there. */
export function lookProblem(error: unknown): string | undefined {
  const code = systemCode(error)
  if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
  return systemReason(code) ?? messageOf(error)
}

/** Why a call to the system failed, for a sentence of the form "PATH cannot be written: …". */
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
