import { APICallError } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { describe, expect, it } from 'vitest'
import type { AgentEvent, LoopOutcome, UsageEntry } from '../../../src/agent/types.ts'
import { type LoopRequest, runLoop } from '../../../src/agent/loop/run-loop.ts'
import {
  call,
  calls,
  echoTool,
  type Reply,
  resultTexts,
  says,
  scripted,
  tokens,
} from '../mock-replies.ts'

interface Run {
  outcome: LoopOutcome
  usage: UsageEntry[]
  events: AgentEvent[]
  model: MockLanguageModelV4
}

async function run(
  replies: readonly (Reply | Error)[] | MockLanguageModelV4,
  parts: Partial<LoopRequest> = {},
): Promise<Run> {
  const model = replies instanceof MockLanguageModelV4 ? replies : scripted(replies)
  const usage: UsageEntry[] = []
  const events: AgentEvent[] = []
  const outcome = await runLoop({
    agent: 'main',
    model: () => model,
    instructions: 'Be brief.',
    messages: [{ role: 'user', content: 'Go.' }],
    offeredTools: () => [],
    permit: async () => ({ allowed: true }),
    maxTurns: 20,
    onUsage: (entry) => usage.push(entry),
    onEvent: (event) => events.push(event),
    callSettings: { maxRetries: 0 },
    ...parts,
  })
  return { outcome, usage, events, model }
}

/** What the model read as results of its calls, in the order of the prompt of its nth call. */
function resultsSeen(model: MockLanguageModelV4, index: number): string[] {
  return (model.doGenerateCalls[index]?.prompt ?? []).flatMap(resultTexts)
}

describe('a run that completes', () => {
  it('answers without tools', async () => {
    const { outcome, usage, model } = await run([says('Done.')])
    expect(outcome).toEqual({
      status: 'completed',
      text: 'Done.',
      turns: 1,
      messages: [{ role: 'assistant', content: [{ type: 'text', text: 'Done.' }] }],
    })
    expect(usage).toEqual([
      {
        model: 'mock',
        agent: 'main',
        delegation: undefined,
        usage: {
          inputTokens: 10,
          outputTokens: 2,
          cachedInputTokens: 0,
          reasoningTokens: 0,
          requests: 1,
        },
      },
    ])
    expect(model.doGenerateCalls[0]?.tools).toBeUndefined()
    expect(model.doGenerateCalls[0]?.prompt[0]).toEqual({ role: 'system', content: 'Be brief.' })
  })

  it('calls a tool and continues with its result', async () => {
    const tool = echoTool('skill.echo')
    const { outcome, model, events } = await run([call('skill__echo', { a: 1 }), says('Done.')], {
      offeredTools: () => [tool],
    })
    expect(outcome.status).toBe('completed')
    expect(outcome.turns).toBe(2)
    expect(tool.seen).toEqual([{ a: 1 }])
    expect(resultsSeen(model, 1)).toEqual(['skill.echo said {"a":1}'])
    expect(events.map(({ type }) => type)).toEqual([
      'step',
      'tool-call',
      'tool-result',
      'text',
      'step',
    ])
    expect(events[1]).toMatchObject({ tool: 'skill.echo', input: { a: 1 } })
  })

  it('makes the calls of one step concurrently and answers in their order', async () => {
    const order: string[] = []
    let release = (): void => undefined
    const secondRan = new Promise<void>((resolve) => {
      release = resolve
    })
    const first = echoTool('first', {
      async execute() {
        await secondRan
        order.push('first')
        return 'one'
      },
    })
    const second = echoTool('second', {
      async execute() {
        order.push('second')
        release()
        return 'two'
      },
    })
    const { model } = await run([calls([{ name: 'first' }, { name: 'second' }]), says('Done.')], {
      offeredTools: () => [first, second],
    })
    expect(order).toEqual(['second', 'first'])
    expect(resultsSeen(model, 1)).toEqual(['one', 'two'])
  })

  it('offers the current tools at each step', async () => {
    let active = false
    const late = echoTool('late')
    const load = echoTool('load', {
      async execute() {
        active = true
        return 'loaded'
      },
    })
    const { model } = await run([call('load'), call('late'), says('Done.')], {
      offeredTools: () => (active ? [load, late] : [load]),
    })
    const offered = model.doGenerateCalls.map((made) => made.tools?.map(({ name }) => name))
    expect(offered).toEqual([['load'], ['load', 'late'], ['load', 'late']])
    expect(late.seen).toHaveLength(1)
  })

  it('streams text as it arrives and records the same usage', async () => {
    const { events, outcome, usage } = await run([says('One two three.', tokens(7, 3))], {
      stream: true,
    })
    const texts = events.flatMap((event) => (event.type === 'text' ? [event.text] : []))
    expect(texts).toEqual(['One ', 'two ', 'three.'])
    expect(outcome).toMatchObject({ status: 'completed', text: 'One two three.' })
    expect(usage.map((entry) => entry.usage.inputTokens)).toEqual([7])
  })

  it('reads messages that arrived in the meantime before the next step', async () => {
    let asked = 0
    const { model } = await run([call('echo'), says('Done.')], {
      offeredTools: () => [echoTool()],
      steering: () => (++asked === 2 ? ['Use Paris, Texas.'] : []),
    })
    const last = model.doGenerateCalls[1]?.prompt.at(-1)
    expect(last).toMatchObject({ role: 'user', content: [{ text: 'Use Paris, Texas.' }] })
  })

  it('continues after the last answer if a message arrived during it', async () => {
    let asked = 0
    const { outcome } = await run([says('Done.'), says('Done again.')], {
      steering: () => (++asked === 2 ? ['One more thing.'] : []),
    })
    expect(outcome).toMatchObject({ status: 'completed', text: 'Done again.', turns: 2 })
  })

  it('continues if a part objects to the end', async () => {
    const asked: string[] = []
    const { outcome } = await run([says('Done.'), says('Really done.')], {
      async beforeStop(text) {
        asked.push(text)
        return asked.length === 1 ? 'Run the tests first.' : undefined
      },
    })
    expect(asked).toEqual(['Done.', 'Really done.'])
    expect(outcome.text).toBe('Really done.')
  })
})

describe('what the model does wrong', () => {
  it('is a call of a tool that does not exist, and the answer lists the tools', async () => {
    const { model, outcome } = await run([call('raed'), says('Done.')], {
      offeredTools: () => [echoTool('read'), echoTool('write')],
    })
    expect(resultsSeen(model, 1)).toEqual([
      'Error: there is no tool called raed. The tools are: read, write.',
    ])
    expect(outcome.status).toBe('completed')
  })

  it('includes a display name of a tool, and the history contains the wire name', async () => {
    const tool = echoTool('pdf.extract')
    const { outcome } = await run([call('pdf.extract', { page: 1 }), says('Done.')], {
      offeredTools: () => [tool],
    })
    expect(tool.seen).toEqual([{ page: 1 }])
    expect(JSON.stringify(outcome.messages)).not.toContain('"pdf.extract"')
  })

  it.each([
    ['no JSON', '{"a": ', 'Error: echo was not called: its arguments must be one JSON object.'],
    ['a list', '[1]', 'Error: echo was not called: its arguments must be one JSON object.'],
    ['a missing argument', '{}', 'Error: echo was not called: path is missing.'],
    ['a wrong type', '{"path": 5}', 'Error: echo was not called: path must be string.'],
  ])(
    'includes arguments that are %s, which are answered with an error',
    async (_, input, sentence) => {
      const tool = echoTool('echo', {
        inputSchema: {
          type: 'object',
          properties: { path: { type: 'string' } },
          required: ['path'],
        },
      })
      const { model } = await run([call('echo', input), says('Done.')], {
        offeredTools: () => [tool],
      })
      expect(resultsSeen(model, 1)[0]).toContain(sentence)
      expect(tool.seen).toEqual([])
    },
  )

  it('reads the error of a failed tool as text, and the loop continues', async () => {
    const tool = echoTool('echo', {
      execute: async () => {
        throw new Error('the disk is full')
      },
    })
    const { model, outcome, events } = await run([call('echo'), says('Done.')], {
      offeredTools: () => [tool],
    })
    expect(resultsSeen(model, 1)).toEqual(['Error: the disk is full'])
    expect(outcome.status).toBe('completed')
    expect(events.find(({ type }) => type === 'tool-result')).toMatchObject({ isError: true })
  })

  it('tells the model why a call was refused', async () => {
    const tool = echoTool('shell')
    const { model } = await run([call('shell'), says('Done.')], {
      offeredTools: () => [tool],
      permit: async () => ({ allowed: false, reason: 'the user said no' }),
    })
    expect(resultsSeen(model, 1)).toEqual(['Error: shell was refused: the user said no'])
    expect(tool.seen).toEqual([])
  })

  it('cuts a result of 10 MB, with a notice of how much is missing', async () => {
    const tool = echoTool('echo', { execute: async () => 'x'.repeat(10_000_000) })
    const { model } = await run([call('echo'), says('Done.')], { offeredTools: () => [tool] })
    const [seen = ''] = resultsSeen(model, 1)
    expect(seen.length).toBeLessThan(51_000)
    expect(seen).toContain('9950000 of 10000000 characters were left out')
  })

  it('includes one call with the same result again and again, which ends with a summary', async () => {
    const model = new MockLanguageModelV4({
      doGenerate: async ({ tools }) => (tools === undefined ? says('I was stuck.') : call('echo')),
    })
    const { outcome } = await run(model, { offeredTools: () => [echoTool()] })
    expect(outcome).toMatchObject({
      status: 'capped',
      text: 'I was stuck.',
      turns: 9,
      error: 'The model made the same call 8 times in a row with the same result: echo.',
    })
    expect(resultsSeen(model, 2).at(-1)).not.toContain('in a row')
    expect(resultsSeen(model, 3).at(-1)).toContain('the same result 3 times in a row')
  })

  it('ends with a summary when two tools are called in turn for ever', async () => {
    let asked = 0
    const model = new MockLanguageModelV4({
      doGenerate: async ({ tools }) =>
        tools === undefined ? says('I was stuck.') : call(asked++ % 2 === 0 ? 'ping' : 'pong'),
    })
    const { outcome } = await run(model, {
      offeredTools: () => [echoTool('ping'), echoTool('pong')],
    })
    expect(outcome).toMatchObject({
      status: 'capped',
      turns: 11,
      error: 'The model made the same 2 steps 5 times in a row with the same results: ping, pong.',
    })
  })

  it('includes empty answers: it is asked again, and then the run fails', async () => {
    const { outcome, model } = await run([says(''), says(''), says('')])
    expect(outcome).toMatchObject({
      status: 'failed',
      turns: 3,
      error: 'The model answered nothing.',
    })
    expect(model.doGenerateCalls[1]?.prompt.at(-1)).toMatchObject({ role: 'user' })
    expect((await run([says(''), says('Here.')])).outcome.status).toBe('completed')
  })
})

describe('a run that ends before the model is done', () => {
  it('has one last turn without tools for a summary when it reaches its maximum of turns', async () => {
    let count = 0
    const model = new MockLanguageModelV4({
      doGenerate: async ({ tools }) =>
        tools === undefined ? says('Half done.') : call('echo', { count: count++ }),
    })
    const { outcome, usage } = await run(model, { offeredTools: () => [echoTool()], maxTurns: 3 })
    expect(outcome).toMatchObject({
      status: 'capped',
      text: 'Half done.',
      turns: 4,
      error: 'Max turns exceeded',
    })
    expect(usage).toHaveLength(4)
    expect(model.doGenerateCalls.map(({ tools }) => tools?.length)).toEqual([1, 1, 1, undefined])
  })

  it('keeps no call without a result when the model calls a tool in its last turn', async () => {
    let count = 0
    const model = new MockLanguageModelV4({
      doGenerate: async () => ({
        ...call('echo', { count: count++ }),
        content: [{ type: 'text', text: 'Half.' }, ...call('echo', { count }).content],
      }),
    })
    const { outcome } = await run(model, { offeredTools: () => [echoTool()], maxTurns: 1 })
    expect(outcome).toMatchObject({ status: 'capped', text: 'Half.' })
    expect(outcome.messages.at(-1)).toEqual({
      role: 'assistant',
      content: [{ type: 'text', text: 'Half.' }],
    })
  })

  it('fails with the tokens until then when a model call fails', async () => {
    const error = new APICallError({
      message: 'upstream is down',
      url: 'http://127.0.0.1/v1',
      requestBodyValues: {},
      statusCode: 503,
      isRetryable: false,
    })
    const { outcome, usage } = await run([call('echo'), error], {
      offeredTools: () => [echoTool()],
    })
    expect(outcome).toMatchObject({
      status: 'failed',
      error: 'The model call failed (HTTP 503): upstream is down',
    })
    expect(outcome.messages.map(({ role }) => role)).toEqual(['assistant', 'tool'])
    expect(usage).toHaveLength(1)
  })

  it('names no key that the provider repeated', async () => {
    const { outcome } = await run([new Error('bad key sk-ant-REDACTED')])
    expect(outcome.error).not.toContain('abcdefghijklmnop')
  })

  it('can be cancelled during a model call', async () => {
    const controller = new AbortController()
    const model = new MockLanguageModelV4({
      doGenerate: ({ abortSignal }) =>
        new Promise((_, reject) => {
          abortSignal?.addEventListener('abort', () => reject(abortSignal.reason))
          controller.abort()
        }),
    })
    const { outcome } = await run(model, { signal: controller.signal })
    expect(outcome).toMatchObject({ status: 'cancelled', error: 'The run was cancelled.' })
  })

  it('can be cancelled during a tool that ignores the signal, and the call has a result', async () => {
    const controller = new AbortController()
    const tool = echoTool('echo', {
      execute: () => {
        controller.abort()
        return new Promise(() => undefined)
      },
    })
    const { outcome, usage } = await run([call('echo'), says('never')], {
      offeredTools: () => [tool],
      signal: controller.signal,
    })
    expect(outcome.status).toBe('cancelled')
    expect(outcome.messages.map(({ role }) => role)).toEqual(['assistant', 'tool'])
    expect(JSON.stringify(outcome.messages[1])).toContain('cancelled before this was done')
    expect(usage).toHaveLength(1)
  })

  it('keeps the streamed text of an interrupted answer, and counts the call', async () => {
    const controller = new AbortController()
    const model = new MockLanguageModelV4({
      doStream: async () => ({
        stream: new ReadableStream({
          start(stream) {
            stream.enqueue({ type: 'text-start', id: '0' })
            stream.enqueue({ type: 'text-delta', id: '0', delta: 'Half a ' })
          },
        }),
      }),
    })
    const { outcome, usage } = await run(model, {
      stream: true,
      signal: controller.signal,
      onEvent: (event) => {
        if (event.type === 'text') controller.abort()
      },
    })
    expect(outcome).toMatchObject({ status: 'cancelled', text: 'Half a ' })
    expect(outcome.messages).toEqual([{ role: 'assistant', content: 'Half a ' }])
    expect(usage.map((entry) => entry.usage.requests)).toEqual([1])
  })

  it('does not begin if it was already cancelled', async () => {
    const { outcome, model } = await run([says('never')], { signal: AbortSignal.abort() })
    expect(outcome.status).toBe('cancelled')
    expect(model.doGenerateCalls).toEqual([])
  })

  it('fails if two tools would have one name', async () => {
    const { outcome } = await run([says('never')], {
      offeredTools: () => [echoTool('a.b'), echoTool('a__b')],
    })
    expect(outcome).toMatchObject({
      status: 'failed',
      error:
        'Two tools would be called a__b: a.b (of the program) and a__b (of the program). Rename one of the tools.',
    })
  })
})

describe('a structured answer', () => {
  const outputSchema = {
    type: 'object',
    properties: { count: { type: 'integer' } },
    required: ['count'],
  }

  it('is read, checked and returned as a value', async () => {
    const { outcome, model } = await run([says('{"count": 2}')], { outputSchema })
    expect(outcome).toMatchObject({ status: 'completed', output: { count: 2 } })
    expect(model.doGenerateCalls[0]?.responseFormat).toMatchObject({ schema: outputSchema })
    expect(model.doGenerateCalls[0]?.prompt[0]?.content).toContain('JSON Schema')
  })

  it('is not required from the provider while tools are offered', async () => {
    const { outcome, model } = await run([call('echo'), says('{"count": 2}')], {
      outputSchema,
      offeredTools: () => [echoTool()],
    })
    expect(outcome.output).toEqual({ count: 2 })
    expect(model.doGenerateCalls[1]?.responseFormat).not.toMatchObject({ type: 'json' })
  })

  it('is read out of a code fence too', async () => {
    const { outcome } = await run([says('Here:\n```json\n{"count": 3}\n```')], { outputSchema })
    expect(outcome.output).toEqual({ count: 3 })
  })

  it('is requested again if it does not match the schema, and then the run fails', async () => {
    const wrong = says('{"count": "two"}')
    const { outcome, model } = await run([wrong, says('none'), wrong], { outputSchema })
    expect(outcome).toMatchObject({
      status: 'failed',
      error: 'The answer does not have the requested shape: count must be integer.',
    })
    expect(JSON.stringify(model.doGenerateCalls[1]?.prompt.at(-1))).toContain(
      'count must be integer',
    )
  })
})
