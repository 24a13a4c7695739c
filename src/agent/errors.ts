import { exitCode, type ExitCode, SkillrailError, type SkillrailErrorFacts } from '#core/errors'

/** Base of the errors about agents. {@link SubagentError} is the base of those about subagents. */
export class AgentError extends SkillrailError {}

/** No model or provider of that name, or its package is not installed. */
export class ModelNotFoundError extends AgentError {
  override readonly exitCode: ExitCode = exitCode.notFound
}

/** Wrong use of an agent: an empty task, a value of a wrong kind. */
export class AgentUsageError extends AgentError {
  override readonly exitCode: ExitCode = exitCode.usage
}

export function usageError(code: string, message: string, hint?: string): AgentUsageError {
  return new AgentUsageError({ code, message, hint })
}

/** A conversation that does not exist, or cannot be used now. */
export class ConversationError extends AgentError {
  override readonly exitCode: ExitCode

  constructor(facts: SkillrailErrorFacts, code: ExitCode = exitCode.failed) {
    super(facts)
    this.exitCode = code
  }
}

/** Two tools would have the same name for the model, or a name is invalid. */
export class ToolNameError extends AgentUsageError {}

/** A prompt template has a placeholder without a value, or an invalid one. */
export class PromptTemplateError extends AgentUsageError {}

export class SubagentError extends SkillrailError {}

/** An invalid definition of a subagent; `diagnostics` lists all problems. */
export class SubagentConfigError extends SubagentError {}

/** A subagent that does not exist or is withheld. The hint lists the available ones. */
export class SubagentNotFoundError extends SubagentError {
  override readonly exitCode: ExitCode =
    this.code === 'subagent-untrusted' ? exitCode.refused : exitCode.notFound
}

/** A subagent tried to delegate: subagents are one level deep. */
export class SubagentNestingError extends SubagentError {
  override readonly exitCode: ExitCode = exitCode.refused
}

/** A delegation that cannot be started, steered or resumed. */
export class SubagentDelegationError extends SubagentError {}

/** A delegation that reached its maximum of turns or its time limit; `requireSuccess` throws it. */
export class SubagentTimeoutError extends SubagentError {
  override readonly exitCode: ExitCode = exitCode.budget
}
