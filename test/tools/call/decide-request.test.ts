import type { JsonObject } from '../../../src/core/json.ts'
import { describe, expect, it } from 'vitest'
import {
  decideRequest,
  planTools,
  type RequestDecision,
} from '../../../src/tools/call/decide-request.ts'
import { indexDefinitions } from '../../../src/tools/cache/tool-index.ts'
import { prepareRouter } from '../../../src/tools/route/router.ts'
import { catalogue } from '../parameters/catalogue.ts'

const text = { type: 'string' }
const items: JsonObject = { type: 'array', items: { type: 'object' } }

const index = indexDefinitions([
  ...Object.values(catalogue),
  define('notes', 'add_observations', 'Add new observations to the graph.', {
    observations: items,
  }),
  define('files', 'read_file', 'Read the contents of a file.', { path: text }),
  define('files', 'read_multiple_files', 'Read the contents of many files together.', {
    paths: { type: 'array', items: text },
  }),
])

function define(server: string, name: string, description: string, properties: JsonObject) {
  const inputSchema = { type: 'object', properties, required: Object.keys(properties) }
  return { id: `${server}__${name}`, server, name, description, inputSchema }
}

function gitlab(properties: Record<string, JsonObject>) {
  const defined = Object.entries(properties).map(([name, own]) =>
    define('gitlab', name, `${name.replace('_', ' ')} of a GitLab project`, own),
  )
  const own = indexDefinitions(defined)
  const { route } = prepareRouter(own.tools)
  return { tools: planTools(own), route: (part: string) => route(part) }
}

function decide(request: string, tool = '', examples: readonly string[] = []): RequestDecision {
  const taught = index.tools.map((one) => (one.id === tool ? { ...one, examples } : one))
  const router = prepareRouter(taught)
  const tools = planTools({ ...index, tools: taught })
  return decideRequest(request, (part) => router.route(part), tools)
}

describe('the decision about a request', () => {
  it('is the tool that has a parameter for every value', () => {
    expect(decide('list the open issues of octo/hello')).toMatchObject({
      route: { decision: 'answer', tool: 'github__list_issues' },
      steps: [{ unplaced: [], params: { owner: 'octo', state: 'open' } }],
    })
  })

  it('follows the words if they are clearer than the numbers', () => {
    expect(decide('add observations about the 3 musketeers to the graph').route.tool).toBe(
      'notes__add_observations',
    )
  })

  it('is a question if the tool that fits best cannot take a value, though a lower one can', () => {
    expect(decide('read the files a.md and b.md')).toMatchObject({
      route: { decision: 'shortlist' },
      steps: [],
    })
  })

  it('is the tool of a phrase of the format, whatever the names of its server start with', () => {
    const element = { target: text }
    const description = 'Exact element reference from the page snapshot'
    const named = indexDefinitions([
      define('web', 'browser_click', 'Click on a page', {
        target: { ...element.target, description },
      }),
      define('web', 'browser_snapshot', 'Capture a snapshot of the page', {}),
      define('web', 'browser_hover', 'Hover over an element', element),
    ])
    const { route } = prepareRouter(named.tools)
    const { steps } = decideRequest(
      'click the submit button',
      (part) => route(part),
      planTools(named),
    )
    expect(steps.map(({ tool }) => tool)).toEqual(['web__browser_snapshot', 'web__browser_click'])
  })

  it.each([
    ['gitlab project 5', false],
    ['fork gitlab project 5', true],
  ])(
    'is no tool that changes something if the request does not say the verb: %s',
    (request, isSure) => {
      const project_id = text
      const { tools, route } = gitlab({
        fork_repository: { project_id },
        delete_issue: { issue: text },
      })
      const { decision } = decideRequest(request, route, tools).route
      expect(decision).toBe(isSure ? 'answer' : 'shortlist')
    },
  )

  it.each([
    ['requests of project 5', 'shortlist'],
    ['list the requests of project 5', 'answer'],
  ])(
    'is a question if two tools differ in the verb alone, and none is said: %s',
    (request, decision) => {
      const project_id = text
      const { tools, route } = gitlab({
        list_requests: { project_id },
        get_request: { project_id },
      })
      expect(decideRequest(request, route, tools).route.decision).toBe(decision)
    },
  )

  it('is the last tool that a request comes to', () => {
    const { route, steps } = decide('docs for Next.js app router')
    expect(route.tool).toBe('docs__query-docs')
    expect(steps.map(({ tool }) => tool)).toEqual(['docs__resolve-library-id', 'docs__query-docs'])
  })

  it('is one decision for several parts if the last part names a tool', () => {
    const { route, steps } = decide('take a snapshot of page 1, then list the console errors')
    expect(route.decision).toBe('answer')
    expect(steps.at(-1)?.tool).toBe(route.tool)
  })
})

describe('the decision and the proposal', () => {
  const requests = [
    'PR 12 in octo/hello',
    'list open issues of octo/hello',
    'show the page',
    'click the submit button',
    'go to https://example.com',
    'read notes.md',
    'open something',
    'take a snapshot of page 1, then frobnicate',
    'show the page and list the requests',
  ]
  const tools = ['', 'github__get_pull_request', 'browser__select_page', 'files__read_file']

  it.each(tools)('are the same with any examples of a tool: %s', (tool) => {
    for (const request of requests) {
      const { route, steps } = decide(request, tool, requests)
      const routed = route.decision === 'answer' ? route.tool : undefined
      expect([request, routed]).toEqual([request, steps.at(-1)?.tool])
    }
  })
})
