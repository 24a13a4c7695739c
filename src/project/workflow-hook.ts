import type { WorkflowHook } from '#hooks/workflow-hook'

/** What the hook asks about MCP calls in a project with workflows. It loads nothing before the first such call. */
export const workflowHook: WorkflowHook = {
  async answer(event) {
    const { answerClientCall } = await import('./client-calls.ts')
    return await answerClientCall(event)
  },
}
