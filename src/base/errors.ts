import type { Diagnostic } from './diagnostic.ts'
import { exitCode, type ExitCode } from './exit-code.ts'

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

  constructor(facts: SkillrailErrorFacts) {
    super(facts.message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.name = new.target.name
    this.code = facts.code
    this.hint = facts.hint
    this.diagnostics = facts.diagnostics ?? []
  }

  get exitCode(): ExitCode {
    return exitCode.badAnswer
  }
}

/** The command or the call was used wrongly: an unknown option, a malformed value. */
export class UsageError extends SkillrailError {
  override get exitCode(): ExitCode {
    return exitCode.usage
  }
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
