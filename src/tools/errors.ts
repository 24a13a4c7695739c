import { exitCode, type ExitCode, SkillrailError, type SkillrailErrorFacts } from '#core/errors'
import type { CallFailure } from './model.ts'

export interface ToolErrorFacts extends SkillrailErrorFacts {
  /** Default: the exit code of the class. */
  exitCode?: ExitCode | undefined
}

export class ToolError extends SkillrailError {
  override readonly exitCode: ExitCode

  constructor(facts: ToolErrorFacts) {
    super(facts)
    this.exitCode = facts.exitCode ?? exitCode.failed
  }
}

export class ToolCallError extends ToolError {
  readonly failure: CallFailure

  constructor(failure: CallFailure, facts: Partial<ToolErrorFacts> = {}) {
    super({ code: failure.kind, message: failure.message, ...facts })
    this.failure = failure
  }
}

export class ToolNotFoundError extends ToolError {
  override readonly exitCode: ExitCode = exitCode.notFound
}

export class InvalidParametersError extends ToolError {
  override readonly exitCode: ExitCode = exitCode.usage
}

/** The configuration, a caution or a missing approval forbids the call; nothing was called. */
export class ToolRefusedError extends ToolError {
  override readonly exitCode: ExitCode = exitCode.refused
}

export class ToolRequestError extends ToolError {
  override readonly exitCode: ExitCode = exitCode.usage
}
