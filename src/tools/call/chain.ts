import type { JsonValue } from '../../skill/index.ts'
import { type BatchResult, resolveAll, runStep, type StepOptions } from './batch.ts'
import type { CallContext } from './context.ts'
import type { ToolStep } from './directive-text.ts'
import { ToolRequestError } from './errors.ts'
import { bindParameters } from './references.ts'

export const longestChain = 5

/** The seed's shape; `failed` only where a step failed, `cancelled` where a cancellation stopped one. */
export interface ChainResult {
  completed: { tool: string; result: JsonValue; note?: string }[]
  failed?: { tool: string; error: string; hint?: string; note?: string }
  cancelled?: { tool: string; error: string; note?: string }
  skipped: string[]
}

/**
 * Calls up to five tools, each with the answers of those before it, until one fails or is cancelled.
 *
 * @throws {ToolRequestError}, {ToolNotFoundError} for a chain that is too long, empty, or names an
 * unknown tool: it is rejected whole
 */
export async function runToolChain(
  steps: readonly ToolStep[],
  context: CallContext,
  options: StepOptions = {},
): Promise<ChainResult> {
  await checkChain(steps, context)
  const declared = new Set(steps.flatMap(({ outputAs }) => outputAs ?? []))
  const variables = new Map<string, JsonValue>()
  const chain: ChainResult = { completed: [], skipped: [] }
  for (const [index, step] of steps.entries()) {
    const { tool, outputAs } = step
    if (!context.signal.aborted) options.onStep?.({ index, tool })
    const bound = bindParameters(step.params, variables, declared)
    const { result, report } = bound.ok
      ? await runStep({ ...step, params: bound.value }, context, options)
      : { result: unbound(tool, bound.message), report: undefined }
    options.onStep?.({ index, tool, result, report })
    const note = result.note === undefined ? {} : { note: result.note }
    if (result.status !== 'success') {
      const hint = result.hint === undefined ? {} : { hint: result.hint }
      const ended = { tool, error: result.error, ...hint, ...note }
      if (result.status === 'error') chain.failed = ended
      else chain.cancelled = ended
      chain.skipped = steps.slice(index + 1).map((later) => later.tool)
      return chain
    }
    if (outputAs !== undefined) variables.set(outputAs, result.result)
    chain.completed.push({ tool, result: result.result, ...note })
  }
  return chain
}

/** @throws {ToolRequestError}, {ToolNotFoundError} */
export async function checkChain(
  steps: readonly ToolStep[],
  context: CallContext,
): Promise<string[]> {
  if (steps.length > longestChain) {
    const message = `Chain length exceeds limit of ${longestChain} tools`
    throw new ToolRequestError({ code: 'chain-too-long', message })
  }
  return await resolveAll(steps, context, 'chain')
}

function unbound(tool: string, message: string): BatchResult {
  return { tool, status: 'error', error: message }
}
