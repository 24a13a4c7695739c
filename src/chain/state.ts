import type { ReportedError, StepStatus } from '../exec/output-protocol.ts'
import type { JsonValue } from '../skill/model.ts'

export interface PreviousOutput {
  step: string
  skill: string
  status: StepStatus
  result: string
  errors: readonly ReportedError[]
  metrics: Readonly<Record<string, JsonValue>>
  artifacts?: readonly string[] | undefined
}

/** The state that a chain passes on, in the spelling of the chaining proposal. */
export interface ChainState {
  previous_outputs: readonly PreviousOutput[]
  accumulated_errors: readonly ReportedError[]
  total_metrics: Readonly<Record<string, JsonValue>>
}

/** Whether a step or a run has ended by itself, with a status of its own. */
export function isFinal(status: string | undefined): status is StepStatus {
  return status === 'success' || status === 'failure' || status === 'critical'
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
    accumulated_errors: [...state.accumulated_errors, ...errorsOf(outputs)],
    // Most steps measure nothing, and then nothing is added up again.
    total_metrics: measured ? totalMetrics(previous) : state.total_metrics,
  }
}

/** Each error once: those of a nested chain stand with its steps too. */
export function errorsOf(outputs: readonly PreviousOutput[]): ReportedError[] {
  const leaves = leavesOf(outputs)
  const told = new Set(leaves.flatMap(({ errors }) => errors.map((error) => JSON.stringify(error))))
  return outputs.flatMap((output) =>
    leaves.includes(output)
      ? output.errors
      : output.errors.filter((error) => !told.has(JSON.stringify(error))),
  )
}

/** Those of steps that are not chains with steps of their own. */
function leavesOf<Output extends Pick<PreviousOutput, 'step'>>(outputs: readonly Output[]) {
  const above = new Set(
    outputs.flatMap(({ step }) => {
      const names = step.split('/')
      return names.slice(1).map((_name, index) => names.slice(0, index + 1).join('/'))
    }),
  )
  return outputs.filter(({ step }) => !above.has(step))
}

/** A value with each of its texts changed; keys stay. */
export function mapTexts<T>(value: T, change: (text: string) => string): T
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((item) => mapTexts<unknown>(item, change))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value)
  return Object.fromEntries(members.map(([key, item]) => [key, mapTexts<unknown>(item, change)]))
}

/**
 * Metrics of one name are added where every value is a number; otherwise the steps that reported
 * one are counted.
 */
export function totalMetrics(
  outputs: readonly Pick<PreviousOutput, 'step' | 'metrics'>[],
): Record<string, JsonValue> {
  const values = new Map<string, { count: number; sum: number | undefined }>()
  for (const { metrics } of leavesOf(outputs)) {
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
