import type { Diagnostic } from './diagnostic.ts'

/** The exit codes of every command. `refused` takes precedence over `notFound` where both apply. */
export const exitCode = {
  done: 0,
  badAnswer: 1,
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
  readonly exitCode: ExitCode = exitCode.badAnswer

  constructor(facts: SkillrailErrorFacts) {
    super(facts.message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.name = new.target.name
    this.code = facts.code
    this.hint = facts.hint
    this.diagnostics = facts.diagnostics ?? []
  }
}

/** The command or the call was used wrongly: an unknown option, a malformed value. */
export class UsageError extends SkillrailError {
  override readonly exitCode: ExitCode = exitCode.usage
}

/** A file of ours is broken, of a newer version, or could not be read or written. */
export class StateFileError extends SkillrailError {}

/** The message of anything thrown, for building a sentence around it. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The `code` of a Node system error (`ENOENT`), or undefined. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** The error for two options of one call of which only one can be meant. */
export function contradiction(one: string, other: string, hint: string): UsageError {
  return new UsageError({
    code: 'wrong-use',
    message: `${one} and ${other} cannot be used together`,
    hint,
  })
}

/** The error for an option that says something about what nothing asks for. */
export function pointless(option: string, needed: string, hint: string): UsageError {
  return new UsageError({
    code: 'wrong-use',
    message: `${option} requires ${needed}`,
    hint,
  })
}

/**
 * Why something cannot be looked at, for a sentence of the form "PATH cannot be read: …"; undefined
 * for the error of a call that found nothing there at all.
 */
export function lookProblem(error: unknown): string | undefined {
  const code = systemCode(error)
  if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
  return systemReason(code) ?? messageOf(error)
}

/** What a code of the system means, for a user; undefined for one that is not known. */
export function systemReason(code: string | undefined): string | undefined {
  return code === undefined ? undefined : reasons[code]
}

/** Why a call to the system failed, for a sentence of the form "PATH cannot be written: …". */
export function reasonOf(error: unknown): string {
  return systemReason(systemCode(error)) ?? messageOf(error)
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission is denied',
  EPERM: 'permission is denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'your share of the disk is used up',
  ENOTDIR: 'a part of the path is a file, not a directory',
  EISDIR: 'it is a directory',
  ENOENT: 'it does not exist',
  EEXIST: 'something of that name is already there',
  EMFILE: 'too many files are open',
  EFBIG: 'the file would be larger than is allowed',
  EAGAIN: 'too many processes run',
  ENOMEM: 'there is not enough memory',
  E2BIG: 'the arguments and the environment are too long together',
  ELOOP: 'it is a link that leads back to itself',
  ENAMETOOLONG: 'its name is too long',
  EIO: 'the device reports an error',
}
