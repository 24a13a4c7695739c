import type { JsonValue } from '../../src/core/json.ts'
import { describe, expect, it } from 'vitest'
import {
  findCompletion,
  keepCompletions,
  scopeKey,
  type SessionState,
  shorten,
  withCompletion,
} from '../../src/tools/workflow/session-file.ts'
import type { ScopeValues } from '../../src/tools/workflow/model.ts'

const fresh: SessionState = { sessionId: 'a', startedAt: '2026-02-04', completed: [] }

function having(
  state: SessionState,
  scope: ScopeValues,
  more: { tool?: string; result?: string; value?: JsonValue; at?: string } = {},
): SessionState {
  const { tool = 't', result = '', value, at = 'now' } = more
  return withCompletion(state, { workflow: 'w', tool, scope, result, value }, at)
}

function holds(state: SessionState, scope: ScopeValues, tool = 't'): boolean {
  return findCompletion(state, 'w', tool, scope) !== undefined
}

describe('a completed prerequisite', () => {
  it.each<[string, ScopeValues, ScopeValues, boolean]>([
    ['its own scope', { server: 's', page: 1 }, { page: 1, server: 's' }, true],
    ['another page', { server: 's', page: 1 }, { server: 's', page: 2 }, false],
    ['a page that is text', { server: 's', page: 1 }, { server: 's', page: '1' }, false],
    ['another server', { server: 's' }, { server: 'other' }, false],
    ['less', { server: 's', page: 1 }, { server: 's' }, false],
    ['more', { server: 's' }, { server: 's', page: 1 }, false],
    ['any server, where none was written', {}, { server: 's' }, true],
    ['no page, where no scope was written', {}, { server: 's', page: 1 }, false],
  ])('counts for %s: %j and %j are %s', (_what, made, asked, expected) => {
    expect(holds(having(fresh, made), asked)).toBe(expected)
  })

  it('counts only for its workflow and its tool', () => {
    const state = having(fresh, {})
    expect(findCompletion(state, 'other', 't', {})).toBeUndefined()
    expect(findCompletion(state, 'w', 'other', {})).toBeUndefined()
    expect(findCompletion(fresh, 'w', 't', {})).toBeUndefined()
  })

  it('replaces the previous one of its scope, and keeps those of other scopes', () => {
    const first = having(fresh, { page: 1 }, { at: 'early', result: 'one' })
    const state = having(having(first, { page: 2 }), { page: 1 }, { at: 'late', result: 'two' })
    expect(findCompletion(state, 'w', 't', { page: 1 })).toMatchObject({
      at: 'late',
      result: 'two',
      scope: { page: 1 },
    })
    expect(state.completed).toHaveLength(2)
    expect(holds(state, { page: 2 })).toBe(true)
    expect(first.completed).toHaveLength(1)
  })

  it('stores its result for later steps, unless the result is large', () => {
    const kept = (value: JsonValue): JsonValue | undefined =>
      findCompletion(having(fresh, {}, { value }), 'w', 't', {})?.value
    expect(kept({ items: [7] })).toEqual({ items: [7] })
    expect(kept(null)).toBeNull()
    expect(kept('x'.repeat(1998))).toHaveLength(1998)
    expect(kept('x'.repeat(1999))).toBeUndefined()
  })
})

describe('the removal of completions', () => {
  const state = having(having(having(fresh, { page: 1 }), { page: 2 }), {}, { tool: 'other' })

  it('removes only stale completions, and none of other tools', () => {
    const after = keepCompletions(state, ({ tool, scope }) => tool !== 't' || scope['page'] === 2)
    expect([holds(after, { page: 1 }), holds(after, { page: 2 })]).toEqual([false, true])
    expect(holds(after, {}, 'other')).toBe(true)
    expect(holds(state, { page: 1 })).toBe(true)
  })

  it('removes none if all still count', () => {
    expect(keepCompletions(state, () => true)).toBe(state)
  })
})

it.each([
  ['  padded\t\n', 'padded'],
  ['many \n\n  blanks', 'many blanks'],
  ['x'.repeat(201), `${'x'.repeat(199)}…`],
  [`x${' '.repeat(900)}y`, 'x…'],
  [`x${' '.repeat(798)}y`, 'x y'],
  ['x'.repeat(5000), `${'x'.repeat(199)}…`],
])('shortens a stored result (%#)', (text, expected) => {
  expect(shorten(text)).toBe(expected)
})

it.each<[ScopeValues, ScopeValues, boolean]>([
  [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
  [{ a: { x: 1, y: [1, { p: 1, q: 2 }] } }, { a: { y: [1, { q: 2, p: 1 }], x: 1 } }, true],
  [{ a: [1, 2] }, { a: [2, 1] }, false],
  [{ a: [1, 2] }, { a: [12] }, false],
  [{ a: 1 }, { a: '1' }, false],
  [{ a: null }, {}, false],
  [{ a: 'b' }, { 'a":"b': 'c' }, false],
  [{ a: 1, b: 2 }, { a: 1 }, false],
])('compares the scopes %j and %j as the same: %s', (one, other, expected) => {
  expect(scopeKey(one) === scopeKey(other)).toBe(expected)
})
