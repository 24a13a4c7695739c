import { exitCode, type ExitCode, SkillrailError, type SkillrailErrorFacts } from '#core/errors'

/** Base of the errors about agents; those about subagents have a family of their own. */
export class AgentError extends SkillrailError {}

/** No model or provider of that name, or its package is not installed. */
export class ModelNotFoundError extends AgentError {
  override readonly exitCode: ExitCode = exitCode.notFound
}

/** The agent was given something that cannot be used: an empty task, a value of a wrong kind. */
export class AgentUsageError extends AgentError {
  override readonly exitCode: ExitCode = exitCode.usage
}

export function usageError(code: string, message: string, hint?: string): AgentUsageError {
  return new AgentUsageError({ code, message, hint })
}

/** A conversation that is not there, or cannot be used now. */
export class ConversationError extends AgentError {
  override readonly exitCode: ExitCode

  constructor(facts: SkillrailErrorFacts, code: ExitCode = exitCode.failed) {
    super(facts)
    this.exitCode = code
  }
}

/** Two tools would have one name for the model, or a name cannot be used at all. */
export class ToolNameError extends AgentUsageError {}

/** A prompt template has a placeholder without a value, or one that cannot be read. */
export class PromptTemplateError extends AgentUsageError {}

export class SubagentError extends SkillrailError {}

/** A definition of a subagent that cannot be used; `diagnostics` lists everything that is wrong. */
export class SubagentConfigError extends SubagentError {}

/** No subagent of that name, or one that is withheld. The hint names those that there are. */
export class SubagentNotFoundError extends SubagentError {
  override readonly exitCode: ExitCode =
    this.code === 'subagent-untrusted' ? exitCode.refused : exitCode.notFound
}

/** A subagent tried to delegate: subagents are one level deep, whatever way is tried. */
export class SubagentNestingError extends SubagentError {
  override readonly exitCode: ExitCode = exitCode.refused
}

/** A delegation that cannot be started, steered or resumed as it was asked for. */
export class SubagentDelegationError extends SubagentError {}

/** The turns of a subagent ran out before it was done; thrown only where a caller asks for a throw. */
export class SubagentTimeoutError extends SubagentError {
  override readonly exitCode: ExitCode = exitCode.budget
}
