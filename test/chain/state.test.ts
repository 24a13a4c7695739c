import type { JsonValue } from '../../src/core/json.ts'
import { expect, it } from 'vitest'
import { addOutputs, emptyState, type PreviousOutput } from '../../src/chain/step-result.ts'

const output = (step: string, metrics: Record<string, JsonValue>): PreviousOutput => ({
  step,
  skill: step,
  status: 'failure',
  result: '',
  errors: [{ code: 'reported', message: step }],
  metrics,
})

it('starts with an empty state, and keeps a state unchanged if nothing is added', () => {
  expect(emptyState).toEqual({ previous_outputs: [], accumulated_errors: [], total_metrics: {} })
  const state = addOutputs(emptyState, [output('a', { n: 1 })])
  expect(addOutputs(state, [])).toBe(state)
})

it('counts a metric with a value that is not a number, at any position', () => {
  const totals = (...values: JsonValue[]): unknown =>
    addOutputs(
      emptyState,
      values.map((n) => output('a', { n })),
    ).total_metrics['n']
  expect(totals(2, 'two', 5)).toBe(3)
  expect(totals('two', 5, 7)).toBe(3)
  expect(totals(2, 5, null)).toBe(3)
  expect(totals(0, 5, 7)).toBe(12)
  expect(totals(0, 0, 0)).toBe(0)
})

it('adds numbers of one name, counts everything else, and keeps order', () => {
  const state = addOutputs(addOutputs(emptyState, [output('a', { n: 1, kind: 'x', mixed: 2 })]), [
    output('b', { n: 2.5, kind: 'y', mixed: 'two' }),
    output('c', { list: [1, 2] }),
  ])
  expect(state.previous_outputs.map((previous) => previous.step)).toEqual(['a', 'b', 'c'])
  expect(state.accumulated_errors.map((error) => error.message)).toEqual(['a', 'b', 'c'])
  expect(state.total_metrics).toEqual({ n: 3.5, kind: 2, mixed: 2, list: 1 })
})
