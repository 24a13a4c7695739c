import { AgentUsageError } from '../agent-errors.ts'

/** PRD 6.3: ten and more delegations at once. */
const defaultConcurrency = 10

/**
 * How many delegations work at once.
 * @throws {AgentUsageError} for what is no whole number of at least 1: nothing would ever begin.
 */
export function requireConcurrency(given: number | undefined): number {
  if (given === undefined) return defaultConcurrency
  if (Number.isSafeInteger(given) && given >= 1) return given
  throw new AgentUsageError({
    code: 'concurrency',
    message: `concurrency is ${given}; a whole number of at least 1 is wanted.`,
    hint: 'It is how many subagents work at once; 1 lets them work one after the other.',
  })
}
