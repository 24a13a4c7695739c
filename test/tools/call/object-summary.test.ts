import type { JsonObject } from '../../../src/core/json.ts'
import { expect, it } from 'vitest'
import { summarise } from '../../../src/tools/call/summarise.ts'
import { structured } from './_fake.ts'

function told(value: JsonObject): string {
  return summarise(structured(value), { name: 'get_it' }).lines.join('\n')
}

const long = 'x'.repeat(1500)

it.each<[string, JsonObject]>([
  ['an identity', { number: 12, title: long, labels: [] }],
  ['parts of its own', { title2: long, head: { ref: 'dev' }, labels: [] }],
  ['several lists', { text: long, labels: [], assignees: [1] }],
])('tells an object with %s as an object', (_, value) => {
  expect(told(value)).toContain(`Summary: ${Object.keys(value).length} fields: `)
  expect(told(value)).not.toContain('item')
})

it.each<[string, JsonObject]>([
  ['a count', { total_count: 2, items: [{ id: 1 }, { id: 2 }] }],
  ['a cursor', { tables: ['a', 'b'], nextCursor: 'x' }],
  ['paging', { entries: [1, 2], pageInfo: { hasNextPage: false } }],
  ['nothing', { databases: ['a', 'b'] }],
])('tells a list by its items where it stands beside %s', (_, value) => {
  expect(told(value)).toContain('Success: 2 items')
})
