import type { JsonObject } from '../../../src/core/json.ts'
import { describe, expect, it } from 'vitest'
import { decideRequest, type RequestDecision } from '../../../src/tools/call/decide-request.ts'
import { indexDefinitions } from '../../../src/tools/cache/tool-index.ts'
import { prepareRouter, type RouteExample } from '../../../src/tools/route/router.ts'
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

function decide(request: string, examples: readonly RouteExample[] = []): RequestDecision {
  const router = prepareRouter(index.tools, { ...index, examples })
  const tools = index.tools.map(({ id }) => id)
  const definition = (id: string): ReturnType<typeof index.definition> => index.definition(id)
  return decideRequest(request, (part) => router.route(part), { tools, definition })
}

describe('what a request comes to', () => {
  it('is the tool that has a place for all that is said', () => {
    expect(decide('list the open issues of octo/hello')).toMatchObject({
      route: { decision: 'answer', tool: 'github__list_issues' },
      steps: [{ unplaced: [], params: { owner: 'octo', state: 'open' } }],
    })
  })

  it('stays with the words where they say more than the numbers', () => {
    expect(decide('add observations about the 3 musketeers to the graph').route.tool).toBe(
      'notes__add_observations',
    )
  })

  it('is not a tool that is named in words but takes only a part of what is said', () => {
    expect(decide('read the files a.md and b.md')).toMatchObject({
      route: { decision: 'answer', tool: 'files__read_multiple_files' },
      steps: [{ params: { paths: ['a.md', 'b.md'] } }],
    })
  })

  it('is one answer for several parts, of which the last is named', () => {
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
  const tools = ['github__get_pull_request', 'browser__select_page', 'files__read_file']
  const lessons = tools.flatMap((tool) => [
    requests.map((request) => ({ request, tool })),
    requests.map((request) => ({ request, tool, wrong: true })),
  ])

  it.each([[], ...lessons])('agree, whatever was learned (%#)', (...examples) => {
    for (const request of requests) {
      const { route, steps } = decide(request, examples)
      const routed = route.decision === 'answer' ? route.tool : undefined
      expect([request, routed]).toEqual([request, steps.at(-1)?.tool])
    }
  })
})
