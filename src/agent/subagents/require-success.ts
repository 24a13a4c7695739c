import { SubagentDelegationError, SubagentTimeoutError } from '../errors.ts'
import type { SubagentResult } from './result.ts'

/**
 * The result, for callers that would rather have an error than look at `success`.
 *
 * @throws {SubagentTimeoutError} when its turns or its time ran out.
 * @throws {SubagentDelegationError} when it failed or was cancelled.
 * @example
 * const { output } = requireSuccess(await agent.delegate('reviewer', 'Review src/a.ts'))
 */
export function requireSuccess(result: SubagentResult): SubagentResult {
  const { success, endReason, id, subagentName, error = '' } = result
  if (success) return result
  const ranOut = endReason === 'capped' || endReason === 'timeout'
  const facts = {
    code: `delegation-${endReason}`,
    message: `The delegation ${id} to ${subagentName} did not succeed: ${error}`,
  }
  throw ranOut ? new SubagentTimeoutError(facts) : new SubagentDelegationError(facts)
}
