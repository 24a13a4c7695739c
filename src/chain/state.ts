import type { ReportedError, StepStatus } from '../exec/output-protocol.ts'
import type { JsonValue } from '../skill/model.ts'

export interface PreviousOutput {
  step: string
  skill: string
  status: StepStatus
  result: string
  errors: readonly ReportedError[]
  metrics: Readonly<Record<string, JsonValue>>
}

/** The state that a chain passes on, in the spelling of the chaining proposal. */
export interface ChainState {
  previous_outputs: readonly PreviousOutput[]
  accumulated_errors: readonly ReportedError[]
  total_metrics: Readonly<Record<string, JsonValue>>
}

export const emptyState: ChainState = {
  previous_outputs: [],
  accumulated_errors: [],
  total_metrics: {},
}

export function addOutputs(state: ChainState, outputs: readonly PreviousOutput[]): ChainState {
  if (outputs.length === 0) return state
  const previous = [...state.previous_outputs, ...outputs]
  const measured = outputs.some(({ metrics }) => Object.keys(metrics).length > 0)
  return {
    previous_outputs: previous,
    accumulated_errors: [
      ...state.accumulated_errors,
      ...outputs.flatMap((output) => output.errors),
    ],
    // Most steps measure nothing, and then nothing is added up again.
    total_metrics: measured ? totalMetrics(previous) : state.total_metrics,
  }
}

/**
 * Metrics of one name are added where every value is a number; otherwise the steps that reported
 * one are counted.
 */
export function totalMetrics(
  outputs: readonly Pick<PreviousOutput, 'metrics'>[],
): Record<string, JsonValue> {
  const values = new Map<string, { count: number; sum: number | undefined }>()
  for (const { metrics } of outputs) {
    for (const [name, value] of Object.entries(metrics)) {
      const total = values.get(name) ?? { count: 0, sum: 0 }
      total.count++
      total.sum =
        typeof value === 'number' && total.sum !== undefined ? total.sum + value : undefined
      values.set(name, total)
    }
  }
  return Object.fromEntries(
    [...values].map(([name, total]) => [name, total.sum ?? total.count] as const),
  )
}
