import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/core/json.ts'
import { indexDefinitions } from '../../../src/tools/cache/tool-index.ts'
import { prepareRouter } from '../../../src/tools/route/router.ts'
import type { ToolSummary } from '../../../src/tools/model.ts'
import { tools } from './_tools.ts'

const router = prepareRouter(tools)

describe('the tool that a request means', () => {
  it.each([
    ['take a screenshot', 'browser', 'devtools__take_screenshot'],
    ['list pull requests', 'github', 'github__list_pull_requests'],
    ['list graphql queries', 'graphql', 'graph__filter_queries'],
    ['find docs for lodash', 'docs', 'library__'],
    ['recall past decisions', 'memory', 'brain__memory_search'],
    ['what calls this function', 'memory', 'brain__code_context'],
    ['search past sessions', 'memory', 'brain__memory_search'],
    ['show PR 123 in octo/hello', 'github', 'github__get_pull_request'],
    ['issues labeled bug', 'github', 'github__list_issues'],
    ['show last xhr', 'browser', 'devtools__list_network_requests'],
    ['console errors', 'browser', 'devtools__list_console_messages'],
    ['go to https://example.com', 'browser', 'devtools__navigate_page'],
    ['type User details', 'graphql', 'graph__get_type_details'],
    ['what is in the directory src', 'filesystem', 'files__list_directory'],
    ['take a screnshot of the login page', 'browser', 'devtools__take_screenshot'],
  ])('%s: %s', (request, category, tool) => {
    const route = router.route(request)
    expect(route.category).toBe(category)
    expect(route.candidates[0]?.tool.startsWith(tool)).toBe(true)
  })

  it('reports the topic of the request', () => {
    const { intent, slots } = router.route('take a screenshot of the login page at http://a.test/x')
    expect(intent).toEqual(['screenshot', 'login page'])
    expect(slots.map(({ kind }) => kind)).toEqual(['url'])
  })
})

describe('the schema of a tool', () => {
  const schema = (properties: JsonObject): JsonObject => ({ type: 'object', properties })
  const files: JsonObject = {
    type: 'object',
    properties: { encoding: { description: 'How accents and umlauts are stored' } },
  }
  const { tools: described } = indexDefinitions(
    [
      { name: 'convert', inputSchema: schema({ unit: { enum: ['celsius', 'fahrenheit'] } }) },
      { name: 'change', inputSchema: schema({ unit: { enum: ['metre', 'furlong'] } }) },
      { name: 'swap', inputSchema: schema({ files: { type: 'array', items: files } }) },
    ].map((tool) => ({ ...tool, id: `units__${tool.name}`, server: 'units', description: '' })),
  )
  const routed = prepareRouter(described)

  it.each([
    ['a value that a parameter lists', 'furlongs', 'units__change'],
    ['the description of a parameter', 'umlauts', 'units__swap'],
    ['a field of an element of a list', 'encoding', 'units__swap'],
  ])('finds it by %s', (_, request, tool) => {
    expect(routed.route(request).candidates[0]?.tool).toBe(tool)
  })
})

describe('a tool that is called by its name', () => {
  it.each([
    ['devtools__click', 'devtools__click'],
    ['MetaMCP_devtools__click', 'devtools__click'],
    ['mcp__devtools__click', 'devtools__click'],
    ['use take_snapshot on the page, please', 'devtools__take_snapshot'],
    ['take snapshot', 'devtools__take_snapshot'],
    ['Use github__merge_pull_request {"pull_number": 3}', 'github__merge_pull_request'],
    ['query-docs', 'library__query-docs'],
    ['listPullRequests', 'github__list_pull_requests'],
    ['use devtools:take_snapshot', 'devtools__take_snapshot'],
    ['show me with list-pull-requests what is open', 'github__list_pull_requests'],
    ['have Take_Snapshot run', 'devtools__take_snapshot'],
    ['click {"uid": "1_2"}', 'devtools__click'],
    ['use take_snapshot {"note": "github__list_issues"}', 'devtools__take_snapshot'],
  ])('is chosen for %s', (request, tool) => {
    const route = router.route(request)
    expect(route).toMatchObject({ decision: 'answer', tool, named: [tool] })
  })

  it('is offered with the tools of the same name if several servers have it', () => {
    const twice = prepareRouter([
      ...tools,
      { ...toolOf('devtools__click'), id: 'other__click', server: 'other' },
    ])
    const { decision, named } = twice.route('click')
    expect(decision).toBe('shortlist')
    expect([...named].toSorted()).toEqual(['devtools__click', 'other__click'])
  })

  it.each([
    'what is in __init__.py',
    'explain clicking and filling',
    'profile the fillings',
    'the files of devtools/click',
  ])('is not recognised in the prose of %s', (request) => {
    expect(router.route(request).named).toEqual([])
  })
})

describe('a decision', () => {
  it('is a question if no tool matches', () => {
    for (const request of ['', 'the of and', 'blorb zyx', '!!!']) {
      const { decision, tool } = router.route(request)
      expect({ request, decision, tool }).toEqual({ request, decision: 'ask', tool: undefined })
    }
  })

  it('is a shortlist if two tools match equally well', () => {
    const { decision, candidates, margin } = router.route('pull request')
    expect(decision).toBe('shortlist')
    expect(candidates.length).toBeGreaterThan(1)
    expect(margin).toBeLessThan(0.5)
  })

  it('breaks ties by ID', () => {
    const same = (id: string): ToolSummary => ({ ...toolOf('devtools__click'), id, server: '' })
    const { candidates } = prepareRouter([same('b'), same('a'), same('c')]).route('click element')
    expect(candidates.map(({ tool }) => tool)).toEqual(['a', 'b', 'c'])
  })

  it('uses a category as a hint and never as a filter', () => {
    const misplaced = tools.map((tool) =>
      tool.name === 'merge_pull_request' ? { ...tool, category: 'browser' } : tool,
    )
    const moved = prepareRouter(misplaced)
    expect(moved.route('merge the pull request').tool).toBe('github__merge_pull_request')
  })

  it('reports a server that is configured but fails', () => {
    const failing = prepareRouter(tools, { unavailable: new Map([['github', 'bad token']]) })
    const { tool, candidates } = failing.route('merge the pull request')
    expect(tool).toBe('github__merge_pull_request')
    expect(candidates[0]).toMatchObject({ tool, unavailable: 'bad token' })
    expect(failing.route('take a screenshot').candidates[0]).not.toHaveProperty('unavailable')
  })
})

describe('examples', () => {
  const request = 'what is on my plate'

  it('lead to their tool', () => {
    expect(router.route(request).candidates[0]?.tool).not.toBe('github__list_issues')
    const taught = prepareRouter(
      tools.map((tool) =>
        tool.id === 'github__list_issues' ? { ...tool, examples: [request] } : tool,
      ),
    )
    expect(taught.route(request)).toMatchObject({
      decision: 'answer',
      tool: 'github__list_issues',
    })
    expect(taught.route('is anything on my plate?').candidates[0]?.tool).toBe('github__list_issues')
  })
})

describe('an explanation', () => {
  it('adds up to the score and explains why the next tool is not first', () => {
    const { route, candidates, words } = router.explain('list the open pull requests')
    expect(candidates.map(({ tool }) => tool)).toEqual(route.candidates.map(({ tool }) => tool))
    for (const { score, parts } of candidates) {
      const sum = parts.reduce((before, part) => before + part.score, 0)
      expect(sum).toBeCloseTo(score, 2)
    }
    expect(candidates[0]?.aheadOfNext).toMatch(/\+\d/)
    expect(candidates.at(-1)?.aheadOfNext).toBeUndefined()
    expect(words.map(({ word }) => word)).toEqual(['list', 'open', 'pull', 'requests'])
  })
})

function toolOf(id: string): ToolSummary {
  const tool = tools.find((candidate) => candidate.id === id)
  if (tool === undefined) throw new Error(`no tool ${id}`)
  return tool
}
