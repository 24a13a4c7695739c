import type { ScopeValues, SessionState } from '../workflow/index.ts'

/** A prerequisite that a session has done, as `session show --json` has it. */
export interface ListedCompletion {
  workflow: string
  tool: string
  scope: ScopeValues
  at: string
  result: string
}

export function completions(state: SessionState): ListedCompletion[] {
  return Array.from(state.completed, ([workflow, tools]) =>
    Array.from(tools, ([tool, list]) => list.map((item) => ({ workflow, tool, ...item }))),
  ).flat(2)
}
