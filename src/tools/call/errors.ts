import { exitCode, type ExitCode } from '../../core/errors.ts'
import { ToolError } from '../errors.ts'
import type { SchemaProblem } from './schema-checker.ts'

export class ToolNotFoundError extends ToolError {
  readonly tool: string
  readonly suggestions: readonly string[]

  constructor(tool: string, message: string, suggestions: readonly string[]) {
    super({ code: 'tool-not-found', message })
    this.tool = tool
    this.suggestions = suggestions
  }

  override readonly exitCode: ExitCode = exitCode.notFound
}

export class InvalidParametersError extends ToolError {
  readonly problems: readonly SchemaProblem[]

  constructor(message: string, problems: readonly SchemaProblem[], hint?: string) {
    super({ code: 'invalid-parameters', message, hint })
    this.problems = problems
  }

  override readonly exitCode: ExitCode = exitCode.usage
}

/** The configuration, a caution or a missing yes forbids the call; nothing was called. */
export class ToolRefusedError extends ToolError {
  override readonly exitCode: ExitCode = exitCode.refused
}

export class ToolRequestError extends ToolError {
  override readonly exitCode: ExitCode = exitCode.usage
}
