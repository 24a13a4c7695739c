import { expect, it } from 'vitest'
import { parseParameters, readPairs } from '../../../src/tools/call/check-parameters.ts'
import { definitionOf } from './_fake.ts'

const tool = definitionOf({
  name: 'list_issues',
  inputSchema: {
    type: 'object',
    properties: {
      owner: { type: 'string' },
      page: { type: 'integer' },
      draft: { type: 'boolean' },
      state: { type: 'string', enum: ['open', 'closed'] },
      labels: { type: 'array', items: { type: 'string' } },
      numbers: { type: 'array', items: { type: 'number' } },
      filter: { type: 'object' },
    },
  },
})

it.each<[string[], object]>([
  [['owner=octo'], { owner: 'octo' }],
  [['owner=7'], { owner: '7' }],
  [['owner='], { owner: '' }],
  [['owner=a=b'], { owner: 'a=b' }],
  [['page=2', 'draft=true'], { page: 2, draft: true }],
  [['page=two'], { page: 'two' }],
  [['state=OPEN'], { state: 'open' }],
  [['labels=bug', 'labels=help wanted'], { labels: ['bug', 'help wanted'] }],
  [['labels=bug,later'], { labels: ['bug', 'later'] }],
  [['numbers=[1, 2]'], { numbers: [1, 2] }],
  [['filter={"a": [1]}'], { filter: { a: [1] } }],
  [['unknown=5'], { unknown: '5' }],
])('reads %o as %o', (pairs, params) => {
  expect(readPairs(pairs, tool)).toEqual(params)
})

it.each([['plain'], ['=x'], ['']])('refuses %j as a pair', (pair) => {
  expect(() => readPairs([pair], tool)).toThrow('is not name=value')
})

it.each([['[1]'], ['1'], ['null'], ['{'], ['']])(
  'refuses %j as an object of parameters',
  (json) => {
    expect(() => parseParameters(json)).toThrow('the parameters')
  },
)
