import { expect, it } from 'vitest'
import { text } from '../call/_fake.ts'
import { catalogue } from '../parameters/catalogue.ts'
import { carryOut } from './_servers.ts'

const answers: Readonly<Record<string, string>> = {
  list_pages: '1: about:blank [selected]',
  take_snapshot: 'uid=1_4 button "Submit"\nuid=1_5 link "Help"',
  'resolve-library-id': 'Libraries: /facebook/react',
}

const tools = Object.values(catalogue).map((tool) => ({
  ...tool,
  answer: () => text(answers[tool.name] ?? `${tool.name} done`),
}))

const decision = 'Break down this decision'
const pull = '{"owner":"owner","repo":"repo","pull_number":123}'

/** Every example request of the format, with the calls that it comes to without a model. */
it.each<[request: string, ...calls: string[]]>([
  ['use page 2', 'browser__select_page {"pageId":2}'],
  ['open new tab at https://x.test/a', 'browser__new_page {"url":"https://x.test/a"}'],
  ['click uid btn-1', 'browser__list_pages {}', 'browser__click {"pageId":1,"uid":"btn-1"}'],
  ['drag a to b', 'browser__drag {"from_uid":"a","to_uid":"b"}'],
  ['go to https://x', 'browser__navigate_page {"type":"url","url":"https://x"}'],
  ['reload hard', 'browser__navigate_page {"type":"reload","ignoreCache":true}'],
  ['show last xhr', 'browser__list_network_requests {"resourceTypes":["xhr"]}'],
  ['console errors', 'browser__list_console_messages {"types":["error"]}'],
  ['take a screenshot of the login page', 'browser__take_screenshot {"fullPage":true}'],
  [
    'Click the submit button',
    'browser__list_pages {}',
    'browser__take_snapshot {"pageId":1}',
    'browser__click {"pageId":1,"uid":"1_4"}',
  ],
  ['PR 123 in owner/repo', `github__get_pull_request ${pull}`],
  [
    'inspect PR 123 in owner/repo',
    `github__get_pull_request ${pull}`,
    `github__get_pull_request_files ${pull}`,
    `github__get_pull_request_status ${pull}`,
  ],
  [
    'issues labeled bug in owner/repo',
    'github__list_issues {"owner":"owner","repo":"repo","state":"open","labels":["bug"]}',
  ],
  [
    'List open PRs for owner/repo',
    'github__list_pull_requests {"owner":"owner","repo":"repo","state":"open"}',
  ],
  ['list mutations', 'graphql__filter_mutations {}'],
  ['type User details', 'graphql__get_type_details {"type_name":"User"}'],
  ['Show mutations containing auth', 'graphql__filter_mutations {"search":"auth"}'],
  [
    'docs for react useState',
    'docs__resolve-library-id {"query":"useState","libraryName":"react"}',
    'docs__query-docs {"libraryId":"/facebook/react","query":"useState"}',
  ],
  [
    decision,
    `thinking__sequentialthinking ${JSON.stringify({ thought: decision, nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 4 })}`,
  ],
])('%s', async (request, ...expected) => {
  expect((await carryOut(request, tools)).calls.map(sorted)).toEqual(expected.map(sorted))
})

it.each([
  ['open new tab', 'browser__new_page', ['url']],
  ['issues labeled bug', 'github__list_issues', ['owner', 'repo']],
])('asks a question about %s', async (request, tool, missing) => {
  const { answer, calls } = await carryOut(request, tools)
  expect(calls).toEqual([])
  expect(answer).toMatchObject({ kind: 'unsure', tool, missing })
})

function sorted(call: string): unknown[] {
  const [id = '', ...rest] = call.split(' ')
  return [id, JSON.parse(rest.join(' '))]
}
