import { exitCode, type ExitCode, SkillrailError } from '../base/index.ts'

/** Base of the errors about subagents and delegations. */
export class SubagentError extends SkillrailError {}

/** A definition of a subagent that cannot be used; `diagnostics` lists everything that is wrong. */
export class SubagentConfigError extends SubagentError {}

/** No subagent of that name, or one that is withheld. The hint names those that there are. */
export class SubagentNotFoundError extends SubagentError {
  override get exitCode(): ExitCode {
    return this.code === 'subagent-untrusted' ? exitCode.refused : exitCode.notFound
  }
}

/** A subagent tried to delegate: subagents are one level deep, whatever way is tried. */
export class SubagentNestingError extends SubagentError {
  override get exitCode(): ExitCode {
    return exitCode.refused
  }
}

/** A delegation that cannot be started, steered or resumed as it was asked for. */
export class SubagentDelegationError extends SubagentError {}

/** The turns of a subagent ran out before it was done; thrown only where a caller asks for a throw. */
export class SubagentTimeoutError extends SubagentError {
  override get exitCode(): ExitCode {
    return exitCode.budget
  }
}
