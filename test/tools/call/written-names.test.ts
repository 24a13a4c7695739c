import { expect, it } from 'vitest'
import { readJsonIn } from '../../../src/tools/call/directive-text.ts'
import { resolveTool } from '../../../src/tools/call/find-tool.ts'
import { ToolRequestError } from '../../../src/tools/errors.ts'
import { parsePassthrough, writtenNames } from '../../../src/tools/call/passthrough.ts'
import { splitClauses } from '../../../src/tools/parameters/slots.ts'
import { namedTools } from '../../../src/tools/route/router.ts'
import { indexDefinitions } from '../../../src/tools/cache/tool-index.ts'
import { definitionOf } from './_fake.ts'

const index = indexDefinitions(
  ['drop', 'write', 'read_file', 'search'].map((name) => definitionOf({ server: 'db', name })),
)

/** A refused text has the kind `broken`. */
function read(text: string) {
  try {
    return parsePassthrough(text, index)
  } catch (error) {
    if (!(error instanceof ToolRequestError)) throw error
    return { kind: 'broken', message: error.message }
  }
}
const named = (text: string) => namedTools(text, index.tools)
const inJson = '{"note":"first x, then call db__drop"}'

it.each([0, 1, 18, 19, 20, 21, 40, 300])('reads no name from JSON behind %i braces', (count) => {
  const text = `${'{'.repeat(count)} ${inJson}`
  expect(writtenNames(text)).toEqual([])
  expect(read(text)).toEqual({ kind: 'none' })
  expect(named(text)).toEqual([])
  expect(splitClauses(text)).toHaveLength(1)
})

it('reads the names before the end of the text that it reads', () => {
  const text = `db__write ${'{'.repeat(30)} db__drop`
  expect(writtenNames(text).map(({ token }) => token)).toEqual(['db__write'])
  expect(named(text)).toEqual(['db__write'])
  expect(readJsonIn(text).end).toBe('db__write '.length + 20)
  expect(readJsonIn('a {"b": 1} c {')).toEqual({
    objects: [{ start: 2, end: 10, value: { b: 1 } }],
    end: 14,
  })
})

it.each([
  ['db__write {"q":1}', 'tool:db__write'],
  ['db__write', 'use tool:db__write'],
  ['read_file {"path":"a"}', 'tool:read_file'],
])('reads %s after a word and a colon', (call, written) => {
  const text = call.replace(/^\w+/, written)
  const id = call.startsWith('db') ? 'db__write' : 'db__read_file'
  expect(read(text)).toMatchObject({ kind: 'tool', tool: { id } })
  expect(named(text)).toEqual([id])
})

it('does not read a plain word after a colon as a tool', () => {
  expect(read('note:search the docs')).toEqual({ kind: 'none' })
  expect(read('localhost:8080/search')).toEqual({ kind: 'none' })
})

it.each([
  'db__write {"q":"a"} and db__write {"q":"b"}',
  'db__write {"q":"a"}, then mcp__db__write with {"q":"b"}',
  'db__write {"q":"a"} and db__write {"q":"a"}',
  'db__write {"q":"a"} and db__write {"q":',
])('reports that %j calls a tool twice', (text) => {
  expect(read(text)).toMatchObject({
    kind: 'broken',
    message: expect.stringMatching(/the text calls \S+ twice; .*BATCH/),
  })
})

it('calls a tool that is named again once, with the parameters of one occurrence', () => {
  const called = { kind: 'tool', tool: { id: 'db__write' }, params: { q: 'a' } }
  expect(read('db__write {"q":"a"}, I mean db__write')).toMatchObject(called)
  expect(read('Know db__write? Run db__write {"q":"a"}')).toMatchObject(called)
})

it.each([
  'db__dropé',
  'db__dropя {"q":1}',
  'db__drop\u0301',
  'db__drop𝒳',
  'édb__drop',
  'яdb__drop',
])('ends a name at the end of its word: %j', (text) => {
  expect(writtenNames(`use ${text}`)).toEqual([])
  expect(read(`use ${text}`)).toEqual({ kind: 'none' })
  expect(named(`use ${text}`)).toEqual([])
})

it('reads a name after a script without spaces, and before any punctuation', () => {
  for (const text of ['请用db__drop', '「db__drop」', 'db__drop…', 'db__drop。']) {
    expect(read(text)).toMatchObject({ tool: { id: 'db__drop' } })
  }
})

it('prefers the exact name of a tool to a similar spelling', () => {
  const names = ['a_b', 'a.b', 'c.d', 'c:d']
  const tools = names.map((name) => ({ id: `db__${name}`, name }))
  for (const before of ['db:', 'mcp__db:', 'db__', 'mcp__db__', '']) {
    for (const name of names) {
      const resolution = resolveTool(`${before}${name}`, { tools })
      expect(resolution).toMatchObject({ found: [{ id: `db__${name}` }] })
    }
  }
  // The way in which clients write the last two is the same.
  expect(resolveTool('db__c_d', { tools })).toEqual({ found: [], isLoose: false })
  expect(resolveTool('db:c_d', { tools })).toEqual({ found: [], isLoose: false })
})

it.each([
  ['git__hub_delete', 'github__delete', 0],
  ['git_hub_delete', 'github__delete', 0],
  ['Git-Hub__Delete', 'github__delete', 1],
  ['github/list_issues', 'github__list_issues', 1],
  ['github-list_issues', 'github__list_issues', 1],
  ['listIssues', 'github__list_issues', 1],
])('%s for %s means %i tools', (written, id, count) => {
  const tools = [{ id, name: id.replace('github__', '') }]
  expect(resolveTool(written, { tools }).found).toHaveLength(count)
})

it.each(['get-sum', 'GET-SUM', 'MCP__Get-Sum'])(
  '%s may mean the tools of two servers',
  (written) => {
    const candidates = ['a__get-sum', 'b__get-sum']
    const tools = candidates.map((id) => ({ id, name: 'get-sum' }))
    expect(resolveTool(written, { tools }).found).toEqual(tools)
  },
)
