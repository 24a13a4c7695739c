import { readFileSync } from 'node:fs'
import type { JsonObject } from '../../../src/core/json.ts'
import { describe, expect, it } from 'vitest'
import type { CallContext } from '../../../src/tools/call/context.ts'
import {
  doRequest,
  type RequestSetup,
  understandRequest,
} from '../../../src/tools/call/do-request.ts'
import { indexDefinitions } from '../../../src/tools/cache/tool-index.ts'
import { prepareRouter } from '../../../src/tools/route/router.ts'
import { definitionOf, failed, type FakeTool, toolFixture, text } from './_fake.ts'

const object = (properties: JsonObject, required: string[] = []): JsonObject => ({
  type: 'object',
  properties,
  required,
})

const tools: readonly FakeTool[] = [
  {
    name: 'list_issues',
    server: 'github',
    description: 'List the issues of a repository.',
    inputSchema: object({ owner: { type: 'string' }, repo: { type: 'string' } }, ['owner', 'repo']),
  },
  {
    name: 'create_issue',
    server: 'github',
    description: 'Create a new issue in a repository.',
    inputSchema: object(
      { owner: { type: 'string' }, repo: { type: 'string' }, title: { type: 'string' } },
      ['owner', 'repo', 'title'],
    ),
  },
  {
    name: 'take_screenshot',
    server: 'chrome',
    description: 'Take a screenshot of the page.',
    annotations: { readOnlyHint: true },
  },
  {
    name: 'take_snapshot',
    server: 'chrome',
    description: 'Take a text snapshot of the page.',
    annotations: { readOnlyHint: true },
  },
  {
    name: 'write_file',
    server: 'fs',
    description: 'Write text to a file.',
    inputSchema: object({ path: { type: 'string' }, content: { type: 'string' } }, [
      'path',
      'content',
    ]),
  },
]

function setup(
  overrides: Partial<RequestSetup> = {},
  context: Partial<CallContext> = {},
  list: readonly FakeTool[] = tools,
): RequestSetup & { calls: string[]; notes: string[] } {
  const fake = toolFixture(list, context)
  return {
    context: fake.context,
    calls: fake.calls,
    notes: fake.notes,
    router: async ({ tools }) => prepareRouter(tools).route,
    yes: false,
    ...overrides,
  }
}

const create = 'github__create_issue {"owner": "o", "repo": "r", "title": "t"}'

it('calls a tool that only reads without a question', async () => {
  const fixture = setup()
  const answer = await doRequest('take a screenshot', fixture)
  expect(answer).toMatchObject({ kind: 'called', status: 'success' })
  expect(fixture.calls).toEqual(['chrome__take_screenshot {}'])
})

it('reads the parameters from the request', async () => {
  const fixture = setup()
  await doRequest('list issues of octo/hello', fixture)
  expect(fixture.calls).toEqual(['github__list_issues {"owner":"octo","repo":"hello"}'])
})

it('calls no tool that may change something in a non-interactive shell', async () => {
  const fixture = setup()
  await expect(doRequest(create, fixture)).rejects.toMatchObject({
    exitCode: 4,
    code: 'tool-needs-yes',
    hint: 'Approve it in a terminal, or pass --yes.',
  })
  const step = `{"tool": "create_issue", "params": {"owner": "o", "repo": "r", "title": "t"}}`
  await expect(doRequest(`BATCH: [${step}]`, fixture)).rejects.toMatchObject({ exitCode: 4 })
  await expect(
    doRequest(`CHAIN: [{"tool": "take_snapshot"}, ${step}]`, fixture),
  ).rejects.toMatchObject({ exitCode: 4 })
  expect(fixture.calls).toEqual([])
})

it('calls it with an approval in advance', async () => {
  const fixture = setup({ yes: true })
  await doRequest(create, fixture)
  expect(fixture.calls).toEqual(['github__create_issue {"owner":"o","repo":"r","title":"t"}'])
})

it('shows the tool with all of its parameters to a user, who can refuse', async () => {
  const approvals: unknown[] = []
  const fixture = setup({
    user: {
      confirm: async (plan) => {
        approvals.push(...plan.map(({ tool, params }) => [tool.id, params]))
        return approvals.length > 1
      },
      choose: async () => undefined,
      provide: async () => undefined,
    },
  })
  await expect(doRequest(create, fixture)).rejects.toMatchObject({
    code: 'tool-declined',
    exitCode: 4,
  })
  expect(fixture.calls).toEqual([])
  await doRequest(create, fixture)
  expect(fixture.calls).toHaveLength(1)
  expect(approvals).toEqual([
    ['github__create_issue', { owner: 'o', repo: 'r', title: 't' }],
    ['github__create_issue', { owner: 'o', repo: 'r', title: 't' }],
  ])
})

const chainOfTwo = (path: string): string =>
  `CHAIN: [{"tool": "take_snapshot", "output_as": "where"},
    {"tool": "write_file", "params": {"path": "${path}", "content": "$where"}}]`

const answering = (answer: string): readonly FakeTool[] =>
  tools.map((tool) =>
    tool.name === 'take_snapshot' ? { ...tool, answer: () => text(answer) } : tool,
  )

it('does not use an approval in advance for a path from the answer of an earlier step', async () => {
  const fixture = setup({ yes: true }, {}, answering('/home/u/.bashrc'))
  expect(await doRequest(chainOfTwo('$where'), fixture)).toMatchObject({
    kind: 'steps',
    result: {
      completed: [{ tool: 'take_snapshot' }],
      failed: {
        tool: 'write_file',
        error: expect.stringContaining('The request does not name the path /home/u/.bashrc.'),
      },
    },
  })
  expect(fixture.calls).toEqual(['chrome__take_snapshot {}'])
})

it('allows a chain to write to the path that the request names, whatever an answer contains', async () => {
  const fixture = setup({ yes: true }, {}, answering('/home/u/.bashrc'))
  expect(await doRequest(chainOfTwo('notes.md'), fixture)).toMatchObject({
    result: { completed: [{}, { tool: 'write_file' }] },
  })
})

it('asks a user again for a path that came from an answer', async () => {
  const questions: unknown[] = []
  const user: RequestSetup['user'] = {
    confirm: async (plan) => {
      questions.push(plan.map(({ tool, params, unusual }) => [tool.name, params['path'], unusual]))
      return true
    },
    choose: async () => undefined,
    provide: async () => undefined,
  }
  const fixture = setup({ user }, {}, answering('/srv/x'))
  await doRequest(chainOfTwo('$where'), fixture)
  expect(fixture.calls).toHaveLength(2)
  expect(questions).toEqual([
    [
      ['take_snapshot', undefined, undefined],
      ['write_file', '$where', undefined],
    ],
    [['write_file', '/srv/x', 'The request does not name the path /srv/x.']],
  ])
})

it('reports the unknown part with the candidates, and calls no tool', async () => {
  const fixture = setup()
  const answer = await doRequest('list the issues', fixture)
  expect(answer).toMatchObject({
    kind: 'unsure',
    tool: 'github__list_issues',
    missing: ['owner', 'repo'],
    reason: 'The request does not say owner, repo.',
  })
  expect(await doRequest('zzz qqq', fixture)).toMatchObject({
    kind: 'unsure',
    reason: 'No tool fits this request.',
  })
  expect(fixture.calls).toEqual([])
})

it('asks a user for a missing parameter', async () => {
  const fixture = setup({
    user: {
      confirm: async () => false,
      choose: async () => undefined,
      provide: async (_tool, parameter) => `the-${parameter}`,
    },
  })
  await doRequest('list the issues', fixture)
  expect(fixture.calls).toEqual(['github__list_issues {"owner":"the-owner","repo":"the-repo"}'])
})

it('lets a user choose if the request is ambiguous', async () => {
  const fixture = setup({
    user: {
      confirm: async () => true,
      choose: async (candidates) => candidates.find((one) => one.tool.includes('snapshot'))?.tool,
      provide: async () => undefined,
    },
  })
  const meaning = await understandRequest('the page please', fixture)
  expect(meaning).toMatchObject({ kind: 'call', decidedBy: 'user' })
  await doRequest('the page please', fixture)
  expect(fixture.calls).toEqual(['chrome__take_snapshot {}'])
})

it('calls each tool of several clauses with the JSON beside its name', async () => {
  const fixture = setup({ yes: true })
  await doRequest(
    'Use list_issues {"owner": "o", "repo": "r"} and then create_issue {"owner": "o", "repo": "r", "title": "take_snapshot"}',
    fixture,
  )
  expect(fixture.calls).toEqual([
    'github__list_issues {"owner":"o","repo":"r"}',
    'github__create_issue {"owner":"o","repo":"r","title":"take_snapshot"}',
  ])
})

it.each([
  ['Tool "get_weather_report" not found'],
  ['Input validation error: Invalid arguments for tool get_weather_report'],
  ['element uid=1 not found'],
  ['disk full'],
])('reports the failure of a call and calls no other tool: %s', async (message) => {
  const list: readonly FakeTool[] = [
    {
      name: 'get_weather_report',
      description: 'Get the weather report.',
      answer: () => failed(message),
    },
    { name: 'get_weather_report_text', description: 'Get the weather report as text.' },
  ]
  const fixture = setup({}, {}, list)
  const answer = await doRequest('get the weather report', fixture)
  expect(answer).toMatchObject({
    kind: 'called',
    status: 'error',
    calls: [{ call: { tool: 'fake__get_weather_report' }, report: { failure: { message } } }],
    route: { candidates: [{}, { tool: 'fake__get_weather_report_text' }] },
  })
  expect(new Set(fixture.calls)).toEqual(new Set(['fake__get_weather_report {}']))
})

it('refuses parameters that the schema does not accept, and calls no other tool', async () => {
  const year = { ...object({ year: { type: 'integer' } }), not: { required: ['year'] } }
  const list: readonly FakeTool[] = [
    { name: 'get_weather_report', description: 'Get the weather report.', inputSchema: year },
    { name: 'get_weather_report_text', description: 'Get the weather report as text.' },
  ]
  const fixture = setup({}, {}, list)
  await expect(doRequest('get the weather report, year 2026', fixture)).rejects.toMatchObject({
    code: 'invalid-parameters',
    exitCode: 2,
  })
  expect(fixture.calls).toEqual([])
})

it('runs a batch and a chain in the text', async () => {
  const fixture = setup()
  expect(
    await doRequest(
      'Do BATCH: [{"tool": "take_snapshot"}, {"tool": "take_screenshot"}] now',
      fixture,
    ),
  ).toMatchObject({ kind: 'steps', result: [{ status: 'success' }, { status: 'success' }] })
  expect(
    await doRequest('CHAIN: [{"tool": "take_snapshot", "output_as": "s"}]', fixture),
  ).toMatchObject({ kind: 'steps', result: { completed: [{ tool: 'take_snapshot' }] } })
})

it('does not read prose with __ as a tool, and does not read an unknown ID alone as prose', async () => {
  const fixture = setup()
  expect(await doRequest('what is in __init__.py', fixture)).toMatchObject({ kind: 'unsure' })
  await expect(doRequest('Use NonExistent__fake_tool', fixture)).rejects.toMatchObject({
    exitCode: 3,
    message: expect.stringMatching(
      /^Tool 'NonExistent__fake_tool' not found\n[\s\S]*Next: verify the tool name or run skillrail tools refresh\.$/,
    ),
  })
  expect(fixture.calls).toEqual([])
})

describe('a request that is only JSON', () => {
  it.each([
    ['{"note": "take a screenshot"}'],
    ['{"note": "call chrome__take_screenshot"}'],
    ['{"tool": "take_screenshot", "params": {}}'],
    ['["call chrome__take_screenshot"]'],
    ['[{"tool": "take_screenshot"}]'],
    ['  [["BATCH: [{}]"]]\n'],
    ['{"note": "take a screenshot",}'],
    ['{"note": "take a screenshot", "note": "again"}'],
    ['```json\n{"note": "take a screenshot"}\n```'],
    ['{"a": 1} {"note": "take a screenshot"}'],
  ])('contains no text that requests something: %s', async (request) => {
    const fixture = setup()
    await expect(doRequest(request, fixture)).rejects.toMatchObject({
      code: 'request-json',
      exitCode: 2,
      hint: expect.stringContaining("skillrail tools call TOOL '{…}'"),
    })
    expect(fixture.calls).toEqual([])
  })

  it.each([
    ['[take a screenshot]'],
    ['{take a screenshot}'],
    ['take a screenshot {}'],
    ['{} take a screenshot'],
  ])('is not only JSON with text beside it: %s', async (request) => {
    expect(await doRequest(request, setup())).toMatchObject({ kind: 'called', status: 'success' })
  })
})

it('asks the servers once if the cache is empty', async () => {
  const fixture = setup({}, { discover: async () => indexDefinitions(tools.map(definitionOf)) })
  fixture.context.index = indexDefinitions([])
  expect(await doRequest('take a screenshot', fixture)).toMatchObject({ status: 'success' })
})

it('passes the text of the request to the gate', async () => {
  const seen: (string | undefined)[] = []
  const fixture = setup(
    {},
    {
      gate: {
        pass: async ({ request }) => {
          seen.push(request)
        },
        after: async () => undefined,
      },
    },
  )
  await doRequest('take a screenshot', fixture)
  await doRequest('BATCH: [{"tool": "take_snapshot"}]', fixture)
  expect(seen).toEqual(['take a screenshot', 'BATCH: [{"tool": "take_snapshot"}]'])
})

it.each([
  ['chrome__take_screenshot'],
  ['take a screenshot'],
  ['BATCH: [{"tool": "take_screenshot"}]'],
  ['CHAIN: [{"tool": "take_screenshot"}]'],
])('connects to no server past a closed gate: %s', async (request) => {
  const fixture = setup(
    {},
    {
      gate: {
        pass: async () => {
          throw new Error('closed')
        },
        after: async () => undefined,
      },
    },
  )
  await expect(doRequest(request, fixture)).rejects.toThrow('closed')
  expect(fixture.calls).toEqual([])
})

it('treats a path that only an earlier answer contains as a path that the request does not name', async () => {
  const list: readonly FakeTool[] = [
    { name: 'write_file', inputSchema: object({ path: { type: 'string' } }) },
  ]
  const questions: (string | undefined)[] = []
  const fixture = setup(
    {
      yes: true,
      user: {
        confirm: async (plan) => {
          questions.push(...plan.map(({ unusual }) => unusual))
          return false
        },
        choose: async () => undefined,
        provide: async () => undefined,
      },
    },
    {},
    list,
  )
  const { requireYes } = await import('../../../src/tools/call/consent.ts')
  const tool = definitionOf(list[0] ?? { name: '' })
  await expect(
    requireYes([{ tool, params: { path: '/etc/x' } }], 'write it', fixture),
  ).rejects.toMatchObject({
    code: 'tool-declined',
  })
  expect(questions).toEqual(['The request does not name the path /etc/x.'])
  await requireYes([{ tool, params: { path: '/tmp/x' } }], 'write /tmp/x', fixture)
  expect(questions).toHaveLength(1)
})

const opener: FakeTool = {
  name: 'navigate_page',
  server: 'chrome',
  description: 'Navigate to a URL.',
  inputSchema: object({ url: { type: 'string' } }),
}
const shot = 'take a screenshot of http://127.0.0.1:1/'

it('prints the whole plan before its first call in a non-interactive shell', async () => {
  const fixture = setup({}, {}, [...tools, opener])
  await expect(doRequest(shot, fixture)).rejects.toMatchObject({
    exitCode: 4,
    message:
      'this plan needs your approval. It may change something.\n' +
      '1. chrome__navigate_page {"url":"http://127.0.0.1:1/"} (may change something)\n' +
      '2. chrome__take_screenshot {} (reads)',
  })
  await expect(
    doRequest('CHAIN: [{"tool": "take_snapshot"}, {"tool": "create_issue"}]', fixture),
  ).rejects.toMatchObject({
    exitCode: 4,
    message: expect.stringContaining(
      '1. chrome__take_snapshot {} (reads)\n2. github__create_issue {} (may change something)',
    ),
  })
  expect(fixture.calls).toEqual([])
})

it('asks a user once about the whole plan, before its first call', async () => {
  const questions: unknown[] = []
  const user: RequestSetup['user'] = {
    confirm: async (plan) => {
      questions.push(...plan.map(({ tool, params, readOnly }) => [tool.name, params, readOnly]))
      expect(fixture.calls).toEqual([])
      return true
    },
    choose: async () => undefined,
    provide: async () => undefined,
  }
  const fixture = setup({ user }, {}, [...tools, opener])
  expect(await doRequest(shot, fixture)).toMatchObject({ status: 'success' })
  expect(fixture.calls).toHaveLength(2)
  expect(questions).toEqual([
    ['navigate_page', { url: 'http://127.0.0.1:1/' }, false],
    ['take_screenshot', {}, true],
  ])
})

it('takes no screenshot of a page that could not be opened', async () => {
  const message = 'net::ERR_CONNECTION_REFUSED'
  const list = [...tools, { ...opener, answer: () => failed(message) }]
  const fixture = setup({ yes: true }, {}, list)
  expect(await doRequest(shot, fixture)).toMatchObject({
    kind: 'called',
    status: 'error',
    calls: [{ report: { status: 'error', failure: { message } } }],
  })
  expect(fixture.calls).toEqual(['chrome__navigate_page {"url":"http://127.0.0.1:1/"}'])
})

it('keeps the results from before a plan was cancelled', async () => {
  const controller = new AbortController()
  const list = tools.map((tool) =>
    tool.name === 'take_screenshot'
      ? {
          ...tool,
          answer: () => {
            controller.abort()
            throw new Error('gone')
          },
        }
      : tool,
  )
  const fixture = setup({ yes: true }, { signal: controller.signal }, [...list, opener])
  expect(await doRequest(shot, fixture)).toMatchObject({
    kind: 'called',
    status: 'cancelled',
    calls: [{ report: { tool: { name: 'navigate_page' }, status: 'success' } }],
    cancelled: ['chrome__take_screenshot'],
  })
})

it('asks twice for a missing parameter, explains why, and then prints the call to complete', async () => {
  const questions: unknown[] = []
  const user: RequestSetup['user'] = {
    confirm: async () => true,
    choose: async () => undefined,
    provide: async (_tool, name, problem) => {
      questions.push([name, problem])
      return name === 'owner' ? 'octo' : ' '
    },
  }
  const fixture = setup({ user })
  for (const request of ['list the issues', 'github__list_issues']) {
    expect(await doRequest(request, fixture)).toMatchObject({
      kind: 'unsure',
      missing: ['repo'],
      complete: `skillrail tools call github__list_issues '{"owner":"octo","repo":"<string>"}'`,
    })
    expect(questions.splice(0)).toEqual([
      ['owner', undefined],
      ['repo', undefined],
      ['repo', 'repo cannot be empty: string is needed.'],
    ])
  }
  expect(fixture.calls).toEqual([])
})

it('asks again for an invalid number', async () => {
  const list: readonly FakeTool[] = [
    { name: 'get_page', inputSchema: object({ number: { type: 'integer' } }, ['number']) },
  ]
  const answers = ['two', '2']
  const problems: (string | undefined)[] = []
  const user: RequestSetup['user'] = {
    confirm: async () => true,
    choose: async () => undefined,
    provide: async (_tool, _name, problem) => {
      problems.push(problem)
      return answers.shift()
    },
  }
  const fixture = setup({ user }, {}, list)
  await doRequest('fake__get_page', fixture)
  expect(problems).toEqual([undefined, 'number cannot be two: integer is needed.'])
  expect(fixture.calls).toEqual(['fake__get_page {"number":2}'])
})

it('uses the only tool with a slightly different ID, and reports that', async () => {
  const fixture = setup({}, {}, [{ name: 'get-sum' }])
  await doRequest('Use fake__get_sum', fixture)
  expect(fixture.calls).toEqual(['fake__get-sum {}'])
  expect(fixture.notes.join()).toContain('There is no tool fake__get_sum; fake__get-sum was taken')
})

it('asks the servers for a tool in its written spelling', async () => {
  const [near, real] = [{ name: 'get-sum' }, { name: 'get_sum' }]
  const discover = async () => indexDefinitions([near, real].map(definitionOf))
  const fixture = setup({}, { discover }, [near])
  await doRequest('Use fake__get_sum', fixture)
  expect(fixture.calls).toEqual(['fake__get_sum {}'])
})

describe('with the tools of server-everything', () => {
  const number = { type: 'number' }
  const everything: readonly FakeTool[] = [
    {
      name: 'echo',
      server: 'everything',
      description: 'Echoes back the input string',
      annotations: { readOnlyHint: true },
      inputSchema: object({ message: { type: 'string', description: 'Message to echo' } }, [
        'message',
      ]),
    },
    {
      name: 'get-sum',
      server: 'everything',
      description: 'Returns the sum of two numbers',
      annotations: { readOnlyHint: true },
      inputSchema: object({ a: number, b: number }, ['a', 'b']),
    },
    {
      name: 'get-env',
      server: 'everything',
      description:
        'Returns all environment variables, helpful for debugging MCP server configuration',
      annotations: { readOnlyHint: true },
    },
  ]
  const page = readFileSync(new URL('../../../docs/for-mcp-users.md', import.meta.url), 'utf8')
  const examples = [...page.matchAll(/^npx skillrail tools do "([^"\n]+)" +# Success: /gm)]
  const calls = ['everything__get-sum {"a":3,"b":4}', 'everything__echo {"message":"hello"}']

  it('calls what the page for users of MCP servers shows', async () => {
    const made: string[] = []
    for (const [, request = ''] of examples) {
      const fixture = setup({}, {}, everything)
      await doRequest(request, fixture)
      made.push(...fixture.calls)
    }
    expect(made).toEqual(calls)
  })

  it('names the missing values if only one tool fits', async () => {
    const fixture = setup({}, {}, everything)
    expect(await understandRequest('what is the sum of 3 and 4', fixture)).toMatchObject({
      kind: 'unsure',
      reason: 'everything__get-sum needs values that the request does not name: a, b.',
    })
  })
})
