import type { JsonValue } from '../skill/index.ts'
import { ownStep } from './match.ts'
import { isReferred } from './resolve-params.ts'
import { scopeValues, survives } from './scope.ts'
import type { SessionChange, SessionStore } from './session.ts'
import { callsTool } from './tool-names.ts'
import type { GatedCall, WorkflowDefinition } from './model.ts'

/**
 * What a call that was made means for prerequisites: those that its tool makes stale no longer
 * hold, whether it succeeded or not; and one that it is itself holds now, where `result` is the text
 * of its success. With its `value` steps that refer to it have one.
 */
export async function afterCall(
  call: GatedCall,
  session: SessionStore,
  workflows: readonly WorkflowDefinition[],
  result?: string,
  value?: JsonValue,
): Promise<void> {
  const changes = workflows.flatMap((workflow) => changesFor(call, workflow, result, value))
  if (changes.length > 0) await session.change(changes)
}

function changesFor(
  call: GatedCall,
  workflow: WorkflowDefinition,
  result: string | undefined,
  value: JsonValue | undefined,
): SessionChange[] {
  const { name, prerequisites, triggers } = workflow
  const stale = prerequisites.filter((step) =>
    step.invalidatedBy?.some((tool) => callsTool(call, tool, triggers.category)),
  )
  const own = workflow.enabled && result !== undefined ? ownStep(call, workflow) : undefined
  return [
    ...stale.map((step): SessionChange => ({
      kind: 'invalidate',
      workflow: name,
      tool: step.tool,
      holds: (scope) => survives(scope, step, call),
    })),
    ...(own === undefined
      ? []
      : [
          {
            kind: 'record' as const,
            workflow: name,
            tool: own.tool,
            scope: scopeValues(own, call.params, call, call.tool.server),
            result: result ?? '',
            value: isReferred(own.step, prerequisites) ? value : undefined,
          },
        ]),
  ]
}
