import { expect, it, vi } from 'vitest'
import type { CallGate } from '../../../src/tools/call/context.ts'
import { callTool } from '../../../src/tools/call/call-tool.ts'
import { indexDefinitions, type ToolIndex } from '../../../src/tools/cache/tool-index.ts'
import { ToolCallError, ToolRefusedError } from '../../../src/tools/errors.ts'
import type { CallFailure } from '../../../src/tools/model.ts'
import { definitionOf, failed, type FakeTool, toolFixture, structured, text } from './_fake.ts'

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
  const { context, calls, records } = toolFixture([echo])
  const report = await callTool({ tool: 'fake__get_echo', params: { message: 'hi' } }, context)
  expect(report).toMatchObject({ status: 'success', attempts: 1, notes: [], diagnostics: [] })
  expect(calls).toEqual(['fake__get_echo {"message":"hi"}'])
  expect(records).toMatchObject([{ tool: 'fake__get_echo', outcome: 'success', size: 10 }])
})

it.each([['MetaMCP_fake__get_echo'], ['mcp__fake__get_echo'], ['FAKE__Get_Echo'], ['get_echo']])(
  'finds the tool by %s',
  async (tool) => {
    const { context } = toolFixture([echo])
    expect(await callTool({ tool, params: { message: 'x' } }, context)).toMatchObject({
      tool: { id: 'fake__get_echo' },
    })
  },
)

it('refuses a bare name of tools on two servers, and names both', async () => {
  const { context, calls } = toolFixture([echo, { ...echo, server: 'other' }])
  await expect(callTool({ tool: 'get_echo', params: {} }, context)).rejects.toThrow(
    'several servers have a tool get_echo: fake__get_echo, other__get_echo',
  )
  expect(calls).toEqual([])
})

it('reports missing and wrong parameters before any call', async () => {
  const { context, calls } = toolFixture([echo])
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

it('suggests three to five tools for an unknown ID, after asking the servers once', async () => {
  const tools = ['take_screenshot', 'take_snapshot', 'click', 'hover', 'fill'].map((name) => ({
    name,
    server: 'chrome',
  }))
  const discover = vi.fn<() => Promise<ToolIndex>>(async () =>
    indexDefinitions(tools.map(definitionOf)),
  )
  const { context } = toolFixture(tools, { discover })
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

it('asks the servers before it accepts another spelling of a tool', async () => {
  const [near, real] = [{ name: 'get-sum' }, { name: 'get_sum' }]
  const fixture = toolFixture([near])
  fixture.context.discover = async () => indexDefinitions([near, real].map(definitionOf))
  await callTool({ tool: 'fake__get_sum', params: {} }, fixture.context)
  expect(fixture.calls).toEqual(['fake__get_sum {}'])
})

it('finds a tool that only the server lists', async () => {
  const fixture = toolFixture([echo])
  fixture.context.index = indexDefinitions([])
  fixture.context.discover = async () => indexDefinitions([definitionOf(echo)])
  const report = await callTool(
    { tool: 'fake__get_echo', params: { message: 'x' } },
    fixture.context,
  )
  expect(report.status).toBe('success')
})

it('asks the server for a definition that the cache does not have', async () => {
  const { context } = toolFixture([echo])
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
])('calls no tool that the lists %o forbid', async (lists) => {
  const { context, calls } = toolFixture([echo], { rules: () => ({ trusted: true, ...lists }) })
  const attempt = callTool({ tool: 'get_echo', params: { message: 'x' } }, context)
  await expect(attempt).rejects.toThrow(ToolRefusedError)
  await expect(attempt).rejects.toMatchObject({ exitCode: 4, code: 'tool-denied' })
  expect(calls).toEqual([])
})

it('does not call a tool that awaits a review', async () => {
  const hold = (): { message: string; hint: string } => ({ message: 'it changed', hint: 'accept' })
  const { context, calls } = toolFixture([echo], { hold })
  await expect(callTool({ tool: 'get_echo', params: { message: 'x' } }, context)).rejects.toThrow(
    'it changed',
  )
  expect(calls).toEqual([])
})

it('repeats a call that only reads and adds a note, and reports every attempt if all fail', async () => {
  const flaky: FakeTool = {
    name: 'get_flaky',
    answer: (_, _options, attempt) => (attempt === 1 ? failed('busy') : text('ok')),
  }
  const broken: FakeTool = {
    name: 'get_broken',
    answer: (_, _options, attempt) => failed(`error ${attempt}`),
  }
  const { context, calls } = toolFixture([flaky, broken])
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

it('never repeats a call that may have changed something, and reports that its delivery is unknown', async () => {
  const lost: FakeTool = {
    name: 'create_issue',
    answer: () => {
      throw new ToolCallError({ kind: 'connection-lost', message: 'gone', delivered: 'unknown' })
    },
  }
  const { context, calls } = toolFixture([lost])
  const report = await callTool({ tool: 'create_issue', params: {} }, context)
  expect(report).toMatchObject({ status: 'error', attempts: 1 })
  expect(report.notes).toEqual([
    'Delivery unknown: fake__create_issue may have acted. It was not called again, because nothing says that this is safe.',
  ])
  expect(calls).toHaveLength(1)
})

it('repeats any call that certainly did not arrive', async () => {
  const unreached: FakeTool = {
    name: 'create_issue',
    answer: (_, _options, attempt) => {
      if (attempt === 3) return text('made')
      throw new ToolCallError({ kind: 'server-unavailable', message: 'refused', delivered: 'no' })
    },
  }
  const { context, notes } = toolFixture([unreached])
  expect(await callTool({ tool: 'create_issue', params: {} }, context)).toMatchObject({
    status: 'success',
    attempts: 3,
  })
  expect(notes).toHaveLength(2)
})

it.each<[string, FakeTool['answer'] & {}]>([
  ['an answer with isError', () => failed('no such thing')],
  ['the code for invalid parameters', () => rejected('invalid-parameters')],
  ['another code of the protocol', () => rejected('protocol')],
])('does not repeat a call of a tool that its server no longer lists: %s', async (_, answer) => {
  const { context, calls } = toolFixture([{ name: 'get_gone', answer }])
  const server = await context.servers.get('fake')
  context.servers = {
    get: async () => ({ ...server, list: async () => ({ tools: [], problems: [] }) }),
  }
  const report = await callTool({ tool: 'get_gone', params: {} }, context)
  expect(report).toMatchObject({
    status: 'error',
    attempts: 1,
    failure: { kind: 'tool-not-found' },
    report: { suggestion: 'Run skillrail tools refresh to update the tool cache' },
  })
  expect(calls).toHaveLength(1)
})

it('keeps the failure if the server cannot list its tools', async () => {
  const { context } = toolFixture([{ name: 'get_it', answer: () => failed('not found') }])
  const server = await context.servers.get('fake')
  context.servers = {
    get: async () => ({ ...server, list: async () => await Promise.reject(new Error('busy')) }),
  }
  expect(await callTool({ tool: 'get_it', params: {} }, context)).toMatchObject({
    failure: { kind: 'execution', message: 'not found' },
    attempts: 3,
  })
})

function rejected(kind: CallFailure['kind']): never {
  throw new ToolCallError({ kind, message: 'no such thing', delivered: 'no' })
}

it('stops when it is cancelled, even while it waits', async () => {
  const controller = new AbortController()
  const broken: FakeTool = {
    name: 'get_broken',
    answer: () => {
      controller.abort()
      return failed('no')
    },
  }
  const { context, calls } = toolFixture([broken], {
    signal: controller.signal,
    retry: { waitsMs: [60_000], replaySafe: [], neverReplay: [] },
  })
  await expect(callTool({ tool: 'get_broken', params: {} }, context)).rejects.toMatchObject({
    failure: { kind: 'cancelled' },
  })
  expect(calls).toHaveLength(1)
})

it('warns about an answer that does not match the output schema of its tool', async () => {
  const outputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }
  const { context } = toolFixture([
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

it('passes the gate before the call, and again for a server that was restarted', async () => {
  const fixture = toolFixture([
    { name: 'look' },
    {
      name: 'get_thing',
      answer: (_, _options, attempt) => {
        if (attempt > 1) return text('done')
        fixture.restart('fake')
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
  fixture.context.gate = gate
  await callTool({ tool: 'get_thing', params: {} }, fixture.context)
  expect(fixture.calls).toEqual([
    'fake__look {"at":"fake-1"}',
    'fake__get_thing {}',
    'fake__look {"at":"fake-2"}',
    'fake__get_thing {}',
  ])
  expect(after).toEqual(['done'])
})

it('calls no tool after the gate refused the call', async () => {
  const { context, calls } = toolFixture([echo], {
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

it('keeps the result of a call whose trace cannot be written, with a warning', async () => {
  const fixture = toolFixture([savedNote], {
    log: async () => {
      throw new Error('the log is a link')
    },
  })
  const report = await callTool({ tool: 'write_note', params: {} }, fixture.context)
  expect(report).toMatchObject({ status: 'success' })
  expect(fixture.calls).toHaveLength(1)
  expect(fixture.notes).toEqual([
    'The call of fake__write_note is not in the log: the log is a link',
  ])
})

const forgetful: CallGate = {
  pass: async () => undefined,
  after: async () => {
    throw new Error('the session is of a newer version')
  },
}

it('keeps the result of a call that could not be recorded for workflows, with a warning', async () => {
  const fixture = toolFixture([savedNote], { gate: forgetful })
  const report = await callTool({ tool: 'write_note', params: {} }, fixture.context)
  expect(report).toMatchObject({ status: 'success' })
  expect(fixture.records).toMatchObject([{ outcome: 'success' }])
  expect(fixture.notes).toEqual([
    'The workflows do not know of the call of fake__write_note: the session is of a newer version',
  ])
})

it('keeps the error of a call that could not be recorded for workflows', async () => {
  const broken = { ...savedNote, answer: () => Promise.reject(new Error('the original')) }
  const fixture = toolFixture([broken], { gate: forgetful })
  const call = callTool({ tool: 'write_note', params: {} }, fixture.context)
  await expect(call).rejects.toThrow('the original')
  expect(fixture.notes).toHaveLength(1)
})

it.each([
  ['unknown', [{ tool: 'fake__write_note', outcome: 'cancelled', size: 0, params: {} }]],
  ['no', []],
] as const)('writes a trace of a cancelled call, delivered: %s', async (delivered, records) => {
  const controller = new AbortController()
  const hanging: FakeTool = {
    ...savedNote,
    answer: () => {
      controller.abort()
      throw new ToolCallError({ kind: 'cancelled', message: 'it was cancelled', delivered })
    },
  }
  const fixture = toolFixture([hanging], { signal: controller.signal })
  const call = callTool({ tool: 'write_note', params: {} }, fixture.context)
  await expect(call).rejects.toThrow('it was cancelled')
  expect(fixture.records).toMatchObject(records)
  expect(fixture.records).toHaveLength(records.length)
})

it('writes a trace of a call that was cancelled before its repetition', async () => {
  const controller = new AbortController()
  const busy: FakeTool = { name: 'get_busy', answer: () => failed('busy') }
  const fixture = toolFixture([busy], {
    signal: controller.signal,
    retry: { waitsMs: [60_000], replaySafe: [], neverReplay: [] },
    note: () => controller.abort(),
  })
  await expect(callTool({ tool: 'get_busy', params: {} }, fixture.context)).rejects.toThrow(
    'cancelled',
  )
  expect(fixture.records).toMatchObject([{ tool: 'fake__get_busy', outcome: 'cancelled' }])
})
