import { describe, expect, it } from 'vitest'
import type { JsonObject, Prerequisite } from '../../src/tools/workflow/model.ts'
import { ownCompletion } from '../../src/tools/workflow/own-completions.ts'
import { type PlannedStep, scopeValues } from '../../src/tools/workflow/plan.ts'

const prerequisite: Prerequisite = {
  step: 1,
  tool: 'inspect',
  description: 'x',
  required: true,
  params: { database: '$call.database', table: '$sql.tables[]', tables: '$sql.tables' },
}

/** Whether calls of the step, with these parameters, complete it as it is planned. */
function isDone(
  calls: readonly JsonObject[],
  params: JsonObject,
  { isKnown = true, status = 'run', each, server = 's' }: Partial<Planned> = {},
): boolean {
  const planned: PlannedStep = {
    step: 1,
    tool: 'inspect',
    description: 'x',
    required: true,
    waitsFor: [],
    status,
    params,
    scope: {},
    each,
  }
  const completed = calls.map((call) => ({
    workflow: 'w',
    tool: 'inspect',
    at: '2026-01-01',
    result: '',
    scope: scopeValues(prerequisite, call, { params: call }, server),
  }))
  const state = { sessionId: 's', startedAt: '2026-01-01', completed }
  const step = { planned, prerequisite, server: 's', isKnown }
  return ownCompletion(state, { name: 'w' }, step) !== undefined
}

interface Planned extends Pick<PlannedStep, 'status' | 'each'> {
  isKnown: boolean
  server: string
}

describe('a step of a tool with known parameters', () => {
  it('is done after exactly the planned call', () => {
    const planned = { database: 'a', table: 'users' }
    expect(isDone([planned], planned)).toBe(true)
    expect(isDone([{ database: 'a' }], planned)).toBe(false)
    expect(isDone([{ database: 'b', table: 'users' }], planned)).toBe(false)
    expect(isDone([planned], planned, { server: 'other' })).toBe(false)
    expect(isDone([], planned)).toBe(false)
  })

  it('is done after a call for each value of a list', () => {
    const planned = { table: ['users', 'orders'] }
    const each = { each: 'table' }
    expect(isDone([{ table: 'users' }], planned, each)).toBe(false)
    expect(isDone([{ table: 'users' }, { table: 'orders' }], planned, each)).toBe(true)
  })
})

describe('a step of a tool whose parameters nobody knows', () => {
  const unknown = { isKnown: false }

  it.each<[string, JsonObject[], JsonObject, boolean]>([
    ['a call without parameters', [{}], { database: 'a' }, true],
    ['a call with the planned values under other names', [{ table: 'u' }], { tables: ['u'] }, true],
    ['a call with another value', [{ table: 'other' }], { tables: ['u'] }, false],
    ['a call with one of the values', [{ table: 'u' }], { tables: ['u', 'v'] }, false],
    [
      'calls with all of the values',
      [{ table: 'u' }, { table: 'v' }],
      { tables: ['u', 'v'] },
      true,
    ],
    [
      'a call that names none of the values',
      [{ database: 'a' }],
      { database: 'a', tables: ['u'] },
      true,
    ],
    ['a call of another database', [{ database: 'b' }], { database: 'a' }, false],
    ['no call', [], { database: 'a' }, false],
  ])('counts %s as it should', (_, calls, planned, expected) => {
    expect(isDone(calls, planned, unknown)).toBe(expected)
  })

  it('takes any value for a parameter that cannot be planned', () => {
    expect(isDone([{ database: 'b' }], {}, { ...unknown, status: 'waits' })).toBe(true)
    expect(isDone([{ database: 'b' }], {}, unknown)).toBe(false)
  })
})
