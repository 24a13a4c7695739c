import type { JsonObject } from '../../../src/core/json.ts'
import { expect, it } from 'vitest'
import type { ToolModel } from '../../../src/tools/call/do-request.ts'
import { carryOut, listedTools } from './_servers.ts'

const of = (server: string) => listedTools.filter((one) => one.server === server)

function scripted(tool: string | undefined, params: JsonObject = {}) {
  const offered: string[] = []
  const model: ToolModel = {
    name: 'mock:small',
    choose: async (_, tools) => {
      offered.push(...tools.map(({ id }) => id))
      return tool === undefined ? undefined : { tool, params }
    },
  }
  return { model, offered }
}

it('lets a model choose a tool and parameters for an ambiguous request, and reports that', async () => {
  const request = 'post deploy done to C012345'
  const params = { channel_id: 'C012345', text: 'deploy done' }
  const { model, offered } = scripted('slack__slack_post_message', params)
  const { answer, calls } = await carryOut(request, of('slack'), model)
  expect(calls).toEqual([`slack__slack_post_message ${JSON.stringify(params)}`])
  expect(answer).toMatchObject({ kind: 'called', decidedBy: 'model mock:small' })
  expect(offered).toContain('slack__slack_post_message')
})

it.each<[string, string, string, JsonObject, object]>([
  [
    'drops a value',
    'post "deploy done" to C012345 in thread 17.5',
    'slack__slack_post_message',
    { channel_id: 'C012345', text: 'deploy done' },
    { unplaced: ['thread', '17.5'] },
  ],
  [
    'invents a value',
    'post "deploy done"',
    'slack__slack_post_message',
    { channel_id: 'C999', text: 'deploy done' },
    { missing: ['channel_id'] },
  ],
  [
    'swaps values',
    'mark task task-2 of request req-1 as done',
    'taskmanager__mark_task_done',
    { requestId: 'task-2', taskId: 'req-1' },
    { missing: ['requestId', 'taskId'] },
  ],
  [
    'leaves a required one out',
    'post "deploy done" in slack',
    'slack__slack_post_message',
    { text: 'deploy done' },
    { missing: ['channel_id'] },
  ],
])('calls no tool if a model %s', async (_, request, tool, params, open) => {
  const { model } = scripted(tool, params)
  const { answer, calls } = await carryOut(request, of(tool.split('__')[0] ?? ''), model)
  expect(calls).toEqual([])
  expect(answer).toMatchObject({ kind: 'unsure', tool, decidedBy: 'model mock:small', ...open })
})

it('calls no tool if a model chooses a tool that was not offered, or none', async () => {
  for (const tool of ['slack__delete_workspace', undefined]) {
    const { answer, calls } = await carryOut(
      'post "x" to C012345',
      of('slack'),
      scripted(tool).model,
    )
    expect(calls).toEqual([])
    expect(answer).toMatchObject({ kind: 'unsure', decidedBy: 'model mock:small' })
  }
})

it('calls no tool if the schema refuses the values of a model', async () => {
  const params = { channel_id: 'C012345', text: ['deploy', 'done'] }
  const { model } = scripted('slack__slack_post_message', params)
  const { calls } = await carryOut('post deploy done to C012345', of('slack'), model)
  expect(calls).toEqual([])
})

it('offers a model no tool whose schema its provider would refuse', async () => {
  const dangling = { type: 'object', properties: { to: { $ref: '#/$defs/gone' } } }
  const tools = [
    { name: 'send_note', server: 's', description: 'Send a note', inputSchema: dangling },
    { name: 'send_letter', server: 's', description: 'Send a letter or note' },
  ]
  const { model, offered } = scripted('s__send_letter')
  await carryOut('send a note to somebody', tools, model)
  expect(offered).toEqual(['s__send_letter'])
})

it('calls a tool that only reads with a query that a model composes of what is said', async () => {
  const inputSchema = {
    type: 'object',
    properties: { query: { type: 'string' } },
    required: ['query'],
  }
  const select = {
    name: 'select_query',
    server: 'db',
    description: 'Execute a SELECT query',
    inputSchema,
    annotations: { readOnlyHint: true },
  }
  const query = "SELECT * FROM users WHERE status = 'active'"
  const request = 'Query all users with status active'
  const said = await carryOut(request, [select], scripted('db__select_query', { query }).model)
  expect(said.calls).toEqual([`db__select_query ${JSON.stringify({ query })}`])
  const invented = { query: "SELECT * FROM users WHERE role = 'admin'" }
  const other = await carryOut(request, [select], scripted('db__select_query', invented).model)
  expect(other.calls).toEqual([])
})

it.each<[request: string, params: JsonObject]>([
  ['logs of pod api-1 in namespace shop from the last 10 minutes', { name: 'api-1', since: '10m' }],
  ['logs of pod api-1 in namespace shop in Tokyo time', { name: 'api-1', zone: 'Asia/Tokyo' }],
  [
    'logs of pod api-1 in namespace shop since 5 March 2026',
    { name: 'api-1', since: '2026-03-05' },
  ],
  ['logs of pod api-1 in namespace shop, last five lines', { name: 'api-1', tail: 5 }],
  ['logs of pod api-1 in namespace shop since March 2026', { name: 'api-1', since: '2026-03' }],
  ['logs of pod api-1 in namespace shop since 2pm', { name: 'api-1', since: '14:00' }],
  ['logs of pod api-1 in namespace shop in German', { name: 'api-1', lang: 'de' }],
])('takes a value of a model that follows from the request: %s', async (request, params) => {
  const text = { type: 'string' }
  const logs = {
    name: 'pod_logs',
    server: 'k8s',
    description: 'Get logs of a pod',
    inputSchema: {
      type: 'object',
      properties: {
        name: text,
        namespace: text,
        since: text,
        zone: text,
        lang: text,
        tail: { type: 'number' },
      },
      required: ['name'],
    },
    annotations: { readOnlyHint: true },
  }
  const all = { ...params, namespace: 'shop' }
  const { calls } = await carryOut(request, [logs], scripted('k8s__pod_logs', all).model)
  expect(calls).toEqual([`k8s__pod_logs ${JSON.stringify(all)}`])
})

it.each([
  ['texts', { type: 'string' }, 'a-1', 'b-2'],
  ['lists', { type: 'array', items: { type: 'string' } }, ['a-1'], ['b-2']],
])(
  'asks with a yes in advance if the words do not say which of two %s is which',
  async (_, type, one, other) => {
    const inputSchema = { type: 'object', properties: { one: type, other: type } }
    const link = { name: 'link', server: 's', description: 'Link two things', inputSchema }
    const { calls } = await carryOut(
      'link a-1 and b-2',
      [link],
      scripted('s__link', { one, other }).model,
    )
    expect(calls).toEqual([])
  },
)

it('asks if a model does not choose between the actions of a tool', async () => {
  const mode = { type: 'string', enum: ['list', 'create', 'delete'], default: 'list' }
  const properties = { mode, name: { type: 'string' } }
  const description = 'List, create or delete tags'
  const tag = { name: 'tag', server: 's', description, inputSchema: { type: 'object', properties } }
  const { answer, calls } = await carryOut(
    'tag v-2',
    [tag],
    scripted('s__tag', { name: 'v-2' }).model,
  )
  expect(calls).toEqual([])
  expect(answer).toMatchObject({ kind: 'unsure', missing: ['mode'] })
})

it('asks for no action of a tool if a value explains the verb of the request', async () => {
  const text = { type: 'string' }
  const status = { type: 'string', enum: ['resolved', 'ignored'] }
  const update = {
    name: 'update_issue',
    server: 's',
    description: 'Update an issue: assign it, or set it to resolved or ignored',
    inputSchema: {
      type: 'object',
      properties: { issue: text, assignedTo: text, status },
      required: ['issue'],
    },
  }
  const params = { issue: 'WEB-17', assignedTo: 'ann@acme.com' }
  const { model } = scripted('s__update_issue', params)
  const plain = await carryOut('assign issue WEB-17 to ann@acme.com', [update], model)
  expect(plain.calls).toEqual([`s__update_issue ${JSON.stringify(params)}`])
  const both = 'assign issue WEB-17 to ann@acme.com and set it to resolved'
  expect((await carryOut(both, [update], model)).calls).toEqual([])
})

it('offers a model the tools whose names have the initials of a request', async () => {
  const others = Array.from({ length: 30 }, (_, at) => ({
    name: `open_page_${at}`,
    server: 'web',
    description: 'Opens a page titled as you say',
  }))
  const create = { name: 'create_pull_request', server: 'hub', description: 'Creates one' }
  const { model, offered } = scripted('hub__create_pull_request')
  await carryOut('open a PR titled "Fix"', [...others, create], model)
  expect(offered).toContain('hub__create_pull_request')
})

it('offers a model the tools that take the values of a request, though no word names them', async () => {
  const path = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }
  const others = Array.from({ length: 30 }, (_, at) => ({
    name: `open_node_${at}`,
    server: 'graph',
    description: 'Open nodes',
  }))
  const read = { name: 'read_text', server: 'files', description: 'Reads text', inputSchema: path }
  const { model, offered } = scripted('files__read_text', { path: 'notes/plan.md' })
  await carryOut('open notes/plan.md', [...others, read], model)
  expect(offered).toHaveLength(20)
  expect(offered).toContain('files__read_text')
})
