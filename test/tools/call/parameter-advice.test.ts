import type { JsonObject } from '../../../src/core/json.ts'
import { expect, it } from 'vitest'
import { callTool } from '../../../src/tools/call/call-tool.ts'
import { InvalidParametersError } from '../../../src/tools/errors.ts'
import { unknownParameters } from '../../../src/tools/call/check-parameters.ts'
import { definitionOf, toolFixture } from './_fake.ts'

const issue: JsonObject = {
  type: 'object',
  properties: {
    owner: { type: 'string' },
    repo: { type: 'string' },
    number: { type: 'integer' },
    state: { enum: ['open', 'closed'] },
    filter: {
      type: 'object',
      properties: { label: { type: 'string' }, since: { type: 'string' } },
      required: ['label'],
    },
  },
  required: ['owner', 'repo', 'state'],
}

async function hintFor(params: JsonObject, schema = issue): Promise<string | undefined> {
  const { context } = toolFixture([{ name: 'get_issue', inputSchema: schema }])
  try {
    await callTool({ tool: 'fake__get_issue', params }, context)
  } catch (error) {
    if (error instanceof InvalidParametersError) return error.hint
    throw error
  }
  return 'called'
}

it.each<[JsonObject, string]>([
  [{ owner: 'o' }, '{"owner":"o","repo":"<string>","state":"<open | closed>"}'],
  [
    { owner: "o'k", repo: 'r', number: 'two' },
    String.raw`{"owner":"o'\''k","repo":"r","number":"<integer>","state":"<open | closed>"}`,
  ],
  [
    { owner: 'o', repo: 'x'.repeat(1000) },
    '{"owner":"o","repo":"<as before>","state":"<open | closed>"}',
  ],
])('prints the call to complete for %j', async (params, json) => {
  expect(await hintFor(params)).toBe(`Complete it: skillrail tools call fake__get_issue '${json}'`)
})

it('names the parameter that a misspelt one may mean', async () => {
  const params = { owner: 'o', rep: 'r', state: 'open' }
  const call = `Complete it: skillrail tools call fake__get_issue '{"owner":"o","rep":"r","state":"open","repo":"<string>"}'`
  expect(await hintFor(params)).toBe(
    `\`rep\` is not a parameter of fake__get_issue; did you mean \`repo\`?\n${call}`,
  )
  expect(await hintFor(params, { ...issue, additionalProperties: false })).toBe(call)
})

it('prints no call to complete if only a value is wrong', async () => {
  expect(await hintFor({ owner: 1, repo: 'r', state: 'open' })).toBeUndefined()
})

const limit: JsonObject = { type: 'object', properties: { limit: {}, page: {} } }

it.each<[JsonObject, JsonObject, string[]]>([
  [limit, { limt: 1 }, ['`limt` is not a parameter of fake__t; did you mean `limit`?']],
  [limit, { colour: 1 }, ['`colour` is not a parameter of fake__t; it has limit, page.']],
  [
    { type: 'object', properties: {} },
    { a: 1 },
    ['`a` is not a parameter of fake__t; it has none.'],
  ],
  [limit, { limit: 1, page: 2 }, []],
  [{ type: 'object' }, { any: 1 }, []],
  [{ ...limit, additionalProperties: true }, { colour: 1 }, []],
  [
    { ...limit, additionalProperties: { type: 'string' } },
    { limt: 'x' },
    ['`limt` is not a parameter of fake__t; did you mean `limit`?'],
  ],
  [{ ...limit, anyOf: [{ properties: { colour: {} } }] }, { colour: 1 }, []],
])('%j with %j: %j', (inputSchema, params, notes) => {
  expect(unknownParameters(definitionOf({ name: 't', inputSchema }), params)).toEqual(notes)
})

it('makes a call with unknown parameters, and reports them', async () => {
  const { context, calls } = toolFixture([{ name: 't', inputSchema: limit }])
  const { status, notes } = await callTool({ tool: 't', params: { limt: 1 } }, context)
  expect({ status, notes, calls }).toEqual({
    status: 'success',
    notes: ['`limt` is not a parameter of fake__t; did you mean `limit`?'],
    calls: ['fake__t {"limt":1}'],
  })
})

it('uses the only tool whose name differs in hyphens, underscores, dots or case', async () => {
  const { context } = toolFixture([{ name: 'get-sum' }, { name: 'get-list' }])
  for (const name of ['get_sum', 'Get.Sum', 'fake__get_sum', 'mcp__fake__get_sum']) {
    const { tool, notes } = await callTool({ tool: name, params: {} }, context)
    expect([tool.id, notes]).toEqual(['fake__get-sum', [expect.stringContaining(name)]])
  }
  expect((await callTool({ tool: 'get-sum', params: {} }, context)).notes).toEqual([])
})

it('suggests tools if several differ only in that', async () => {
  const { context } = toolFixture([
    { name: 'get-sum', server: 'a' },
    { name: 'get-sum', server: 'b' },
  ])
  await expect(callTool({ tool: 'get_sum', params: {} }, context)).rejects.toMatchObject({
    code: 'tool-not-found',
    message: expect.stringContaining('Suggestions: a__get-sum, b__get-sum\n'),
  })
})
