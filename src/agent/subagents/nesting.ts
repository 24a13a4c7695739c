import { AsyncLocalStorage } from 'node:async_hooks'
import { SubagentNestingError } from '../errors.ts'

/**
 * Which subagent the running code belongs to. A tool of a subagent that reaches a manager by its own
 * means is found out by this, so that no way leads to a second level.
 */
const current = new AsyncLocalStorage<{ subagent: string }>()

export function inSubagent<T>(subagent: string, work: () => Promise<T>): Promise<T> {
  return current.run({ subagent }, work)
}

/** @throws {SubagentNestingError} inside a subagent, or for an agent that is one. */
export function refuseNesting(parent: { name: string; isSubagent: boolean }, wanted: string): void {
  const subagent = parent.isSubagent ? parent.name : current.getStore()?.subagent
  if (subagent === undefined) return
  throw new SubagentNestingError({
    code: 'subagent-nesting',
    message: `The subagent ${subagent} may not delegate to ${wanted}: subagents are one level deep.`,
    hint: 'Let it do the task itself, or say in its answer what should be delegated next.',
  })
}
