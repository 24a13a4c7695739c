import { exitCode, type ExitCode, SkillrailError } from '../base/index.ts'

/** A request of a client that cannot be carried out as it stands; nothing was done. */
export class McpRequestError extends SkillrailError {
  override get exitCode(): ExitCode {
    return exitCode.usage
  }
}
