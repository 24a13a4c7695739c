import type { JsonObject } from '../../../src/core/json.ts'
import { expect, it } from 'vitest'
import { summarise } from '../../../src/tools/call/summarise.ts'
import { structured } from './_fake.ts'

function told(value: JsonObject): string {
  return summarise(structured(value)).lines.join('\n')
}

const long = 'x'.repeat(1500)

it.each<[string, JsonObject]>([
  ['an identity', { number: 12, title: long, labels: [] }],
  ['parts of its own', { title2: long, head: { ref: 'dev' }, labels: [] }],
  ['several lists', { text: long, labels: [], assignees: [1] }],
])('describes an object with %s as an object', (_, value) => {
  expect(told(value)).toContain(`Summary: ${Object.keys(value).length} fields: `)
  expect(told(value)).not.toContain('item')
})

it.each<[string, JsonObject]>([
  ['a count', { total_count: 2, items: [{ id: 1 }, { id: 2 }] }],
  ['a cursor', { tables: ['a', 'b'], nextCursor: 'x' }],
  ['paging', { entries: [1, 2], pageInfo: { hasNextPage: false } }],
  ['nothing', { databases: ['a', 'b'] }],
])('describes a list beside %s by its items', (_, value) => {
  expect(told(value)).toContain('Success: 2 items')
})

it.each<[string, JsonObject[], string]>([
  [
    'the first',
    [
      { slot: 4, size: 9 },
      { slot: 7, size: 8 },
    ],
    'IDs: [4, 7]',
  ],
  [
    'not one that repeats',
    [
      { kind: 'a', mark: 'x' },
      { kind: 'a', mark: 'y' },
    ],
    'IDs: [x, y]',
  ],
  ['not one that an item lacks', [{ mark: 1, name: 'p' }, { name: 'q' }], 'IDs: [p, q]'],
  [
    'not a long text',
    [
      { text: long, mark: 1 },
      { text: `${long}y`, mark: 2 },
    ],
    'mark: 1, mark: 2',
  ],
])('names items by the key that differs in all of them: %s', (_, items, ids) => {
  expect(told({ items })).toContain(ids)
})

it('names no items without a key that distinguishes them', () => {
  expect(told({ items: [{ kind: 'a' }, { kind: 'a' }] })).not.toContain('IDs')
})
