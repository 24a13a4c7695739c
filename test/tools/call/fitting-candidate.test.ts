import { expect, it } from 'vitest'
import { firstFitting, onlyFitting, prepareFits } from '../../../src/tools/call/decide-request.ts'
import { catalogue } from '../parameters/catalogue.ts'

const definitions = Object.values(catalogue)
const world = {
  definition: (id: string) => definitions.find((tool) => tool.id === id),
  tools: definitions.map(({ id }) => id),
}
const shortlist = { decision: 'shortlist' } as const

function fits(request: string, ...tools: string[]): ReturnType<typeof prepareFits> {
  const candidates = tools.map((tool, place) => ({ tool, score: 10 - place * 0.5 }))
  return prepareFits(request, { candidates }, world)
}

it('takes the one candidate that has a place for what the request names', () => {
  const near = fits('PR 12 in a/b', 'github__list_pull_requests', 'github__get_pull_request')
  expect(onlyFitting(shortlist, near)).toBe('github__get_pull_request')
  expect(firstFitting(shortlist, near)).toBe('github__get_pull_request')
})

it('takes no tool because it needs nothing, where a better one only lacks words', () => {
  const near = fits('list open issues', 'github__list_issues', 'browser__list_pages')
  expect(onlyFitting(shortlist, near)).toBeUndefined()
  expect(firstFitting(shortlist, near)).toBe('github__list_issues')
})

it('decides nothing for a route that was sure or had nothing', () => {
  expect(onlyFitting({ decision: 'ask' }, fits('PR 12'))).toBeUndefined()
  expect(
    onlyFitting({ decision: 'answer' }, fits('PR 12 in a/b', 'github__get_pull_request')),
  ).toBe(undefined)
})
