import { expect, it } from 'vitest'
import { firstFitting, onlyFitting } from '../../../src/tools/call/fitting-candidate.ts'
import { catalogue } from '../parameters/catalogue.ts'

const definitions = Object.values(catalogue)
const world = {
  definition: (id: string) => definitions.find((tool) => tool.id === id),
  tools: definitions.map(({ id }) => id),
}

function shortlist(...tools: string[]): Parameters<typeof onlyFitting>[1] {
  const candidates = tools.map((tool, place) => ({ tool, score: 10 - place * 0.5 }))
  return { decision: 'shortlist', candidates }
}

it('takes the one candidate that has a place for what the request names', () => {
  const near = shortlist('github__list_pull_requests', 'github__get_pull_request')
  expect(onlyFitting('PR 12 in a/b', near, world)).toBe('github__get_pull_request')
  expect(firstFitting('PR 12 in a/b', near, world)).toBe('github__get_pull_request')
})

it('takes no tool because it needs nothing, where a better one only lacks words', () => {
  const near = shortlist('github__list_issues', 'browser__list_pages')
  expect(onlyFitting('list open issues', near, world)).toBeUndefined()
  expect(firstFitting('list open issues', near, world)).toBe('github__list_issues')
})

it('decides nothing for a route that was sure or had nothing', () => {
  expect(onlyFitting('PR 12', { decision: 'ask', candidates: [] }, world)).toBeUndefined()
})
