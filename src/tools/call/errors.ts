import { exitCode, type ExitCode } from '../../core/errors.ts'
import { ToolError } from '../errors.ts'

export class ToolNotFoundError extends ToolError {
  override readonly exitCode: ExitCode = exitCode.notFound
}

export class InvalidParametersError extends ToolError {
  override readonly exitCode: ExitCode = exitCode.usage
}

/** The configuration, a caution or a missing yes forbids the call; nothing was called. */
export class ToolRefusedError extends ToolError {
  override readonly exitCode: ExitCode = exitCode.refused
}

export class ToolRequestError extends ToolError {
  override readonly exitCode: ExitCode = exitCode.usage
}
