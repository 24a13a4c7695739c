import { expect, it } from 'vitest'
import { type FakeTool } from '../call/_fake.ts'
import { modelThatCalls, outcomeOf, toolsOfPart } from './_measure.ts'
import { carryOut, listedTools } from './_servers.ts'

const allTools = [
  ...toolsOfPart('tried'),
  ...toolsOfPart('held-out'),
  ...listedTools.filter(({ server }) => server === 'taskmanager'),
]
const of = (server: string) => allTools.filter((tool) => tool.server === server)

it.each([
  ['github', 'update issue 5 in octo/site', ['title', 'body']],
  ['taskmanager', 'update task task-1 of request req-2', ['title', 'description']],
  ['trello', 'update card details of card 64ab12', ['name']],
  ['desktop', 'edit block in src/a.ts', ['new_string']],
])(
  'asks what changes if %s gets only what identifies a thing: %s',
  async (server, request, unset) => {
    const { answer, calls } = await carryOut(request, of(server))
    expect(calls).toEqual([])
    expect(answer).toMatchObject({ kind: 'unsure', missing: [], unplaced: [], unset })
  },
)

it.each([
  ['github', 'merge PR 5 in octo/site', 'github__merge_pull_request'],
  ['github', 'fork repository octo/site', 'github__fork_repository'],
  ['trello', 'delete comment c5', 'trello__delete_comment'],
  ['trello', 'archive card 64ab12', 'trello__archive_card'],
  ['browser', 'close page 3', 'browser__close_page'],
  ['git', 'git tag', 'git__git_tag'],
  ['git', 'git status of /home/ann/app', 'git__git_status'],
])('calls a tool of %s that needs no more than the thing: %s', async (server, request, tool) => {
  const { calls } = await carryOut(request, of(server))
  expect(calls.map((call) => call.split(' ')[0])).toEqual([tool])
})

const id = { type: 'string' }
const text = { type: 'string' }

function pairOf(first: object, second: object): FakeTool[] {
  return [
    { server: 's', description: '', ...first, name: 'alter_note' },
    { server: 's', description: 'Store a note', ...second, name: 'store_note' },
    { server: 's', description: 'Ring a bell', name: 'ring_bell' },
  ]
}

const optional = { type: 'object', properties: { noteId: id, text }, required: ['noteId'] }
const needs = { type: 'object', properties: { text }, required: ['text'] }

it.each<[string, FakeTool[], number]>([
  ['a sibling requires a parameter', pairOf({ inputSchema: optional }, { inputSchema: needs }), 0],
  [
    'the description has a parameter as its object',
    pairOf({ description: 'Alter the text of a note', inputSchema: optional }, {}),
    0,
  ],
  [
    'a sibling requires a token beside the identity',
    pairOf(
      { inputSchema: { ...optional, properties: { noteId: id, noteToken: text } } },
      { inputSchema: { ...needs, properties: { noteToken: text }, required: ['noteToken'] } },
    ),
    1,
  ],
  ['no schema says what is changed', pairOf({ inputSchema: optional }, {}), 1],
  [
    'the parameter has a default',
    pairOf(
      { inputSchema: { ...optional, properties: { noteId: id, text: { ...text, default: 'x' } } } },
      { inputSchema: needs },
    ),
    1,
  ],
])('asks for a property only where schemas tell: %s', async (_, tools, count) => {
  const call = { tool: 's__alter_note', params: { noteId: 'n-1' } }
  const { calls } = await carryOut('alter note n-1', tools, modelThatCalls(call))
  expect(calls).toHaveLength(count)
})

it('shows a user what is open before a call that changes nothing', async () => {
  const call = {
    tool: 'github__update_issue',
    params: { owner: 'octo', repo: 'site', issue_number: 5 },
  }
  const { made, asked } = await outcomeOf(
    'update issue 5 in octo/site',
    of('github'),
    modelThatCalls(call),
  )
  expect(made).toEqual([])
  expect(asked?.unusual).toBe('The request does not say what changes: title, body.')
})
