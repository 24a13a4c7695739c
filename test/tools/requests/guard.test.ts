import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../../../src/core/json.ts'
import type { FakeTool } from '../call/_fake.ts'
import { modelThatCalls } from './_measure.ts'
import { carryOut } from './_servers.ts'

const text = { type: 'string' }
const number = { type: 'number' }

function toolOf(
  name: string,
  description: string,
  properties: Readonly<Record<string, JsonObject>>,
  required: string[] = [],
): FakeTool {
  const inputSchema = { type: 'object', properties, required }
  return { server: 's', name, description, inputSchema }
}

const merge = toolOf(
  'merge_request',
  'Merge a request',
  {
    request_number: number,
    version: number,
    strategy: { enum: ['merge-commit', 'squash'], type: 'string' },
    close: { type: 'boolean', default: false },
  },
  ['request_number'],
)
const label = toolOf(
  'create_label',
  'Create a label',
  { name: text, shown: { enum: ['labelShow', 'labelHide'], type: 'string' } },
  ['name'],
)
const scale = toolOf(
  'scale',
  'Scale a deployment',
  { name: text, replicas: number, kind: { ...text, default: 'deployment' } },
  ['name', 'replicas'],
)
const diff = toolOf('compare', 'Compare commits', { source: text, target: text })
const subtask = toolOf(
  'add_subtask',
  'Add a story to another one',
  { parentStoryId: number, subTaskId: number },
  ['parentStoryId', 'subTaskId'],
)
const pods = toolOf('run_pods', 'Run pods', {
  namespace: text,
  allNamespaces: { type: 'boolean', default: false },
})
const update = toolOf(
  'update_task',
  'Update a task',
  { task_id: text, name: text, assignee: text, due_on: { ...text, description: 'Due date' } },
  ['task_id'],
)
const event = toolOf(
  'drop_event',
  'Drop an event of a calendar',
  { calendarId: text, eventId: text },
  ['calendarId', 'eventId'],
)

const review = toolOf(
  'set_verdict',
  'Set the verdict of a review: APPROVED or REJECTED',
  { review_number: number, verdict: { enum: ['APPROVED', 'REJECTED'], type: 'string' } },
  ['review_number', 'verdict'],
)

const log = toolOf('log_work', 'Log work on an item', { itemId: text, timeSpent: text }, [
  'itemId',
  'timeSpent',
])
const tag = toolOf(
  'add_labels',
  'Add, set or remove labels of an item',
  {
    itemId: text,
    labels: { type: 'array', items: text },
    operation: { enum: ['add', 'set', 'remove'], default: 'add' },
  },
  ['itemId', 'labels'],
)
const stop = toolOf('stop_container', 'Stop a container', { container_id: text }, ['container_id'])

const jump = toolOf(
  'jump_to',
  'Jump to a branch or a commit',
  { target: text, createBranch: { type: 'boolean', default: false } },
  ['target'],
)
const solve = toolOf(
  'update_issue',
  'Update an issue: resolve or ignore it',
  { issue: number, status: { enum: ['resolved', 'resolvedInNextRelease', 'ignored'] } },
  ['issue'],
)
const fork = toolOf('fork_repository', 'Fork a repository', { owner: text, repo: text }, [
  'owner',
  'repo',
])
const note = toolOf(
  'comment_pull_request',
  'Comment on a request',
  { number, title: { ...text, description: 'Heading' } },
  ['number'],
)
const cut = toolOf('cut_branch', 'Cut a branch', { project_id: text, branch: text, ref: text }, [
  'project_id',
  'branch',
])
const move = toolOf(
  'move_card',
  'Move a card to another list',
  { cardId: text, listId: { ...text, description: 'ID of the target list' } },
  ['cardId', 'listId'],
)

const call = (tool: FakeTool, params: JsonObject) => ({ tool: `s__${tool.name}`, params })

async function callsBy(request: string, tool: FakeTool, params: JsonObject): Promise<JsonValue[]> {
  const { calls } = await carryOut(request, [tool], modelThatCalls(call(tool, params)))
  return calls.map((line) => JSON.parse(line.slice(line.indexOf(' '))))
}

describe('a call of a model that may change something', () => {
  it.each<[string, FakeTool, JsonObject]>([
    ['merge request 17', merge, { request_number: 17, version: 17 }],
    ['merge request 17', merge, { request_number: 17, strategy: 'merge-commit' }],
    ['create a label "Paid"', label, { name: 'Paid', shown: 'labelShow' }],
    ['scale the deployment web to 3 replicas', scale, { name: 'web', replicas: 3 }],
    ['compare HEAD~1 HEAD', diff, { source: 'HEAD~1' }],
    ['add story 413 as subtask of story 412', subtask, { parentStoryId: 413, subTaskId: 412 }],
    ['run pods in the namespace shop', pods, { namespace: 'shop', allNamespaces: true }],
    ['drop event ev-7 of calendar work', event, { calendarId: 'ev-7', eventId: 'work' }],
    ['why was request 17 merged', merge, { request_number: 17 }],
    ['should request 17 be merged', merge, { request_number: 17 }],
    ['we merged request 17', merge, { request_number: 17 }],
    ['drop all events of calendar work', event, { calendarId: 'work', eventId: 'events' }],
    ['approve review 17', review, { review_number: 17, verdict: 'REJECTED' }],
    ['drop the latest event of calendar work', event, { calendarId: 'work', eventId: 'latest' }],
    ['merge request 17 unless you need it', merge, { request_number: 17 }],
    ['log "2h 30m" of work on WEB-412', log, { itemId: '2h 30m', timeSpent: 'WEB-412' }],
    ['drop event ev-7 of calendar work under 7', event, { calendarId: 'work', eventId: 'ev-7' }],
    ['merge request 17 when done', merge, { request_number: 17 }],
    ['merge 17 requests', merge, { request_number: 17 }],
    ['jump to branch dev', jump, { target: 'dev', createBranch: true }],
    ['resolve issue 7', solve, { issue: 7, status: 'resolvedInNextRelease' }],
    [
      'set the due date of task t-1 to 2026-12-24',
      update,
      { task_id: 't-1', due_on: '2026-12-24', name: 'due' },
    ],
    ['rename task t-1 to "Paint"', update, { task_id: 't-1', name: 'Paint', assignee: 'rename' }],
    ['fork octo/hello', fork, { owner: 'octo/hello', repo: 'hello' }],
    ['comment on PR 7', note, { number: 7, title: 'PR' }],
    [
      'cut branch a-1 from b-2 in octo/hello',
      cut,
      { project_id: 'b-2', branch: 'a-1', ref: 'octo/hello' },
    ],
    ['move card c-7 from list l-3', move, { cardId: 'c-7', listId: 'l-3' }],
  ])(
    'is not made if a value is invented, dropped or swapped: %s',
    async (request, tool, params) => {
      expect(await callsBy(request, tool, params)).toEqual([])
    },
  )

  it.each<[string, FakeTool, JsonObject]>([
    ['approve review 17', review, { review_number: 17, verdict: 'APPROVED' }],
    ['can you merge request 17?', merge, { request_number: 17 }],
    ['merge request 17 by squash', merge, { request_number: 17, strategy: 'squash' }],
    ['rename task t-1 to "Paint"', update, { task_id: 't-1', name: 'Paint' }],
    ['assign task t-1 to "ann@acme.com"', update, { task_id: 't-1', assignee: 'ann@acme.com' }],
    [
      'set the due date of task t-1 to 2026-12-24',
      update,
      { task_id: 't-1', due_on: '2026-12-24' },
    ],
    ['drop event ev-7 of calendar work', event, { calendarId: 'work', eventId: 'ev-7' }],
    ['jump to branch dev', jump, { target: 'dev' }],
    ['jump to branch dev and create the branch', jump, { target: 'dev', createBranch: true }],
    ['resolve issue 7', solve, { issue: 7, status: 'resolved' }],
    ['fork octo/hello', fork, { owner: 'octo', repo: 'hello' }],
    ['comment on PR 7', note, { number: 7 }],
    ['move card c-7 to list l-3', move, { cardId: 'c-7', listId: 'l-3' }],
    ['log "2h 30m" of work on WEB-412', log, { itemId: 'WEB-412', timeSpent: '2h 30m' }],
    [
      'add the labels red and blue to item WEB-412',
      tag,
      { itemId: 'WEB-412', labels: ['red', 'blue'] },
    ],
  ])('is made if all values are said: %s', async (request, tool, params) => {
    expect(await callsBy(request, tool, params)).toEqual([params])
  })

  it('is made without a default that nobody says', async () => {
    const made = await callsBy('merge request 17', merge, { request_number: 17, close: false })
    expect(made).toEqual([{ request_number: 17 }])
  })
})

it.each([
  'why was request 17 merged?',
  'is request 17 merged',
  'request 17 is merged',
  'when did somebody merge request 17?',
  'tell me how to merge request 17',
  'get request 17 and merge it',
  'can I merge request 17?',
])('calls no tool that may change something for a question or a report: %s', async (request) => {
  expect((await carryOut(request, [merge])).calls).toEqual([])
  expect((await carryOut('merge request 17', [merge])).calls).toHaveLength(1)
})

it('answers a question by a tool whose description says that it reads', async () => {
  const about = toolOf('task_details', 'Get the details of a task', { task_id: text }, ['task_id'])
  const { calls } = await carryOut('what are the details of task t-1', [about])
  expect(calls).toEqual(['s__task_details {"task_id":"t-1"}'])
})

it.each([
  'stop every container but db-2',
  'stop container db-2 if needed',
  'stop container db-2 when done',
  'stop container db-2 or not',
  'stop container db-2 and everything related',
  'stop what is in container db-2',
  'stop the containers under db-2',
  "don't stop container db-2",
  'nobody should stop container db-2',
  'stop container db-2 unless you need it',
  'stop all but container db-2',
  'stop a container like db-2',
])(
  'calls no tool that may change something for a condition or an exception: %s',
  async (request) => {
    expect((await carryOut(request, [stop])).calls).toEqual([])
    for (const plain of ['stop container db-2', 'I would like you to stop container db-2'])
      expect((await carryOut(plain, [stop])).calls).toHaveLength(1)
  },
)

describe('tools of one server that take the same values', () => {
  const values = { request_id: text, task_id: text }
  const ids = ['request_id', 'task_id']
  const done = toolOf('mark_task_done', 'Mark a task as done, to approve it later', values, ids)
  const approve = toolOf('approve_task', 'Approve a task that was marked', values, ids)
  const next = {
    ...toolOf('get_next_task', 'Get the task to mark as done next', { request_id: text }, [
      'request_id',
    ]),
    annotations: { readOnlyHint: true },
  }
  const edit = toolOf('update_task', 'Update a task', { ...values, title: text }, ids)
  const show = {
    ...toolOf('get_task', 'Get a task', values, ids),
    annotations: { readOnlyHint: true },
  }
  const params = { request_id: 'r-3', task_id: 't-7' }
  const list = toolOf('update_list', 'Update a list', { list_id: text, name: text }, ['list_id'])
  const card = toolOf('add_card_to_list', 'Add a card to a list', { list_id: text, name: text }, [
    'list_id',
    'name',
  ])

  it.each([
    ['mark task t-7 of request r-3 as done', [done]],
    ['mark task t-7 of request r-3 as not done', []],
    ['mark the next task of request r-3 as done', []],
  ])('are distinguished by the verb and by a negation: %s', async (request, called) => {
    const { calls } = await carryOut(request, [done, approve, next])
    expect(calls.map((line) => line.split(' ')[0])).toEqual(called.map(({ name }) => `s__${name}`))
  })

  it.each([
    ['mark task t-7 of request r-3 as done', done, approve],
    ['approve task t-7 of request r-3', approve, done],
    ['task t-7 of request r-3', show, edit],
  ])('are not exchanged by a model without a question: %s', async (request, right, wrong) => {
    const made = async (tool: FakeTool) =>
      (await carryOut(request, [right, wrong], modelThatCalls(call(tool, params)))).calls
    expect(await made(right)).toHaveLength(1)
    expect(await made(wrong)).toEqual([])
  })

  it('are not exchanged for one whose name has more words that the request does not say', async () => {
    const made = async (tool: FakeTool) => {
      const model = modelThatCalls(call(tool, { list_id: 'l-3', name: 'Done' }))
      return (await carryOut('rename list l-3 to "Done"', [list, card], model)).calls
    }
    expect(await made(list)).toHaveLength(1)
    expect(await made(card)).toEqual([])
  })
})

it.each([
  ['close page 2', 1],
  ['close 2 pages', 0],
  ['close the last 2 open pages', 0],
])('reads a number before a plural as a count, not as an ID: %s', async (request, count) => {
  const close = toolOf('close_page', 'Close an open page', { pageId: number }, ['pageId'])
  expect((await carryOut(request, [close])).calls).toHaveLength(count)
})

describe('a request to see something', () => {
  const reads = { annotations: { readOnlyHint: true } }
  const one = toolOf('get_issue', 'Get an issue', { issueId: text }, ['issueId'])
  const links = toolOf('get_issue_links', 'Get the links of an issue', { issueId: text }, [
    'issueId',
  ])
  const moves = toolOf('get_transitions', 'Get transitions of an issue', { issueId: text }, [
    'issueId',
  ])
  const tools = [one, links, moves].map((tool) => ({ ...tool, ...reads }))

  it.each([
    ['show issue WEB-412', 's__get_issue'],
    ['find the links of issue WEB-412', 's__get_issue_links'],
    ['view the transitions of WEB-412', 's__get_transitions'],
    ['count issue WEB-412', undefined],
    ['close issue WEB-412', undefined],
    ['transition WEB-412 to Done', undefined],
    ['transition WEB-412', undefined],
  ])('is answered by a tool that reads, whatever its verb: %s', async (request, tool) => {
    const { calls } = await carryOut(request, tools)
    expect(calls).toEqual(tool === undefined ? [] : [`${tool} {"issueId":"WEB-412"}`])
  })

  it('is not decided by the values if two servers have a tool of the same name', async () => {
    const dated = toolOf('list_events', 'List events', { calendarId: text, timeMin: text }, [
      'calendarId',
    ])
    const other = toolOf('list_events', 'List events', { from: text, to: text })
    const request = 'list events from 2026-12-01 to 2026-12-05'
    // Also not by the order of the servers.
    for (const server of ['google', 'zoho']) {
      const both = [
        { ...dated, ...reads, server },
        { ...other, ...reads, server: 'mail' },
      ]
      expect((await carryOut(request, both)).calls).toEqual([])
      expect((await carryOut(`${request} in mail`, both)).calls).toHaveLength(1)
    }
  })
})
