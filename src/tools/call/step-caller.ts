import { SkillrailError } from '../../base/index.ts'
import type { CallContext, StepCaller } from './context.ts'
import { outcomeText, outcomeValue } from './outcome-value.ts'
import type { CallReport } from './report.ts'
import type { ToolRequest } from './request.ts'

/** Calls prerequisites on the same path as every call, but for the gate. */
export function stepCaller(
  context: CallContext,
  call: (request: ToolRequest, context: CallContext) => Promise<CallReport>,
): StepCaller {
  return async (tool, params, signal = context.signal) => {
    const inner: CallContext = { ...context, gate: undefined, signal }
    try {
      const report = await call({ tool, params }, inner)
      if (report.status === 'success') {
        return { ok: true, text: outcomeText(report.outcome), value: outcomeValue(report.outcome) }
      }
      return { ok: false, error: report.failure.message, suggestion: report.report.suggestion }
    } catch (error) {
      if (signal.aborted || !(error instanceof SkillrailError)) throw error
      return { ok: false, error: error.message, suggestion: error.hint }
    }
  }
}
