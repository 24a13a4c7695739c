import type { JsonObject, ToolDefinition } from '../model.ts'
import { judgeParameters } from '../parameters/judge-parameters.ts'
import type { CallContext } from './context.ts'
import type { Proposal } from './decide-request.ts'

export interface ToolModel {
  name: string
  /** One call; undefined where the model chose none. Rejects where it cannot be asked. */
  choose(
    request: string,
    tools: readonly ToolDefinition[],
    signal: AbortSignal,
  ): Promise<{ tool: string; params: JsonObject } | undefined>
}

/** The call that a model chooses, judged by what the request says. Undefined where it chose none. */
export async function proposeByModel(
  request: string,
  candidates: readonly string[],
  {
    context: { index, signal },
    examples,
    model,
  }: {
    context: Pick<CallContext, 'index' | 'signal'>
    examples?: ((tool: string) => readonly string[]) | undefined
    model: ToolModel
  },
): Promise<Proposal | undefined> {
  const tools = candidates.flatMap((id) => index.definition(id) ?? [])
  const choice = await model.choose(request, tools, signal)
  const tool = tools.find(({ id }) => id === choice?.tool)
  if (choice === undefined || tool === undefined) return undefined
  const judged = judgeParameters(request, tool, choice.params, examples?.(tool.id))
  const step = { name: tool.name, tool: tool.id, ...judged, bindings: [], after: [] }
  const { missing, unplaced } = judged
  const steps = [{ ...step, reason: 'asked for' }]
  return { tool: tool.id, steps, missing, unplaced, parts: 1 }
}
