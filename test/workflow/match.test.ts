import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matchWorkflows } from '../../src/workflow/index.ts'
import { findKeyword } from '../../src/workflow/keywords.ts'
import {
  browserTools,
  call,
  databaseTools,
  githubTools,
  newGithubTools,
  playwrightTools,
  template,
  tool,
  workflow,
  workflowsOf,
} from './helpers.ts'

const look = tool('s__look')
const go = tool('s__go')

it.each([
  ['its name', go],
  ['the last segment of its name', tool('MetaMCP__chrome__go')],
  ['another spelling', tool('s__GO')],
])('matches a tool by %s', (_, called) => {
  const { matched, why } = matchWorkflows(call(called), workflowsOf(workflow('a')), [look, called])
  expect(matched?.name).toBe('a')
  expect(why).toEqual({ by: 'tool', value: 'go' })
})

it('does not match a tool whose name only contains the word', () => {
  const { matched } = matchWorkflows(call(tool('s__go_on')), workflowsOf(workflow('a')), [look])
  expect(matched).toBeUndefined()
})

it('ignores a workflow that is disabled', () => {
  const workflows = workflowsOf(workflow('a', { enabled: false }))
  expect(matchWorkflows(call(go), workflows, [look, go]).matched).toBeUndefined()
})

it('uses the first of several, and names the others', () => {
  const workflows = workflowsOf({ ...workflow('A'), ...workflow('B'), ...workflow('C') })
  const { matched, also } = matchWorkflows(call(go), workflows, [look, go])
  expect(matched?.name).toBe('A')
  expect(also).toEqual(['B', 'C'])
})

it('prefers one that is not made for tools of another category', () => {
  const called = tool('s__go', { category: 'database' })
  const triggers = (category: string): object => ({ triggers: { category, tools: ['go'] } })
  const workflows = workflowsOf({
    ...workflow('graphql', triggers('graphql')),
    ...workflow('database', triggers('database')),
  })
  const { matched, also } = matchWorkflows(call(called), workflows, [look, called])
  expect(matched?.name).toBe('database')
  expect(also).toEqual(['graphql'])
})

it('reports a workflow whose tools are not installed, and uses the next one', () => {
  const workflows = workflowsOf({
    ...workflow('A', { prerequisites: [{ step: 1, tool: 'absent', description: 'x' }] }),
    ...workflow('B'),
  })
  const { matched, notInstalled } = matchWorkflows(call(go), workflows, [look, go])
  expect(matched?.name).toBe('B')
  expect(notInstalled).toEqual([{ workflow: 'A', missing: ['absent'] }])
})

it('stands before no call of its own prerequisites', () => {
  const workflows = template('database')
  const [list] = databaseTools
  expect(list?.name).toBe('list_databases')
  if (list === undefined) return
  expect(matchWorkflows(call(list), workflows, databaseTools).matched).toBeUndefined()
})

describe('keywords', () => {
  it.each([
    ['query the users table', 'query'],
    ['Query, please', 'query'],
    ['jquery plugins', undefined],
    ['information', undefined],
    ['please review  PR 12', 'review pr'],
    ['reviewed pr', undefined],
    ['fill the FORM.', 'form'],
  ])('in %j finds %j', (text, expected) => {
    expect(findKeyword(text, ['query', 'review pr', 'form'])).toBe(expected)
  })

  it('count only for a tool of the workflow’s category', () => {
    const workflows = workflowsOf(
      workflow('a', { triggers: { category: 'database', keywords: ['select'] } }),
    )
    const tools = [look, tool('b__pick', { category: 'browser' })]
    const [, pick = look] = tools
    const found = matchWorkflows(call(pick, {}, { request: 'select the menu' }), workflows, tools)
    expect(found.matched).toBeUndefined()
    expect(found.keywordOnly).toEqual([{ workflow: 'a', keyword: 'select' }])
  })

  it('without a category count for the category and the server of the workflow’s tools', () => {
    const workflows = workflowsOf(workflow('a', { triggers: { keywords: ['deploy'] } }))
    const request = 'deploy it'
    const same = tool('s__ship')
    const other = tool('o__ship')
    const installed = [look, same, other]
    expect(matchWorkflows(call(same, {}, { request }), workflows, installed).why).toEqual({
      by: 'keyword',
      value: 'deploy',
    })
    expect(matchWorkflows(call(other, {}, { request }), workflows, installed).matched).toBe(
      undefined,
    )
  })

  it('are not seen by a bare call', () => {
    const workflows = workflowsOf(workflow('a', { triggers: { keywords: ['ship'] } }))
    const ship = tool('s__ship')
    expect(matchWorkflows(call(ship), workflows, [look, ship]).matched).toBeUndefined()
  })
})

it.each([
  ['database', 'execute_query', databaseTools, true],
  ['database', 'analyze_query', databaseTools, true],
  ['database', 'execute_query', [], false],
  ['browser', 'click', browserTools, true],
  ['browser', 'browser_click', playwrightTools, true],
  ['github-pr', 'merge_pull_request', githubTools, true],
  ['github-pr', 'merge_pull_request', newGithubTools, true],
  ['github-pr', 'pull_request_review_write', newGithubTools, true],
])('the template %s before %s is enforced where its tools are', (name, called, tools, expected) => {
  const found = tools.find((item) => item.name === called) ?? tool(`x__${called}`)
  const { matched } = matchWorkflows(call(found), template(name), tools)
  expect(matched !== undefined).toBe(expected)
})

it('counts the readers of a pull request as prerequisites by their method', () => {
  const [read = look] = newGithubTools
  const workflows = template('github-pr')
  const matched = (method: string): string | undefined =>
    matchWorkflows(call(read, { method }), workflows, newGithubTools).matched?.name
  expect(matched('get_files')).toBeUndefined()
  expect(matched('get_comments')).toBe('github-pr-review')
})

it('never depends on more than its arguments, and keeps the order of definition', () => {
  const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { minLength: 1 })
  fc.assert(
    fc.property(names, fc.boolean(), fc.string(), (defined, enabled, request) => {
      const workflows = workflowsOf(
        Object.assign({}, ...defined.map((name) => workflow(name, { enabled }))),
      )
      const first = matchWorkflows(call(go, {}, { request }), workflows, [look, go])
      expect(matchWorkflows(call(go, {}, { request }), workflows, [look, go])).toEqual(first)
      const used = first.matched === undefined ? [] : [first.matched.name, ...first.also]
      expect(used).toEqual(enabled ? defined : [])
    }),
  )
})

it('finds a keyword only at the borders of words', () => {
  const word = fc.stringMatching(/^[a-z]{1,8}$/)
  fc.assert(
    fc.property(word, word, word, (before, keyword, after) => {
      expect(findKeyword(`${before} ${keyword}, ${after}`, [keyword])).toBe(keyword)
      const joined = `${before}${keyword}${after}`
      expect(findKeyword(joined, [keyword])).toBe(joined === keyword ? keyword : undefined)
    }),
  )
})
