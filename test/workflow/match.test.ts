import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findKeyword, matchWorkflows } from '../../src/tools/workflow/match.ts'
import {
  browserTools,
  call,
  databaseTools,
  githubTools,
  newGithubTools,
  playwrightTools,
  step,
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

it('ignores a disabled workflow', () => {
  const workflows = workflowsOf(workflow('a', { enabled: false }))
  expect(matchWorkflows(call(go), workflows, [look, go]).matched).toBeUndefined()
})

it('uses the first of several workflows, and names the others', () => {
  const workflows = workflowsOf({ ...workflow('A'), ...workflow('B'), ...workflow('C') })
  const { matched, also } = matchWorkflows(call(go), workflows, [look, go])
  expect(matched?.name).toBe('A')
  expect(also).toEqual(['B', 'C'])
})

it('prefers a workflow that is not made for tools of another category', () => {
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

it.each([
  ['a workflow that names no category', undefined, 'database'],
  ['a tool that has no category', 'graphql', undefined],
])('keeps the order of definition for %s', (_what, category, ofTool) => {
  const called = tool('s__go', { category: ofTool })
  const triggers = { tools: ['go'], ...(category === undefined ? {} : { category }) }
  const workflows = workflowsOf({
    ...workflow('first', { triggers }),
    ...workflow('second', { triggers: { tools: ['go'], category: 'database' } }),
  })
  expect(matchWorkflows(call(called), workflows, [look, called]).matched?.name).toBe('first')
})

it.each([
  ['a workflow without a category', 'graphql', undefined],
  ['a workflow of a third category', 'graphql', 'browser'],
  ['a workflow of a category that is only a label', 's', 's'],
])('enforces a workflow of another category beside %s', (_what, ofTool, category) => {
  const called = tool('s__go', { category: ofTool })
  const triggers = (name: string | undefined): object => ({
    triggers: { tools: ['go'], ...(name === undefined ? {} : { category: name }) },
  })
  const workflows = workflowsOf({
    ...workflow('suggestion', { mode: 'suggest', ...triggers(category) }),
    ...workflow('guard', triggers('database')),
  })
  const { acting } = matchWorkflows(call(called), workflows, [look, called])
  expect(acting.map((one) => one.workflow.name)).toEqual(['guard', 'suggestion'])
})

it('enforces a workflow whose category is only a label beside one of the format', () => {
  const called = tool('s__go', { category: 'graphql' })
  const triggers = (category: string): object => ({ triggers: { tools: ['go'], category } })
  const workflows = workflowsOf({
    ...workflow('suggestion', { mode: 'suggest', ...triggers('graphql') }),
    ...workflow('guard', triggers('payments')),
  })
  const { acting } = matchWorkflows(call(called), workflows, [look, called])
  expect(acting.map((one) => one.workflow.name)).toEqual(['guard', 'suggestion'])
})

it('matches every tool of a category', () => {
  const workflows = workflowsOf(workflow('a', { triggers: { category: 'database' } }))
  const drop = tool('s__drop', { category: 'database' })
  expect(matchWorkflows(call(drop), workflows, [look, drop]).why).toEqual({
    by: 'category',
    value: 'database',
  })
  const other = tool('s__drop', { category: 'browser' })
  expect(matchWorkflows(call(other), workflows, [look, other]).matched).toBeUndefined()
})

it('reports a workflow whose tools are not installed, and uses the next one', () => {
  const workflows = workflowsOf({
    ...workflow('A', { prerequisites: [step(1, 'absent')] }),
    ...workflow('B'),
  })
  const { matched, notInstalled } = matchWorkflows(call(go), workflows, [look, go])
  expect(matched?.name).toBe('B')
  expect(notInstalled).toEqual([{ workflow: 'A', missing: ['absent'] }])
})

it('applies to no call of its own prerequisites', () => {
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
    ['fill the ＦＯＲＭ', 'form'],
    ['?!', undefined],
    ['', undefined],
    [`${'x '.repeat(50_000)}form`, undefined],
  ])('in %j match %j', (text, expected) => {
    expect(findKeyword(text, ['...', 'query', 'review pr', 'form'])).toBe(expected)
  })

  it('count only for a tool of the workflow’s category', () => {
    const workflows = workflowsOf(
      workflow('a', { triggers: { category: 'database', keywords: ['select'] } }),
    )
    const tools = [look, tool('b__pick', { category: 'browser' })]
    const [, pick = look] = tools
    const matches = matchWorkflows(call(pick, {}, { request: 'select the menu' }), workflows, tools)
    expect(matches.matched).toBeUndefined()
    expect(matches.keywordOnly).toEqual([{ workflow: 'a', keyword: 'select' }])
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

  it('do not count for a tool of another category on the same server', () => {
    const workflows = workflowsOf(
      workflow('a', { triggers: { category: 'database', keywords: ['deploy'] } }),
    )
    const ship = tool('s__ship', { category: 'browser' })
    const matches = matchWorkflows(call(ship, {}, { request: 'deploy it' }), workflows, [
      look,
      ship,
    ])
    expect(matches.matched).toBeUndefined()
    expect(matches.keywordOnly).toEqual([{ workflow: 'a', keyword: 'deploy' }])
  })

  it.each([
    ['of the category of one of its tools', 'far__ship', 'browser', true],
    ['on the server of one of its tools', 'b__ship', undefined, true],
    ['on the server of its first tool', 's__ship', 'database', true],
    ['of another category on another server', 'far__ship', 'database', false],
    ['of no category on another server', 'far__ship', undefined, false],
  ])('without a category count for a tool %s', (_where, id, category, expected) => {
    const triggers = { tools: ['absent', 'pick'], keywords: ['deploy'] }
    const ship = tool(id, { category })
    const installed = [look, tool('b__pick', { category: 'browser' }), tool('c__pick'), ship]
    const matches = matchWorkflows(
      call(ship, {}, { request: 'deploy it' }),
      workflowsOf(workflow('a', { triggers })),
      installed,
    )
    expect(matches.why).toEqual(expected ? { by: 'keyword', value: 'deploy' } : undefined)
    expect(matches.keywordOnly).toHaveLength(expected ? 0 : 1)
  })

  it('do not apply to a call without a request', () => {
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
])(
  'enforces the template %s before %s if its tools are installed',
  (name, called, tools, expected) => {
    const matches = tools.find((item) => item.name === called) ?? tool(`x__${called}`)
    const { matched } = matchWorkflows(call(matches), template(name), tools)
    expect(matched !== undefined).toBe(expected)
  },
)

it('counts the readers of a pull request as prerequisites by their method', () => {
  const [read = look] = newGithubTools
  const workflows = template('github-pr')
  const matched = (method: string): string | undefined =>
    matchWorkflows(call(read, { method }), workflows, newGithubTools).matched?.name
  expect(matched('get_files')).toBeUndefined()
  expect(matched('get_comments')).toBe('github-pr-review')
})

it('depends only on its arguments, and keeps the order of definition', () => {
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

it('matches a keyword only between word boundaries', () => {
  const word = fc.stringMatching(/^[a-z]{1,8}$/)
  fc.assert(
    fc.property(word, word, word, (before, keyword, after) => {
      expect(findKeyword(`${before} ${keyword}, ${after}`, [keyword])).toBe(keyword)
      const joined = `${before}${keyword}${after}`
      expect(findKeyword(joined, [keyword])).toBe(joined === keyword ? keyword : undefined)
    }),
  )
})
