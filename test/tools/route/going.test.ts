import { expect, it } from 'vitest'
import { prepareRouter } from '../../../src/tools/route/router.ts'
import type { ToolSummary } from '../../../src/tools/model.ts'

function tool(name: string, description: string): ToolSummary {
  return {
    id: `browser__${name}`,
    server: 'browser',
    name,
    description,
    parameters: [],
    required: [],
    category: 'browser',
  }
}

const router = prepareRouter([
  tool('navigate_page', 'Navigates the page to a URL, or back and forward.'),
  tool('new_page', 'Open a new tab and load a URL.'),
  tool('list_pages', 'List the pages that are open.'),
  tool('take_screenshot', 'Take a screenshot of the page.'),
  tool('open_nodes', 'Open nodes of the graph by their names.'),
])

it.each([
  'go to http://127.0.0.1:8080',
  'Go to https://example.com/a',
  'open http://127.0.0.1:8080',
  'Open the page at http://127.0.0.1:8080',
  'visit https://example.com',
  'browse to https://example.com',
  'please visit the website https://example.com',
])('%s means to navigate', (request) => {
  expect(router.route(request)).toMatchObject({
    decision: 'answer',
    tool: 'browser__navigate_page',
  })
})

it('opens another page where a new tab is asked for', () => {
  const { tool: chosen } = router.route('open https://example.com in a new tab')
  expect(chosen).toBe('browser__new_page')
})

it('leaves the words alone where there is no address', () => {
  expect(router.route('open nodes of the graph').tool).toBe('browser__open_nodes')
})
