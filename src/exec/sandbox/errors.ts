import { exitCode, type ExitCode, SkillrailError } from '../../base/index.ts'

/** A script may run only in a sandbox, and none works here. Exit code 4; `hint` says what to do. */
export class SandboxMissingError extends SkillrailError {
  override get exitCode(): ExitCode {
    return exitCode.refused
  }
}
