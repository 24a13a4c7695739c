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
import { definitionOf, failed, type FakeTool, fakeWorld, text } from './_fake.ts'

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
): RequestSetup & { calls: string[]; notes: string[]; learned: string[] } {
  const fake = fakeWorld(list, context)
  const learned: string[] = []
  return {
    context: fake.context,
    calls: fake.calls,
    notes: fake.notes,
    learned,
    router: async ({ tools }) => prepareRouter(tools).route,
    yes: false,
    learn: async (request, tool) => {
      learned.push(`${request} → ${tool}`)
    },
    ...overrides,
  }
}

const create = 'github__create_issue {"owner": "o", "repo": "r", "title": "t"}'

it('calls what only reads without a question', async () => {
  const given = setup()
  const answer = await doRequest('take a screenshot', given)
  expect(answer).toMatchObject({ kind: 'called', status: 'success', tried: [] })
  expect(given.calls).toEqual(['chrome__take_screenshot {}'])
  expect(given.learned).toEqual([])
})

it('reads the parameters out of the words', async () => {
  const given = setup()
  await doRequest('list issues of octo/hello', given)
  expect(given.calls).toEqual(['github__list_issues {"owner":"octo","repo":"hello"}'])
})

it('calls nothing that may change something when nobody can be asked', async () => {
  const given = setup()
  await expect(doRequest(create, given)).rejects.toMatchObject({
    exitCode: 4,
    code: 'tool-needs-yes',
    hint: 'Approve it in a terminal, or pass --yes.',
  })
  await expect(doRequest(`BATCH: [{"tool": "create_issue"}]`, given)).rejects.toMatchObject({
    exitCode: 4,
  })
  await expect(
    doRequest(`CHAIN: [{"tool": "take_snapshot"}, {"tool": "create_issue"}]`, given),
  ).rejects.toMatchObject({ exitCode: 4 })
  expect(given.calls).toEqual([])
})

it('calls it with a yes in advance', async () => {
  const given = setup({ yes: true })
  await doRequest(create, given)
  expect(given.calls).toEqual(['github__create_issue {"owner":"o","repo":"r","title":"t"}'])
})

it('shows a user the tool and all of its parameters, and takes a no', async () => {
  const shown: unknown[] = []
  const given = setup({
    user: {
      confirm: async (plan) => {
        shown.push(...plan.map(({ tool, params }) => [tool.id, params]))
        return shown.length > 1
      },
      choose: async () => undefined,
      provide: async () => undefined,
    },
  })
  await expect(doRequest(create, given)).rejects.toMatchObject({
    code: 'tool-declined',
    exitCode: 4,
  })
  expect(given.calls).toEqual([])
  await doRequest(create, given)
  expect(given.calls).toHaveLength(1)
  expect(shown).toEqual([
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

it('takes no yes in advance for a path that an earlier step of the chain answered', async () => {
  const given = setup({ yes: true }, {}, answering('/home/u/.bashrc'))
  expect(await doRequest(chainOfTwo('$where'), given)).toMatchObject({
    kind: 'steps',
    result: {
      completed: [{ tool: 'take_snapshot' }],
      failed: {
        tool: 'write_file',
        error: expect.stringContaining('The request does not name the path /home/u/.bashrc.'),
      },
    },
  })
  expect(given.calls).toEqual(['chrome__take_snapshot {}'])
})

it('lets a chain write to the path that the request names, whatever an answer holds', async () => {
  const given = setup({ yes: true }, {}, answering('/home/u/.bashrc'))
  expect(await doRequest(chainOfTwo('notes.md'), given)).toMatchObject({
    result: { completed: [{}, { tool: 'write_file' }] },
  })
})

it('asks a user again for a path that came from an answer', async () => {
  const asked: unknown[] = []
  const user: RequestSetup['user'] = {
    confirm: async (plan) => {
      asked.push(plan.map(({ tool, params, unusual }) => [tool.name, params['path'], unusual]))
      return true
    },
    choose: async () => undefined,
    provide: async () => undefined,
  }
  const given = setup({ user }, {}, answering('/srv/x'))
  await doRequest(chainOfTwo('$where'), given)
  expect(given.calls).toHaveLength(2)
  expect(asked).toEqual([
    [
      ['take_snapshot', undefined, undefined],
      ['write_file', '$where', undefined],
    ],
    [['write_file', '/srv/x', 'The request does not name the path /srv/x.']],
  ])
})

it('says what it does not know, with the candidates, and calls nothing', async () => {
  const given = setup()
  const answer = await doRequest('list the issues', given)
  expect(answer).toMatchObject({
    kind: 'unsure',
    tool: 'github__list_issues',
    missing: ['owner', 'repo'],
    reason: 'The request does not say owner, repo.',
    tried: [{ tool: 'github__list_issues', why: 'The request does not say owner, repo.' }],
  })
  expect(await doRequest('zzz qqq', given)).toMatchObject({
    kind: 'unsure',
    reason: 'No tool fits this request.',
  })
  expect(given.calls).toEqual([])
})

it('asks a user for what is missing', async () => {
  const given = setup({
    user: {
      confirm: async () => false,
      choose: async () => undefined,
      provide: async (_tool, parameter) => `the-${parameter}`,
    },
  })
  await doRequest('list the issues', given)
  expect(given.calls).toEqual(['github__list_issues {"owner":"the-owner","repo":"the-repo"}'])
})

it('lets a user choose, and learns from the choice when the call succeeded', async () => {
  const given = setup({
    user: {
      confirm: async () => true,
      choose: async (candidates) => candidates.find((one) => one.tool.includes('snapshot'))?.tool,
      provide: async () => undefined,
    },
  })
  const meaning = await understandRequest('the page please', given)
  expect(meaning).toMatchObject({ kind: 'call', decidedBy: 'user' })
  await doRequest('the page please', given)
  expect(given.learned).toEqual(['the page please → chrome__take_snapshot'])
})

it('calls each tool of several clauses with the JSON beside its name', async () => {
  const given = setup({ yes: true })
  await doRequest(
    'Use list_issues {"owner": "o", "repo": "r"} and then create_issue {"owner": "o", "repo": "r", "title": "take_snapshot"}',
    given,
  )
  expect(given.calls).toEqual([
    'github__list_issues {"owner":"o","repo":"r"}',
    'github__create_issue {"owner":"o","repo":"r","title":"take_snapshot"}',
  ])
})

it('tries the next candidate when the first proves wrong, and says why', async () => {
  const list: readonly FakeTool[] = [
    {
      name: 'get_weather_report',
      description: 'Get the weather report.',
      answer: () => failed('Tool "get_weather_report" not found'),
    },
    { name: 'get_weather_report_text', description: 'Get the weather report as text.' },
  ]
  const given = setup({}, {}, list)
  const answer = await doRequest('get the weather report', given)
  expect(answer).toMatchObject({
    kind: 'called',
    status: 'success',
    tried: [{ tool: 'fake__get_weather_report', why: 'Tool "get_weather_report" not found' }],
  })
  expect(given.calls).toEqual(['fake__get_weather_report {}', 'fake__get_weather_report_text {}'])
  expect(given.notes.join('\n')).toContain('fake__get_weather_report was not the right tool')
})

it('calls nothing that may change something in place of a tool that proved wrong', async () => {
  const list: readonly FakeTool[] = [
    { name: 'click_page', answer: () => failed('element uid=1 not found') },
    { name: 'click_page_twice', description: 'Click the page.' },
  ]
  const given = setup({ yes: true }, {}, list)
  expect(await doRequest('click the page', given)).toMatchObject({ kind: 'unsure' })
  expect(given.calls).toEqual(['fake__click_page {}'])
})

it('does not try another tool when the right one failed', async () => {
  const list = tools.map((tool) =>
    tool.name === 'take_screenshot' ? { ...tool, answer: () => failed('disk full') } : tool,
  )
  const given = setup({}, {}, list)
  expect(await doRequest('take a screenshot', given)).toMatchObject({
    kind: 'called',
    status: 'error',
  })
  expect(new Set(given.calls)).toEqual(new Set(['chrome__take_screenshot {}']))
})

it('runs a batch and a chain that stand in the text', async () => {
  const given = setup()
  expect(
    await doRequest(
      'Do BATCH: [{"tool": "take_snapshot"}, {"tool": "take_screenshot"}] now',
      given,
    ),
  ).toMatchObject({ kind: 'steps', result: [{ status: 'success' }, { status: 'success' }] })
  expect(
    await doRequest('CHAIN: [{"tool": "take_snapshot", "output_as": "s"}]', given),
  ).toMatchObject({ kind: 'steps', result: { completed: [{ tool: 'take_snapshot' }] } })
})

it('does not take prose with __ for a tool, and an id alone that nobody has for prose', async () => {
  const given = setup()
  expect(await doRequest('what is in __init__.py', given)).toMatchObject({ kind: 'unsure' })
  await expect(doRequest('Use NonExistent__fake_tool', given)).rejects.toMatchObject({
    exitCode: 3,
    message: expect.stringMatching(
      /^Tool 'NonExistent__fake_tool' not found\n[\s\S]*Next: verify the tool name or run skillrail tools refresh\.$/,
    ),
  })
  expect(given.calls).toEqual([])
})

describe('a request that is JSON and nothing else', () => {
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
  ])('holds no words that ask for something: %s', async (request) => {
    const given = setup()
    await expect(doRequest(request, given)).rejects.toMatchObject({
      code: 'request-json',
      exitCode: 2,
      hint: expect.stringContaining("skillrail tools call TOOL '{…}'"),
    })
    expect(given.calls).toEqual([])
  })

  it.each([
    ['[take a screenshot]'],
    ['{take a screenshot}'],
    ['take a screenshot {}'],
    ['{} take a screenshot'],
  ])('is none with words beside it: %s', async (request) => {
    expect(await doRequest(request, setup())).toMatchObject({ kind: 'called', status: 'success' })
  })
})

it('asks the servers once when the cache knows nothing', async () => {
  const given = setup({}, { discover: async () => indexDefinitions(tools.map(definitionOf)) })
  given.context.index = indexDefinitions([])
  expect(await doRequest('take a screenshot', given)).toMatchObject({ status: 'success' })
})

it('gives the text of the request to the gate', async () => {
  const seen: (string | undefined)[] = []
  const given = setup(
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
  await doRequest('take a screenshot', given)
  await doRequest('BATCH: [{"tool": "take_snapshot"}]', given)
  expect(seen).toEqual(['take a screenshot', 'BATCH: [{"tool": "take_snapshot"}]'])
})

it.each([
  ['chrome__take_screenshot'],
  ['take a screenshot'],
  ['BATCH: [{"tool": "take_screenshot"}]'],
  ['CHAIN: [{"tool": "take_screenshot"}]'],
])('reaches no server past a closed gate: %s', async (request) => {
  const given = setup(
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
  await expect(doRequest(request, given)).rejects.toThrow('closed')
  expect(given.calls).toEqual([])
})

it('takes a path that only an earlier answer gave for one the request does not name', async () => {
  const list: readonly FakeTool[] = [
    { name: 'write_file', inputSchema: object({ path: { type: 'string' } }) },
  ]
  const asked: (string | undefined)[] = []
  const given = setup(
    {
      yes: true,
      user: {
        confirm: async (plan) => {
          asked.push(...plan.map(({ unusual }) => unusual))
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
    requireYes([{ tool, params: { path: '/etc/x' } }], 'write it', given),
  ).rejects.toMatchObject({
    code: 'tool-declined',
  })
  expect(asked).toEqual(['The request does not name the path /etc/x.'])
  expect(await requireYes([{ tool, params: { path: '/tmp/x' } }], 'write /tmp/x', given)).toBe(
    false,
  )
})

const opener: FakeTool = {
  name: 'navigate_page',
  server: 'chrome',
  description: 'Navigate to a URL.',
  inputSchema: object({ url: { type: 'string' } }),
}
const shot = 'take a screenshot of http://127.0.0.1:1/'

it('shows the whole plan before its first call, where nobody can be asked', async () => {
  const given = setup({}, {}, [...tools, opener])
  await expect(doRequest(shot, given)).rejects.toMatchObject({
    exitCode: 4,
    message:
      'this plan needs your approval. It may change something.\n' +
      '1. chrome__navigate_page {"url":"http://127.0.0.1:1/"} (may change something)\n' +
      '2. chrome__take_screenshot {} (reads)',
  })
  await expect(
    doRequest('CHAIN: [{"tool": "take_snapshot"}, {"tool": "create_issue"}]', given),
  ).rejects.toMatchObject({
    exitCode: 4,
    message: expect.stringContaining(
      '1. chrome__take_snapshot {} (reads)\n2. github__create_issue {} (may change something)',
    ),
  })
  expect(given.calls).toEqual([])
})

it('asks a user once about the whole plan, before its first call', async () => {
  const asked: unknown[] = []
  const user: RequestSetup['user'] = {
    confirm: async (plan) => {
      asked.push(...plan.map(({ tool, params, readOnly }) => [tool.name, params, readOnly]))
      expect(given.calls).toEqual([])
      return true
    },
    choose: async () => undefined,
    provide: async () => undefined,
  }
  const given = setup({ user }, {}, [...tools, opener])
  expect(await doRequest(shot, given)).toMatchObject({ status: 'success' })
  expect(given.calls).toHaveLength(2)
  expect(asked).toEqual([
    ['navigate_page', { url: 'http://127.0.0.1:1/' }, false],
    ['take_screenshot', {}, true],
  ])
})

it('takes no picture of a page that could not be opened', async () => {
  const answer =
    'Unable to navigate in the selected page: net::ERR_CONNECTION_REFUSED at http://127.0.0.1:1/.'
  const given = setup({ yes: true }, {}, [...tools, { ...opener, answer: () => text(answer) }])
  expect(await doRequest(shot, given)).toMatchObject({
    kind: 'called',
    status: 'error',
    calls: [{ report: { status: 'error', failure: { message: answer } } }],
  })
  expect(given.calls).toEqual(['chrome__navigate_page {"url":"http://127.0.0.1:1/"}'])
})

it('keeps what was done before a plan was cancelled', async () => {
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
  const given = setup({ yes: true }, { signal: controller.signal }, [...list, opener])
  expect(await doRequest(shot, given)).toMatchObject({
    kind: 'called',
    status: 'cancelled',
    calls: [{ report: { tool: { name: 'navigate_page' }, status: 'success' } }],
    cancelled: ['chrome__take_screenshot'],
  })
})

it('asks twice for what is missing, says why, and then gives the call to complete', async () => {
  const asked: unknown[] = []
  const user: RequestSetup['user'] = {
    confirm: async () => true,
    choose: async () => undefined,
    provide: async (_tool, name, problem) => {
      asked.push([name, problem])
      return name === 'owner' ? 'octo' : ' '
    },
  }
  const given = setup({ user })
  for (const request of ['list the issues', 'github__list_issues']) {
    expect(await doRequest(request, given)).toMatchObject({
      kind: 'unsure',
      missing: ['repo'],
      complete: `skillrail tools call github__list_issues '{"owner":"octo","repo":"<string>"}'`,
    })
    expect(asked.splice(0)).toEqual([
      ['owner', undefined],
      ['repo', undefined],
      ['repo', 'repo cannot be empty: string is needed.'],
    ])
  }
  expect(given.calls).toEqual([])
})

it('asks again for a number that is none', async () => {
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
  const given = setup({ user }, {}, list)
  await doRequest('fake__get_page', given)
  expect(problems).toEqual([undefined, 'number cannot be two: integer is needed.'])
  expect(given.calls).toEqual(['fake__get_page {"number":2}'])
})

it('takes the one tool whose id is spelt a little differently, and says so', async () => {
  const given = setup({}, {}, [{ name: 'get-sum' }])
  await doRequest('Use fake__get_sum', given)
  expect(given.calls).toEqual(['fake__get-sum {}'])
  expect(given.notes.join()).toContain('There is no tool fake__get_sum; fake__get-sum was taken')
})

it('asks the servers for a tool that is spelt as it is written', async () => {
  const [near, real] = [{ name: 'get-sum' }, { name: 'get_sum' }]
  const discover = async () => indexDefinitions([near, real].map(definitionOf))
  const given = setup({}, { discover }, [near])
  await doRequest('Use fake__get_sum', given)
  expect(given.calls).toEqual(['fake__get_sum {}'])
})
