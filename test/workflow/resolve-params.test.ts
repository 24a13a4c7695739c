import type { JsonValue } from '../../src/core/json.ts'
import { describe, expect, it } from 'vitest'
import type { JsonObject, Prerequisite } from '../../src/tools/workflow/model.ts'
import { resolveParams, type ResolvedParams } from '../../src/tools/workflow/references.ts'
import { call, tool } from './helpers.ts'

const find: Prerequisite = {
  step: 1,
  tool: 'find',
  description: 'x',
  required: true,
  outputAs: 'found',
}

function resolved(
  params: JsonObject,
  called: JsonObject,
  results: ReadonlyMap<number, JsonValue> = new Map(),
): ResolvedParams {
  const step = { step: 2, tool: 'look', description: 'x', required: true, params }
  return resolveParams(step, { call: call(tool('s__go'), called), steps: [find, step], results })
}

describe('a reference to the call', () => {
  it.each<[string, JsonObject, JsonValue]>([
    ['$call', { id: 7, of: 'x' }, { id: 7, of: 'x' }],
    ['$call.id', { id: 7 }, 7],
    ['$call.id.deep[1]', { id: { deep: [1, 2] } }, 2],
    ['$call.pull_number', { pullNumber: 7 }, 7],
    ['$call.pullNumber', { pull_number: 1, pullNumber: 2 }, 2],
    ['$call.none ?? $call.id', { id: 7 }, 7],
    ['$call.none ?? all of it', { id: 7 }, 'all of it'],
    ['$sql.table', { query: 'SELECT * FROM users JOIN orders ON true' }, 'users'],
    ['$sql.tables', { sql: 'SELECT * FROM a, b, a' }, ['a', 'b']],
    ['$sql.database', { statement: 'SELECT * FROM users JOIN shop.orders ON true' }, 'shop'],
    ['$sql.table', { query: 7, sql: 'DELETE FROM logs' }, 'logs'],
  ])('%s with %j is %j', (reference, called, value) => {
    expect(resolved({ it: reference }, called)).toEqual({
      params: { it: value },
      missing: [],
      leftOut: [],
    })
  })

  it.each<[string, JsonObject]>([
    ['$call.id', {}],
    ['$call.id', { id: null }],
    ['$call.constructor', {}],
    ['$sql.table', { query: 'SELECT 1' }],
    ['$sql.table', { query: 7 }],
    ['$sql.database', { query: 'SELECT * FROM users' }],
  ])('%s with %j has no value, and no step ran for it', (reference, called) => {
    const gap = { parameter: 'it', waitsFor: [], isFromStep: false }
    expect(resolved({ it: reference }, called).missing).toEqual([{ ...gap, reference }])
    const optional = `${reference}?`
    expect(resolved({ it: optional }, called)).toEqual({
      params: {},
      missing: [],
      leftOut: [{ ...gap, reference: optional }],
    })
  })
})

describe('a reference to a step', () => {
  const answer = new Map<number, JsonValue>([[1, { id: 7, items: [] }]])

  it.each(['$found.id', '$steps.1.id', '$found.id ?? $call.id', '$found.id ?? none'])(
    '%s waits for the step, whatever path follows',
    (reference) => {
      const gap = { parameter: 'it', reference, waitsFor: [1], isFromStep: false }
      expect(resolved({ it: reference }, { id: 8 })).toEqual({
        params: {},
        missing: [gap],
        leftOut: [],
      })
    },
  )

  it.each<[string, JsonValue]>([
    ['$found.id', 7],
    ['$steps.1.id', 7],
    ['$call.id ?? $found.id', 8],
    ['$found.items[*] ?? $call.id', 8],
    ['$found.items[*] ?? none', 'none'],
  ])('%s has its value after the step ran: %j', (reference, value) => {
    expect(resolved({ it: reference }, { id: 8 }, answer).params).toEqual({ it: value })
  })

  it.each(['$found.none', '$steps.1.items[0]', '$nothing.table'])(
    '%s has no value although the step ran',
    (reference) => {
      const called = { query: 'SELECT * FROM users' }
      expect(resolved({ it: reference }, called, answer)).toEqual({
        params: {},
        missing: [{ parameter: 'it', reference, waitsFor: [], isFromStep: true }],
        leftOut: [],
      })
    },
  )
})

it('resolves references in lists and objects, and leaves out those without a value', () => {
  const written = {
    list: ['$call.id', '$call.none?', 1],
    filter: { id: '$call.id', none: '$call.none?', deep: { id: '$call.missing' } },
    flag: true,
    nothing: null,
    text: '$5.00 and $call.id',
    escaped: '$$call.id',
  }
  expect(resolved(written, { id: 7 })).toEqual({
    params: {
      list: [7, 1],
      filter: { id: 7, deep: {} },
      flag: true,
      nothing: null,
      text: '$5.00 and $call.id',
      escaped: '$call.id',
    },
    missing: [
      { parameter: 'filter.deep.id', reference: '$call.missing', waitsFor: [], isFromStep: false },
    ],
    leftOut: [
      { parameter: 'list', reference: '$call.none?', waitsFor: [], isFromStep: false },
      { parameter: 'filter.none', reference: '$call.none?', waitsFor: [], isFromStep: false },
    ],
  })
})
