import { expect, it, vi } from 'vitest'
import type { CallGate } from '../../../src/tools/call/context.ts'
import { callTool } from '../../../src/tools/call/call-tool.ts'
import { indexDefinitions, type ToolIndex } from '../../../src/tools/cache/tool-index.ts'
import { ToolCallError, ToolRefusedError } from '../../../src/tools/errors.ts'
import { definitionOf, failed, type FakeTool, fakeWorld, structured, text } from './_fake.ts'

const echo: FakeTool = {
  name: 'get_echo',
  inputSchema: {
    type: 'object',
    properties: { message: { type: 'string' }, times: { type: 'integer' } },
    required: ['message'],
    additionalProperties: false,
  },
  answer: ({ message }) => text(`Echo: ${JSON.stringify(message)}`),
}

it('calls the tool with its own name and reports the outcome', async () => {
  const { context, calls, records } = fakeWorld([echo])
  const report = await callTool({ tool: 'fake__get_echo', params: { message: 'hi' } }, context)
  expect(report).toMatchObject({ status: 'success', attempts: 1, notes: [], diagnostics: [] })
  expect(calls).toEqual(['fake__get_echo {"message":"hi"}'])
  expect(records).toMatchObject([{ tool: 'fake__get_echo', outcome: 'success', size: 10 }])
})

it.each([['MetaMCP_fake__get_echo'], ['mcp__fake__get_echo'], ['FAKE__Get_Echo'], ['get_echo']])(
  'finds the tool by %s',
  async (tool) => {
    const { context } = fakeWorld([echo])
    expect(await callTool({ tool, params: { message: 'x' } }, context)).toMatchObject({
      tool: { id: 'fake__get_echo' },
    })
  },
)

it('refuses a bare name that two servers have, naming both', async () => {
  const { context, calls } = fakeWorld([echo, { ...echo, server: 'other' }])
  await expect(callTool({ tool: 'get_echo', params: {} }, context)).rejects.toThrow(
    'several servers have a tool get_echo: fake__get_echo, other__get_echo',
  )
  expect(calls).toEqual([])
})

it('says what is missing and what is wrong, in the text of the seed, before any call', async () => {
  const { context, calls } = fakeWorld([echo])
  const attempt = callTool({ tool: 'get_echo', params: { times: 'two', mesage: 'x' } }, context)
  await expect(attempt).rejects.toMatchObject({
    code: 'invalid-parameters',
    exitCode: 2,
    message: [
      'Error: invalid parameters for fake__get_echo',
      'Missing: message',
      'Invalid: mesage is not a parameter (did you mean message?); times must be integer',
      'Expected: message: string, times: integer',
      'Next: correct the values',
    ].join('\n'),
  })
  const missing = callTool({ tool: 'get_echo', params: {} }, context)
  await expect(missing).rejects.toThrow(/Expected: message: string\nNext: provide missing values$/)
  expect(calls).toEqual([])
})

it('suggests three to five tools for an id that no server has, after asking the servers once', async () => {
  const tools = ['take_screenshot', 'take_snapshot', 'click', 'hover', 'fill'].map((name) => ({
    name,
    server: 'chrome',
  }))
  const discover = vi.fn<() => Promise<ToolIndex>>(async () =>
    indexDefinitions(tools.map(definitionOf)),
  )
  const { context } = fakeWorld(tools, { discover })
  const attempt = callTool({ tool: 'chrome__take_screnshot', params: {} }, context)
  await expect(attempt).rejects.toMatchObject({
    exitCode: 3,
    message: expect.stringMatching(
      /^Error: Tool not found: chrome__take_screnshot\nSuggestions: chrome__take_screenshot(?:, \w+){2,4}\nNext: confirm the intended tool or run skillrail tools refresh\.$/,
    ),
  })
  const again = callTool({ tool: 'nobody__x', params: {} }, context)
  await expect(again).rejects.toThrow('Known prefixes: chrome__')
  expect(discover).toHaveBeenCalledTimes(1)
})

it('asks the servers before it takes a tool in another spelling', async () => {
  const [near, real] = [{ name: 'get-sum' }, { name: 'get_sum' }]
  const world = fakeWorld([near])
  world.context.discover = async () => indexDefinitions([near, real].map(definitionOf))
  await callTool({ tool: 'fake__get_sum', params: {} }, world.context)
  expect(world.calls).toEqual(['fake__get_sum {}'])
})

it('finds a tool that only discovery knows', async () => {
  const world = fakeWorld([echo])
  world.context.index = indexDefinitions([])
  world.context.discover = async () => indexDefinitions([definitionOf(echo)])
  const report = await callTool({ tool: 'fake__get_echo', params: { message: 'x' } }, world.context)
  expect(report.status).toBe('success')
})

it('asks the server for a definition that the cache does not have', async () => {
  const { context } = fakeWorld([echo])
  const { index } = context
  context.index = { tools: index.tools, definition: () => undefined }
  await expect(callTool({ tool: 'get_echo', params: {} }, context)).rejects.toThrow(
    'Missing: message',
  )
})

it.each([
  [{ allow: ['read_*'] }],
  [{ deny: ['get_echo'] }],
  [{ allow: ['get_*'], deny: ['fake__get_e*'] }],
  [{ allow: [] }],
])('calls nothing that the lists %o forbid', async (lists) => {
  const { context, calls } = fakeWorld([echo], { rules: () => ({ trusted: true, ...lists }) })
  const attempt = callTool({ tool: 'get_echo', params: { message: 'x' } }, context)
  await expect(attempt).rejects.toThrow(ToolRefusedError)
  await expect(attempt).rejects.toMatchObject({ exitCode: 4, code: 'tool-denied' })
  expect(calls).toEqual([])
})

it('calls nothing that is held back', async () => {
  const hold = (): { message: string; hint: string } => ({ message: 'it changed', hint: 'accept' })
  const { context, calls } = fakeWorld([echo], { hold })
  await expect(callTool({ tool: 'get_echo', params: { message: 'x' } }, context)).rejects.toThrow(
    'it changed',
  )
  expect(calls).toEqual([])
})

it('repeats a call that only reads, says so, and reports every attempt when all fail', async () => {
  const flaky: FakeTool = {
    name: 'get_flaky',
    answer: (_, _options, attempt) => (attempt === 1 ? failed('busy') : text('ok')),
  }
  const broken: FakeTool = {
    name: 'get_broken',
    answer: (_, _options, attempt) => failed(`error ${attempt}`),
  }
  const { context, calls } = fakeWorld([flaky, broken])
  expect(await callTool({ tool: 'get_flaky', params: {} }, context)).toMatchObject({
    status: 'success',
    attempts: 2,
    notes: ['A retry was needed: succeeded on attempt 2.'],
  })
  expect(await callTool({ tool: 'get_broken', params: {} }, context)).toMatchObject({
    status: 'error',
    report: {
      tool: 'fake__get_broken',
      attempts: 3,
      errors: ['Attempt 1: error 1', 'Attempt 2: error 2', 'Attempt 3: error 3'],
      suggestion: 'Read the error message and correct the parameters',
    },
  })
  expect(calls).toHaveLength(5)
})

it('never repeats a call that may have acted, and says that its delivery is unknown', async () => {
  const lost: FakeTool = {
    name: 'create_issue',
    answer: () => {
      throw new ToolCallError({ kind: 'connection-lost', message: 'gone', delivered: 'unknown' })
    },
  }
  const { context, calls } = fakeWorld([lost])
  const report = await callTool({ tool: 'create_issue', params: {} }, context)
  expect(report).toMatchObject({ status: 'error', attempts: 1 })
  expect(report.notes).toEqual([
    'Delivery unknown: fake__create_issue may have acted. It was not called again, because nothing says that this is safe.',
  ])
  expect(calls).toHaveLength(1)
})

it('repeats any call that certainly never arrived', async () => {
  const unreached: FakeTool = {
    name: 'create_issue',
    answer: (_, _options, attempt) => {
      if (attempt === 3) return text('made')
      throw new ToolCallError({ kind: 'server-unavailable', message: 'refused', delivered: 'no' })
    },
  }
  const { context, notes } = fakeWorld([unreached])
  expect(await callTool({ tool: 'create_issue', params: {} }, context)).toMatchObject({
    status: 'success',
    attempts: 3,
  })
  expect(notes).toHaveLength(2)
})

it('does not repeat what a server refuses as unknown, and advises a refresh', async () => {
  const gone: FakeTool = { name: 'get_gone', answer: () => failed('Tool "get_gone" not found') }
  const { context } = fakeWorld([gone])
  const report = await callTool({ tool: 'get_gone', params: {} }, context)
  expect(report).toMatchObject({
    status: 'error',
    attempts: 1,
    report: { suggestion: 'Run skillrail tools refresh to update the tool cache' },
  })
})

it('stops when it is cancelled, also while it waits', async () => {
  const controller = new AbortController()
  const broken: FakeTool = {
    name: 'get_broken',
    answer: () => {
      controller.abort()
      return failed('no')
    },
  }
  const { context, calls } = fakeWorld([broken], {
    signal: controller.signal,
    retry: { waitsMs: [60_000], replaySafe: [], neverReplay: [] },
  })
  await expect(callTool({ tool: 'get_broken', params: {} }, context)).rejects.toMatchObject({
    failure: { kind: 'cancelled' },
  })
  expect(calls).toHaveLength(1)
})

it('warns of an answer that breaks the schema its tool promised', async () => {
  const outputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }
  const { context } = fakeWorld([
    { name: 'get_bad', outputSchema, answer: () => structured({ n: 'one' }) },
    { name: 'get_none', outputSchema, answer: () => text('n = 1') },
    { name: 'get_good', outputSchema, answer: () => structured({ n: 1 }) },
  ])
  const codes = async (tool: string): Promise<string[]> =>
    (await callTool({ tool, params: {} }, context)).diagnostics.map(({ code }) => code)
  expect(await codes('get_bad')).toEqual(['output-schema-mismatch'])
  expect(await codes('get_none')).toEqual(['output-not-structured'])
  expect(await codes('get_good')).toEqual([])
})

it('passes the gate before the call, and again for a server that was started anew', async () => {
  const world = fakeWorld([
    { name: 'look' },
    {
      name: 'get_thing',
      answer: (_, _options, attempt) => {
        if (attempt > 1) return text('done')
        world.restart('fake')
        throw new ToolCallError({ kind: 'connection-lost', message: 'gone', delivered: 'unknown' })
      },
    },
  ])
  const after: (string | undefined)[] = []
  const gate: CallGate = {
    async pass(call, callStep) {
      await callStep('look', { at: call.instance })
    },
    async after(_call, answer) {
      after.push(answer)
    },
  }
  world.context.gate = gate
  await callTool({ tool: 'get_thing', params: {} }, world.context)
  expect(world.calls).toEqual([
    'fake__look {"at":"fake-1"}',
    'fake__get_thing {}',
    'fake__look {"at":"fake-2"}',
    'fake__get_thing {}',
  ])
  expect(after).toEqual(['done'])
})

it('calls nothing behind a gate that refuses', async () => {
  const { context, calls } = fakeWorld([echo], {
    gate: {
      pass: async () => {
        throw new ToolRefusedError({ code: 'closed', message: 'the gate is closed' })
      },
      after: async () => undefined,
    },
  })
  await expect(callTool({ tool: 'get_echo', params: { message: 'x' } }, context)).rejects.toThrow(
    'the gate is closed',
  )
  expect(calls).toEqual([])
})

const savedNote: FakeTool = { name: 'write_note' }

it('keeps the result of a call whose trace cannot be written, and says so', async () => {
  const world = fakeWorld([savedNote], {
    log: async () => {
      throw new Error('the log is a link')
    },
  })
  const report = await callTool({ tool: 'write_note', params: {} }, world.context)
  expect(report).toMatchObject({ status: 'success' })
  expect(world.calls).toHaveLength(1)
  expect(world.notes).toEqual(['The call of fake__write_note is not in the log: the log is a link'])
})

const forgetful: CallGate = {
  pass: async () => undefined,
  after: async () => {
    throw new Error('the session is of a newer version')
  },
}

it('keeps the result of a call that the workflows could not be told of, and says so', async () => {
  const world = fakeWorld([savedNote], { gate: forgetful })
  const report = await callTool({ tool: 'write_note', params: {} }, world.context)
  expect(report).toMatchObject({ status: 'success' })
  expect(world.records).toMatchObject([{ outcome: 'success' }])
  expect(world.notes).toEqual([
    'The workflows do not know of the call of fake__write_note: the session is of a newer version',
  ])
})

it('keeps the error of a call that the workflows could not be told of', async () => {
  const broken = { ...savedNote, answer: () => Promise.reject(new Error('the original')) }
  const world = fakeWorld([broken], { gate: forgetful })
  const call = callTool({ tool: 'write_note', params: {} }, world.context)
  await expect(call).rejects.toThrow('the original')
  expect(world.notes).toHaveLength(1)
})

it.each([
  ['unknown', [{ tool: 'fake__write_note', outcome: 'cancelled', size: 0, params: {} }]],
  ['no', []],
] as const)('leaves a trace of a cancelled call, delivered: %s', async (delivered, records) => {
  const controller = new AbortController()
  const hanging: FakeTool = {
    ...savedNote,
    answer: () => {
      controller.abort()
      throw new ToolCallError({ kind: 'cancelled', message: 'it was cancelled', delivered })
    },
  }
  const world = fakeWorld([hanging], { signal: controller.signal })
  const call = callTool({ tool: 'write_note', params: {} }, world.context)
  await expect(call).rejects.toThrow('it was cancelled')
  expect(world.records).toMatchObject(records)
  expect(world.records).toHaveLength(records.length)
})

it('leaves a trace of a call that was cancelled while it waited to be repeated', async () => {
  const controller = new AbortController()
  const busy: FakeTool = { name: 'get_busy', answer: () => failed('busy') }
  const world = fakeWorld([busy], {
    signal: controller.signal,
    retry: { waitsMs: [60_000], replaySafe: [], neverReplay: [] },
    note: () => controller.abort(),
  })
  await expect(callTool({ tool: 'get_busy', params: {} }, world.context)).rejects.toThrow(
    'cancelled',
  )
  expect(world.records).toMatchObject([{ tool: 'fake__get_busy', outcome: 'cancelled' }])
})
