import type { Diagnostic } from '../../base/index.ts'
import type { JsonObject, ToolDefinition, ToolOutcome, ToolSummary } from '../model.ts'
import { attemptCall, type AttemptsResult } from './attempts.ts'
import { checkOutput } from './check-output.ts'
import { checkParameters } from './check-parameters.ts'
import type { CallAtGate, CallContext } from './context.ts'
import { definitionOf, discoverOnce, findTool } from './find-tool.ts'
import { outcomeText } from './outcome-value.ts'
import { refuseForbidden } from './permission.ts'
import { isReplaySafe } from './replay-safety.ts'
import type { CallReport } from './report.ts'
import type { ToolRequest } from './request.ts'
import { stepCaller } from './step-caller.ts'
import { suggestRecovery } from './suggest-recovery.ts'
import { suggestTools } from './suggest-tools.ts'

/**
 * Calls a tool. The only way from Skillrail to a tool of a server: resolve, refuse what is
 * forbidden, check the parameters, pass the gate of workflows, call (again where that is safe),
 * check the answer, leave a trace. An answer that is an error, or none at all, is a report with
 * `status: 'error'`.
 *
 * @throws {ToolNotFoundError}, {InvalidParametersError}, {ToolRefusedError}: nothing was called
 * @throws {WorkflowPrerequisiteError} a required step failed; the tool itself was not called
 * @throws {ToolCallError} `cancelled`
 */
export async function callTool(request: ToolRequest, context: CallContext): Promise<CallReport> {
  const summary = await findTool(request.tool, context)
  refuseForbidden(summary, context)
  const tool = await definitionOf(summary, context)
  const { params } = request
  const unchecked = await checkParameters(tool, params, context.schemas)
  const began = context.runtime.elapsed()
  const result = await attempt(tool, summary, request, context)
  const durationMs = Math.round(context.runtime.elapsed() - began)
  const diagnostics = unchecked === undefined ? [] : [schemaDiagnostic(tool, unchecked)]
  if (result.ok) diagnostics.push(...(await checkOutput(tool, result.outcome, context.schemas)))
  const report = await reportOf(tool, summary, params, result, context, durationMs, diagnostics)
  await context.log?.({
    tool: tool.id,
    durationMs,
    outcome: report.status === 'success' ? 'success' : report.failure.kind,
    size: result.outcome?.size ?? 0,
    params,
    error: report.status === 'success' ? undefined : report.failure.message,
  })
  return report
}

async function attempt(
  tool: ToolDefinition,
  summary: ToolSummary,
  { params, requestText }: ToolRequest,
  context: CallContext,
): Promise<AttemptsResult> {
  const { gate, signal, progress } = context
  const rules = context.rules(tool.server)
  let passed: CallAtGate | undefined
  const replaySafe = isReplaySafe(tool, rules.trusted, context.retry)
  const onProgress =
    progress === undefined
      ? undefined
      : (event: Parameters<typeof progress>[1]) => progress(tool.id, event)
  let answered: ToolOutcome | undefined
  try {
    const result = await attemptCall(once, {
      replaySafe,
      waitsMs: context.retry.waitsMs,
      signal,
      onRetry: (count, failure, waitMs) => {
        const after = waitMs === 0 ? 'now' : `after ${waitMs / 1000} s`
        context.note(
          `Attempt ${count} of ${tool.id} failed: ${failure.message}. Trying again ${after}.`,
        )
      },
    })
    if (result.ok) answered = result.outcome
    return result
  } finally {
    if (passed !== undefined) {
      await gate?.after(passed, answered === undefined ? undefined : outcomeText(answered))
    }
  }

  /** What a server that was started anew knew before is gone: the gate is passed for each instance. */
  async function once(): Promise<ToolOutcome> {
    const server = await context.servers.get(tool.server, { signal })
    const instance = server.instance()
    if (gate !== undefined && passed?.instance !== instance) {
      const { category } = summary
      const call = { tool, category, params, request: requestText, instance, signal }
      await gate.pass(call, stepCaller(context, callTool))
      passed = call
    }
    return await server.call(tool.name, params, {
      signal,
      timeoutMs: rules.callTimeoutMs,
      onProgress,
    })
  }
}

async function reportOf(
  tool: ToolDefinition,
  { category }: ToolSummary,
  params: JsonObject,
  result: AttemptsResult,
  context: CallContext,
  durationMs: number,
  diagnostics: readonly Diagnostic[],
): Promise<CallReport> {
  const errors = result.failures.map(({ message }, index) => `Attempt ${index + 1}: ${message}`)
  const attempts = errors.length + (result.ok ? 1 : 0)
  const facts = { tool, category, params, attempts, durationMs, diagnostics }
  if (result.ok) {
    const notes = attempts === 1 ? [] : [`A retry was needed: succeeded on attempt ${attempts}.`]
    return { ...facts, status: 'success', outcome: result.outcome, notes }
  }
  const { last, because, outcome } = result
  if (last.kind === 'tool-not-found') await discoverOnce(context)
  const suggestions = [...suggestRecovery(last.kind, last.message, category)]
  if (last.kind === 'tool-not-found') {
    const others = context.index.tools.filter(({ id }) => id !== tool.id)
    suggestions.push(`Use one of ${suggestTools(tool.id, others, context.rank).join(', ')}`)
  }
  const isUnclear = because === 'unsafe' && last.delivered === 'unknown'
  const notes = isUnclear
    ? [
        `Delivery unknown: ${tool.id} may have acted. It was not called again, because nothing says that this is safe.`,
      ]
    : []
  const report = { tool: tool.id, attempts, errors, suggestion: suggestions[0] ?? '' }
  const failure = { kind: last.kind, message: last.message, delivered: last.delivered, suggestions }
  return { ...facts, status: 'error', outcome, failure, report, notes }
}

function schemaDiagnostic(tool: ToolDefinition, message: string): Diagnostic {
  return { code: 'input-schema-unusable', severity: 'warning', message, path: tool.id }
}
