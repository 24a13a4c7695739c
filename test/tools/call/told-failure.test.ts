import { expect, it } from 'vitest'
import { callTool } from '../../../src/tools/call/call-tool.ts'
import { classifyOutcome } from '../../../src/tools/call/attempts.ts'
import { fakeWorld, text } from './_fake.ts'

it.each([
  'Unable to navigate in the selected page: net::ERR_CONNECTION_REFUSED at http://127.0.0.1:1/.',
  '# navigate_page response\nUnable to navigate in the selected page: Navigation timeout of 10 ms.',
  'Unable to navigate back in the selected page: no entry.\n## Pages\n1: about:blank',
  'Unable to reload the selected page: x.',
  'Error: no active performance trace recording to stop.',
  'Error: a screencast recording is already in progress. Use screencast_stop to stop it.',
  'Failed to resolve comment thread "3". Thread not found.',
  'Error fetching library context. Please try again later. TypeError: fetch failed',
  '### Error\nError: page.goto: net::ERR_CONNECTION_REFUSED at http://127.0.0.1:1/',
  'page.goto: net::ERR_NAME_NOT_RESOLVED at http://nowhere.test/',
  'Error: net::ERR_FAILED at file:///x\nCall log:',
])('an answer %j is one of a failure without isError', (answer) => {
  expect(classifyOutcome(text(answer))).toMatchObject({
    message: answer,
    delivered: 'yes',
  })
})

it.each([
  'Successfully navigated to http://127.0.0.1:8080/errors.',
  'Successfully navigated to http://a.test/.\n## Console\n[error] net::ERR_FAILED at http://b.test/',
  'The page says: Unable to navigate in the selected page: x',
  'Unable to navigate without a map, sailors used the stars.',
  'Error: Operation failed',
  'Error handling in TypeScript',
  'Error searching is a topic of the library.',
  '12:01 net::ERR_CONNECTION_REFUSED at http://127.0.0.1:1/ was logged',
  'net::ERR_CONNECTION_REFUSED means that nothing listens.',
  '## Errors\n### Error\nnone',
  'No traces, no errors.',
  '',
])('an answer %j is a good one', (answer) => {
  expect(classifyOutcome(text(answer))).toBeUndefined()
})

it('fails a call whose answer says so, once, with a next step', async () => {
  const answer =
    'Unable to navigate in the selected page: net::ERR_CONNECTION_REFUSED at http://127.0.0.1:1/.'
  const { context, calls } = fakeWorld([{ name: 'navigate_page', answer: () => text(answer) }])
  const { tools, definition } = context.index
  const browsing = tools.map((tool) => ({ ...tool, category: 'browser' }))
  context.index = { tools: browsing, definition }
  const report = await callTool({ tool: 'fake__navigate_page', params: {} }, context)
  expect(report).toMatchObject({
    status: 'error',
    failure: { message: answer },
    report: { suggestion: 'Check that the address is right and that something answers there' },
  })
  expect(calls).toHaveLength(1)
})
