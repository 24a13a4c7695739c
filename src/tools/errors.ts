import { SkillrailError, type SkillrailErrorFacts } from '../core/errors.ts'
import type { CallFailure } from './model.ts'

export class ToolError extends SkillrailError {}

export class ToolCallError extends ToolError {
  readonly failure: CallFailure

  constructor(failure: CallFailure, facts: Partial<SkillrailErrorFacts> = {}) {
    super({ code: failure.kind, message: failure.message, ...facts })
    this.failure = failure
  }
}
