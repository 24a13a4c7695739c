import { SkillrailError, type SkillrailErrorFacts } from '../core/errors.ts'
import type { CallFailure } from './model.ts'

/** The base of everything that goes wrong with tools. */
export class ToolError extends SkillrailError {}

/** A call without an outcome; {@link ToolCallError.failure} says what is known of its delivery. */
export class ToolCallError extends ToolError {
  readonly failure: CallFailure

  constructor(failure: CallFailure, facts: Partial<SkillrailErrorFacts> = {}) {
    super({ code: failure.kind, message: failure.message, ...facts })
    this.failure = failure
  }
}
