import { describe, expect, it } from 'vitest'
import type { JsonObject, Prerequisite } from '../../src/tools/workflow/model.ts'
import { scopeValues, survives } from '../../src/tools/workflow/plan.ts'
import { call, tool } from './helpers.ts'

function step(more: Partial<Prerequisite> = {}): Prerequisite {
  return { step: 1, tool: 'look', description: 'x', required: true, ...more }
}

describe('a prerequisite counts as the same check', () => {
  it.each<[string, Partial<Prerequisite>, JsonObject, JsonObject, JsonObject]>([
    ['on one server, without parameters', {}, {}, { database: 'a' }, { server: 's' }],
    [
      'with the same parameters',
      { params: { id: '$call.id', of: 1 } },
      { id: 7, of: 1 },
      {},
      { server: 's', id: 7, of: 1 },
    ],
    [
      'with the same values of its scope alone',
      { params: { id: 7 }, scope: ['database'] },
      { id: 7, database: 'a' },
      {},
      { server: 's', database: 'a' },
    ],
    [
      'for the database of the call, where it takes none itself',
      { scope: ['database'] },
      {},
      { database: 'a' },
      { server: 's', database: 'a' },
    ],
    [
      'for its own value before that of the call',
      { scope: ['database'] },
      { database: 'a' },
      { database: 'b' },
      { server: 's', database: 'a' },
    ],
    ['in the life of its server', { scope: ['instance'] }, {}, {}, { server: 's', instance: 'i' }],
    [
      'in the life of its server, where calls can make it stale',
      { params: { page: 1 }, invalidatedBy: ['go'] },
      { page: 1 },
      {},
      { server: 's', page: 1, instance: 'i' },
    ],
    [
      'whatever the instance is called in parameters',
      { scope: ['instance'] },
      { instance: 'spoofed' },
      { instance: 'spoofed' },
      { server: 's', instance: 'i' },
    ],
    ['for nothing, where nobody names it', { scope: ['database'] }, {}, {}, { server: 's' }],
  ])('%s', (_what, more, params, called, expected) => {
    const made = { params: called, instance: 'i' }
    expect(scopeValues(step(more), params, made, 's')).toEqual(expected)
  })

  it.each([
    ['page', 'pageId'],
    ['page', 'tabId'],
    ['page', 'page_index'],
    ['table', 'table_name'],
    ['database', 'database_name'],
    ['database', 'db'],
    ['database', 'DataBase'],
  ])('for a %s that its server calls %s', (key, parameter) => {
    const values = scopeValues(step({ scope: [key] }), { [parameter]: 'x' }, { params: {} }, 's')
    expect(values).toEqual({ server: 's', [key]: 'x' })
  })

  it('for no property that every object has', () => {
    const values = scopeValues(step({ scope: ['constructor'] }), {}, { params: {} }, 's')
    expect(values).toEqual({ server: 's' })
  })
})

describe('a call that makes a prerequisite stale', () => {
  const look = step({ scope: ['page', 'instance'], invalidatedBy: ['go'] })
  const held = { server: 's', page: 1, instance: 'i' }

  it.each<[string, JsonObject, string, JsonObject, boolean]>([
    ['on the same page', held, 's', { pageId: 1 }, false],
    ['on the same page, written as text', held, 's', { pageId: '1' }, false],
    ['on another page', held, 's', { pageId: 2 }, true],
    ['without a page', held, 's', {}, false],
    ['on another server', held, 'other', { pageId: 1 }, true],
    ['by a tool of the agent itself', held, '', { pageId: 1 }, false],
    ['by a tool of the agent itself, on another page', held, '', { pageId: 2 }, true],
    ['on any server, where none is known', { page: 1 }, 'other', { pageId: 1 }, false],
    ['on a page, where it was for no page', { server: 's' }, 's', { pageId: 2 }, false],
    ['on a server that was started anew', held, 's', { pageId: 1, instance: 'another' }, false],
    ['on another page, as an object', { ...held, page: { a: 1 } }, 's', { pageId: { a: 2 } }, true],
    ['on the same list of pages', { ...held, page: [1, 2] }, 's', { pageId: [1, 2] }, false],
    ['on another list of pages', { ...held, page: [1, 2] }, 's', { pageId: [1, 3] }, true],
  ])('%s: survives %j when %s is called with %j: %s', (_what, completion, server, params, is) => {
    expect(survives(completion, look, call(tool(`${server}__go`), params))).toBe(is)
  })

  it('compares no value with a property that every object has', () => {
    const odd = step({ scope: ['constructor'] })
    expect(survives({ server: 's' }, odd, call(tool('s__go'), { constructor: 'x' }))).toBe(false)
  })

  it('keeps a completion that differs in any value of its scope', () => {
    const both = step({ scope: ['database', 'table'] })
    const completion = { server: 's', database: 'a', table: 't' }
    const dropped = (params: JsonObject): boolean =>
      !survives(completion, both, call(tool('s__go'), params))
    expect(dropped({ database: 'a', table: 't' })).toBe(true)
    expect(dropped({ database: 'a', table: 'u' })).toBe(false)
    expect(dropped({ database: 'b', table: 't' })).toBe(false)
    expect(dropped({ database: 'a' })).toBe(true)
  })
})
