import { MockLanguageModelV4 } from 'ai/test'
import { describe, expect, it } from 'vitest'
import {
  SubagentDelegationError,
  SubagentError,
  SubagentNestingError,
  SubagentNotFoundError,
  SubagentTimeoutError,
} from '../../../src/agent/errors.ts'
import { Agent } from '../../../src/agent/agent.ts'
import type { AgentEvent } from '../../../src/agent/types.ts'
import { defineSkill } from '../../../src/library/manager.ts'
import { until } from '../../patience.ts'
import { AgentSession } from '../../../src/agent/session.ts'
import { UsageLedger } from '../../../src/agent/usage.ts'
import { requireSuccess } from '../../../src/agent/subagents/delegation.ts'
import { call, echoTool, says, scripted, tokens } from '../mock-replies.ts'
import { askedTogether, delegating, hanging, textsOf, toolsOffered, worker } from './_parent.ts'

describe('spawning', () => {
  it('creates a subagent with spawn that works only after run', async () => {
    const { manager, model } = delegating()
    const subagent = await manager.spawn('worker', 'Count to three.')
    expect(subagent).toMatchObject({ name: 'worker', task: 'Count to three.', status: 'created' })
    expect(model.doGenerateCalls).toHaveLength(0)
    expect(await subagent.run()).toMatchObject({ success: true, output: 'Done.' })
  })

  it('runs a definition that was never registered with spawnDynamic', async () => {
    const { manager, model } = delegating()
    const config = worker({ name: 'ad-hoc', systemPrompt: 'You count.' })
    const result = await manager.spawnDynamic(config, 'Count.')
    expect(result).toMatchObject({ success: true, subagentName: 'ad-hoc' })
    expect(textsOf(model, 0, 'system')).toEqual(['You count.'])
    expect((await manager.list()).map(({ name }) => name)).toEqual(['worker'])
  })

  it('reports the status created, queued, running, and then how the delegation ended', async () => {
    const { model, asked, answer } = hanging()
    const { manager } = delegating({ model, parent: { concurrency: 1 } })
    const first = await manager.delegateAsync('worker', 'One.')
    const second = await manager.delegateAsync('worker', 'Two.')
    await asked
    expect([first.status, second.status]).toEqual(['running', 'queued'])
    expect(manager.getActiveDelegations().map(({ task }) => task)).toEqual(['One.', 'Two.'])
    answer(says('One done.'))
    await first.result()
    expect([first.status, first.isComplete]).toEqual(['completed', true])
    second.cancel()
    await second.result()
    expect(second.status).toBe('cancelled')
    expect(manager.getActiveDelegations()).toEqual([])
  })

  it('lists the subagents and the nearest name for an unknown name', async () => {
    const { manager } = delegating({ configs: [worker(), worker({ name: 'reviewer' })] })
    const error = await manager.spawn('reviwer', 'Go.').catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(SubagentNotFoundError)
    expect(error).toMatchObject({
      message: 'There is no subagent named reviwer.',
      hint: 'Did you mean reviewer? There are worker, reviewer.',
      exitCode: 3,
    })
  })

  it.each(['spawn', 'delegate', 'delegateAsync'] as const)(
    'refuses an empty task in %s',
    async (method) => {
      const { manager, model } = delegating()
      for (const task of ['', ' \n\t']) {
        await expect(manager[method]('worker', task)).rejects.toThrow(SubagentError)
        await expect(manager[method]('worker', task)).rejects.toThrow(
          'The task for worker is empty',
        )
      }
      expect(model.doGenerateCalls).toHaveLength(0)
    },
  )

  it('runs concurrent delegations in separate conversations', async () => {
    const model = new MockLanguageModelV4({
      doGenerate: async ({ prompt }) => says(JSON.stringify(prompt.at(-1))),
    })
    const { manager } = delegating({ model })
    const tasks = Array.from({ length: 12 }, (_, index) => `Task number ${index}.`)
    const results = await Promise.all(tasks.map((task) => manager.delegate('worker', task)))
    expect(new Set(results.map(({ id }) => id)).size).toBe(12)
    for (const [index, { output }] of results.entries()) {
      expect(output).toContain(`Task number ${index}.`)
    }
    expect(model.doGenerateCalls.every(({ prompt }) => prompt.length === 2)).toBe(true)
  })

  it.each([0, -1, 1.5, Number.NaN, Infinity])('refuses %d delegations at once', (concurrency) => {
    const options = { model: scripted([]), discover: false, concurrency }
    const sentence = /`concurrency` must be a whole number from 1 to 1000/
    expect(() => new Agent(options)).toThrow(sentence)
  })

  it('runs ten and more delegations at once, up to the limit', async () => {
    const { model, most } = askedTogether(12)
    const { manager } = delegating({ model, parent: { concurrency: 12 } })
    await Promise.all(Array.from({ length: 40 }, () => manager.delegate('worker', 'Go.')))
    expect(most()).toBe(12)
  })

  it('keeps the order of the queue, and never starts a delegation that is cancelled in it', async () => {
    const order: string[] = []
    const model = new MockLanguageModelV4({
      doGenerate: async ({ prompt }) => {
        order.push(JSON.stringify(prompt.at(-1)).match(/task \d/)?.[0] ?? '')
        return says('ok')
      },
    })
    const { manager } = delegating({ model, parent: { concurrency: 1 } })
    const handles = await Promise.all(
      [0, 1, 2, 3].map((index) => manager.delegateAsync('worker', `task ${index}`)),
    )
    handles[2]?.cancel()
    const results = await Promise.all(handles.map((handle) => handle.result()))
    expect(order).toEqual(['task 0', 'task 1', 'task 3'])
    expect(results[2]).toMatchObject({
      success: false,
      status: 'cancelled',
      endReason: 'cancelled',
      result: undefined,
    })
  })
})

describe('nesting', () => {
  it('refuses every delegation that a tool of a subagent starts', async () => {
    const errors: unknown[] = []
    const tool = echoTool('sneak', {
      execute: async () => {
        const attempts = [
          () => manager.delegate('worker', 'Go.'),
          () => manager.delegateAsync('worker', 'Go.'),
          () => manager.spawn('worker', 'Go.'),
          () => manager.spawnDynamic(worker(), 'Go.'),
          () => manager.resume('any', 'Go.'),
        ]
        for (const attempt of attempts)
          await attempt().catch((error: unknown) => errors.push(error))
        return 'tried'
      },
    })
    const { manager } = delegating({
      replies: [call('sneak'), says('Done.')],
      tools: [tool],
      configs: [worker({ tools: ['sneak'] })],
    })
    await manager.delegate('worker', 'Delegate on.')
    expect(errors).toHaveLength(5)
    for (const error of errors) expect(error).toBeInstanceOf(SubagentNestingError)
    expect(errors[0]).toMatchObject({ exitCode: 4 })
  })

  it('keeps the tools that delegate from subagents', async () => {
    const delegate = echoTool('delegate', { origin: { kind: 'agent' } })
    const { manager, model } = delegating({
      tools: [delegate, echoTool('read')],
      configs: [worker({ tools: ['*', 'delegate'] })],
    })
    await manager.delegate('worker', 'Go.')
    expect(toolsOffered(model, 0)).toEqual(['read'])
  })
})

describe('delegation', () => {
  it('waits in delegate and returns output, usage, duration, name and success', async () => {
    const { manager } = delegating({ replies: [says('The answer.', tokens(100, 20))] })
    const result = await manager.delegate('worker', 'Answer.')
    expect(result).toMatchObject({
      subagentName: 'worker',
      task: 'Answer.',
      success: true,
      status: 'completed',
      endReason: 'done',
      output: 'The answer.',
      usage: { inputTokens: 100, outputTokens: 20, requests: 1 },
      result: { status: 'completed', turns: 1 },
      notices: [],
    })
    expect(result.durationMs).toBeGreaterThanOrEqual(0)
    expect(result).not.toHaveProperty('error')
  })

  it('returns a handle from delegateAsync at once, with its result, isComplete and status', async () => {
    const { model, asked, answer } = hanging()
    const { manager } = delegating({ model })
    const handle = await manager.delegateAsync('worker', 'Think.')
    await asked
    expect(handle).toMatchObject({ isComplete: false, status: 'running' })
    answer(says('Thought.'))
    expect(await handle.result()).toMatchObject({ output: 'Thought.' })
    expect(await handle.result()).toBe(await handle.result())
    expect(handle).toMatchObject({ isComplete: true, status: 'completed' })
  })

  it('ends a running subagent on cancel and returns a result with its usage', async () => {
    const slow = hanging()
    const model = new MockLanguageModelV4({
      modelId: 'm',
      doGenerate: async (options) =>
        model.doGenerateCalls.length === 1 ? call('echo') : slow.model.doGenerate(options),
    })
    const { manager, usage } = delegating({
      model,
      tools: [echoTool()],
      configs: [worker({ tools: ['echo'] })],
    })
    const handle = await manager.delegateAsync('worker', 'Think.')
    await slow.asked
    handle.cancel()
    const result = await handle.result()
    expect(result).toMatchObject({
      success: false,
      status: 'cancelled',
      endReason: 'cancelled',
      error: 'The delegation was cancelled.',
      usage: { inputTokens: 10, outputTokens: 2, requests: 1 },
    })
    expect(usage()).toMatchObject([{ usage: { requests: 1 } }])
  })

  it('enforces the maximum of turns, with a last turn for a summary', async () => {
    const replies = [call('echo', { n: 1 }), call('echo', { n: 2 }), says('What I found.')]
    const { manager, model } = delegating({
      replies,
      tools: [echoTool()],
      configs: [worker({ tools: ['echo'], maxTurns: 2 })],
    })
    const result = await manager.delegate('worker', 'Never stop.')
    expect(result).toMatchObject({
      success: false,
      status: 'capped',
      error: 'Max turns exceeded',
      output: 'What I found.',
      usage: { requests: 3 },
    })
    expect(toolsOffered(model, 1)).toEqual(['echo'])
    expect(toolsOffered(model, 2)).toEqual([])
    expect(() => requireSuccess(result)).toThrow(SubagentTimeoutError)
  })

  it('returns a failed result when the model fails, with the tokens of earlier calls', async () => {
    const { manager, usage } = delegating({
      replies: [call('echo'), new Error('503 upstream')],
      tools: [echoTool()],
      configs: [worker({ tools: ['echo'], config: { callSettings: { maxRetries: 0 } } })],
    })
    const result = await manager.delegate('worker', 'Go.')
    expect(result).toMatchObject({ success: false, status: 'failed', endReason: 'failed' })
    expect(result.error).toContain('503 upstream')
    expect(result.usage).toMatchObject({ inputTokens: 10, requests: 1 })
    expect(usage()).toMatchObject([{ usage: { requests: 1 } }])
    expect(() => requireSuccess(result)).toThrow(SubagentDelegationError)
  })

  it('ignores a cancel after the end', async () => {
    const { manager } = delegating()
    const handle = await manager.delegateAsync('worker', 'Go.')
    const result = await handle.result()
    handle.cancel()
    expect(handle.status).toBe('completed')
    expect(await handle.result()).toBe(result)
  })

  it('begins the history with copies of the messages of its parent', async () => {
    const { manager, model } = delegating()
    const contextMessages = [
      { role: 'user' as const, content: 'Earlier question.' },
      { role: 'assistant' as const, content: 'Earlier answer.' },
    ]
    const handle = await manager.delegateAsync('worker', 'Go on.', { contextMessages })
    contextMessages.pop()
    await handle.result()
    expect(textsOf(model, 0, 'user')).toEqual(['Earlier question.', 'Go on.'])
    expect(textsOf(model, 0, 'assistant')).toEqual(['Earlier answer.'])
  })

  it('leaves a tool call without a result out of the messages of its parent', async () => {
    const { manager, model } = delegating()
    await manager.delegate('worker', 'Go on.', {
      contextMessages: [
        { role: 'user', content: 'Delegate this.' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'I delegate.' },
            { type: 'tool-call', toolCallId: 'c1', toolName: 'delegate', input: {} },
          ],
        },
      ],
    })
    expect(JSON.stringify(model.doGenerateCalls[0]?.prompt)).not.toContain('tool-call')
    expect(textsOf(model, 0, 'assistant')).toEqual(['I delegate.'])
  })

  it('appends a text as context to the task and passes nothing else', async () => {
    const { manager, model } = delegating()
    await manager.delegate('worker', 'Summarise.', { context: 'The text.' })
    expect(textsOf(model, 0, 'user')).toEqual(['Summarise.\n\n<context>\nThe text.\n</context>'])
  })

  it('returns structured output for a schema', async () => {
    const { manager } = delegating({ replies: [says('{"count": 3}')] })
    const result = await manager.delegate('worker', 'Count.', {
      outputSchema: {
        type: 'object',
        properties: { count: { type: 'integer' } },
        required: ['count'],
      },
    })
    expect(result).toMatchObject({ success: true, structured: { count: 3 } })
  })

  it('returns a failed result at the time limit, with the reason', async () => {
    const { model } = hanging()
    const { manager } = delegating({ model })
    const result = await manager.delegate('worker', 'Think.', { timeoutMs: 5 })
    expect(result).toMatchObject({ success: false, status: 'failed', endReason: 'timeout' })
    expect(() => requireSuccess(result)).toThrow(SubagentTimeoutError)
  })
})

describe('usage', () => {
  it('counts usage once for the model that answered, even if nobody awaits the result', async () => {
    const child = scripted([call('echo'), says('ok')], 'child-model')
    const { manager, usage } = delegating({
      tools: [echoTool()],
      configs: [worker({ model: child, tools: ['echo'] })],
    })
    const handle = await manager.delegateAsync('worker', 'Go.')
    for await (const _ of handle.events) {
      // until it is over; its result is never asked for
    }
    expect(usage()).toMatchObject([
      { model: 'child-model', agent: 'worker', delegation: handle.id, usage: { requests: 2 } },
    ])
    expect(manager.getUsageBreakdown()).toEqual({
      worker: {
        inputTokens: 20,
        outputTokens: 4,
        cachedInputTokens: 0,
        reasoningTokens: 0,
        requests: 2,
      },
    })
  })

  it('breaks usage down by subagent over completed, failed and capped delegations', async () => {
    const failing = scripted([call('echo'), new Error('no')], 'f')
    const capped = scripted([call('echo'), says('sum')], 'c')
    const { manager, usage } = delegating({
      replies: [says('fine')],
      tools: [echoTool()],
      configs: [
        worker({ tools: ['echo'], config: { callSettings: { maxRetries: 0 } } }),
        worker({ name: 'other', tools: ['echo'], maxTurns: 1 }),
      ],
    })
    const results = [
      await manager.delegate('worker', 'a'),
      await manager.delegate('worker', 'b', { model: failing }),
      await manager.delegate('other', 'c', { model: capped }),
    ]
    expect(results.map(({ status }) => status)).toEqual(['completed', 'failed', 'capped'])
    const requests = results.reduce((sum, { usage: used }) => sum + used.requests, 0)
    expect(requests).toBe(4)
    expect(usage().reduce((sum, entry) => sum + entry.usage.requests, 0)).toBe(4)
    const { worker: one, other } = manager.getUsageBreakdown()
    expect([one?.requests, other?.requests]).toEqual([2, 2])
  })

  it('counts completed, failed, cancelled and capped delegations once in the sum of the parent', async () => {
    const { model: slow, asked } = hanging()
    const started = scripted([call('echo')], 'cancelled-model')
    const cancelled = new MockLanguageModelV4({
      modelId: 'cancelled-model',
      doGenerate: async (options) =>
        started.doGenerateCalls.length === 0
          ? await started.doGenerate(options)
          : await slow.doGenerate(options),
    })
    const models = {
      completed: scripted([call('echo'), says('fine')], 'completed-model'),
      failed: scripted([call('echo'), new Error('no')], 'failed-model'),
      cancelled,
      capped: scripted([call('echo'), says('sum')], 'capped-model'),
    }
    const ended: string[] = []
    const agent = new Agent({
      model: scripted([]),
      discover: false,
      tools: [echoTool()],
      subagents: Object.entries(models).map(([name, model]) => {
        const config = worker({ name, model, tools: ['echo'], maxTurns: name === 'capped' ? 1 : 9 })
        return { ...config, config: { callSettings: { maxRetries: 0 } } }
      }),
      onEvent(event) {
        if (event.type !== 'delegation' || event.status === 'started') return
        ended.push(`${event.subagent}: ${event.status}`)
      },
    })
    for (const name of Object.keys(models)) {
      const handle = await agent.delegateAsync(name, 'Go.')
      if (name === 'cancelled') void asked.then(() => handle.cancel())
    }
    await until(() => ended.length === 4)
    expect(ended.toSorted()).toEqual(
      Object.keys(models)
        .map((name) => `${name}: ${name}`)
        .toSorted(),
    )
    const requests = { completed: 2, failed: 1, cancelled: 1, capped: 2 }
    const { total, own, byAgent, byModel, byDelegation, entries } = agent.usage
    expect(own.requests).toBe(0)
    expect(total).toMatchObject({ requests: 6, inputTokens: 60, outputTokens: 12 })
    expect(entries).toHaveLength(4)
    expect(Object.keys(byDelegation)).toHaveLength(4)
    for (const [name, count] of Object.entries(requests)) {
      expect(byAgent[name]?.requests).toBe(count)
      expect(byModel[`${name}-model`]?.requests).toBe(count)
    }
    expect(agent.subagentManager.getActiveDelegations()).toEqual([])
  })
})

describe('isolation', () => {
  it('hides siblings from one another, and later changes of the parent from both', async () => {
    const model = new MockLanguageModelV4({
      doGenerate: async ({ prompt }) => says(JSON.stringify(prompt)),
    })
    const { manager } = delegating({ model })
    const shared = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'shared' }] }]
    const [left, right] = await Promise.all([
      manager.delegate('worker', 'left secret', { contextMessages: shared }),
      manager.delegate('worker', 'right secret', { contextMessages: shared }),
    ])
    expect(left?.output).not.toContain('right secret')
    expect(right?.output).not.toContain('left secret')
    expect(left?.result?.messages).not.toBe(right?.result?.messages)
    expect(shared).toEqual([{ role: 'user', content: [{ type: 'text', text: 'shared' }] }])
  })

  it('passes each subagent its own copy of the messages', async () => {
    const text = { type: 'text' as const, text: 'shared' }
    const message = { role: 'user' as const, content: [text] }
    let mayGoOn = (): void => undefined
    const goOn = new Promise<void>((resolve) => {
      mayGoOn = resolve
    })
    const seen: string[] = []
    const model = new MockLanguageModelV4({
      async doGenerate({ prompt }) {
        const isFirst = !prompt.some(({ role }) => role === 'tool')
        if (isFirst) return call('wait')
        seen.push(JSON.stringify(prompt))
        return says('Done.')
      },
    })
    const wait = echoTool('wait', {
      async execute() {
        await goOn
        return 'waited'
      },
    })
    const { manager } = delegating({
      model,
      tools: [wait],
      configs: [worker({ tools: ['wait'] })],
    })
    const contextMessages = [message]
    const handles = await Promise.all([
      manager.delegateAsync('worker', 'One.', { contextMessages }),
      manager.delegateAsync('worker', 'Two.', { contextMessages }),
    ])
    text.text = 'changed by the parent'
    contextMessages.push({ role: 'user', content: [{ type: 'text', text: 'added' }] })
    mayGoOn()
    const results = await Promise.all(handles.map((handle) => handle.result()))
    expect(results.map(({ success }) => success)).toEqual([true, true])
    expect(seen).toHaveLength(2)
    for (const prompt of seen) {
      expect(prompt).toContain('shared')
      expect(prompt).not.toMatch(/changed by the parent|added/)
    }
    expect(seen.filter((prompt) => prompt.includes('One.') && prompt.includes('Two.'))).toEqual([])
  })

  it('inherits a model object as the same object', async () => {
    const { manager, model } = delegating()
    await manager.delegate('worker', 'Go.')
    expect(model.doGenerateCalls).toHaveLength(1)
  })

  it('accepts an unknown model in a definition and fails the delegation', async () => {
    const { manager } = delegating({ configs: [worker({ model: 'nobody:nothing' })] })
    const result = await manager.delegate('worker', 'Go.')
    expect(result).toMatchObject({
      success: false,
      status: 'failed',
      error: expect.stringContaining('Unknown model provider "nobody"'),
      result: undefined,
    })
  })

  it('gives a handle and a session no getter of their own, which would delay their garbage collection', async () => {
    const handle = await delegating().manager.delegateAsync('worker', 'Go.')
    const session = new AgentSession({
      agent: 'a',
      model: () => scripted([]),
      usage: new UsageLedger(),
    })
    const getters = [handle, session].flatMap((value) =>
      Object.entries(Object.getOwnPropertyDescriptors(value)).flatMap(([name, { get }]) =>
        get === undefined ? [] : [name],
      ),
    )
    expect(getters).toEqual([])
    expect(await handle.result()).toMatchObject({ success: true })
    expect(handle).toMatchObject({ status: 'completed', isComplete: true })
  })

  it('ignores a change of a definition after its registration', async () => {
    const config = worker({ systemPrompt: 'First.' })
    const { manager, model } = delegating({ configs: [config] })
    config.systemPrompt = 'Second.'
    await manager.delegate('worker', 'Go.')
    expect(textsOf(model, 0, 'system')).toEqual(['First.'])
  })
})

describe('signals', () => {
  it('ends a delegation with the run that waits for it', async () => {
    const { model, asked } = hanging()
    const { manager } = delegating({ model })
    const controller = new AbortController()
    const waiting = manager.delegate('worker', 'Think.', { signal: controller.signal })
    await asked
    controller.abort()
    expect(await waiting).toMatchObject({ status: 'cancelled', endReason: 'parent-cancelled' })
  })

  it('never calls the model if the signal is already aborted', async () => {
    const { manager, model } = delegating()
    const result = await manager.delegate('worker', 'Go.', { signal: AbortSignal.abort() })
    expect(result).toMatchObject({ status: 'cancelled', endReason: 'parent-cancelled' })
    expect(model.doGenerateCalls).toHaveLength(0)
  })

  it('ends all delegations with cancelAll and waits for them', async () => {
    const { model } = hanging()
    const { manager } = delegating({ model, parent: { concurrency: 2 } })
    for (const task of ['a', 'b', 'c']) await manager.delegateAsync('worker', task)
    const results = await manager.cancelAll()
    expect(results.map(({ status }) => status)).toEqual(['cancelled', 'cancelled', 'cancelled'])
    expect(manager.getActiveDelegations()).toEqual([])
  })
})

describe('a running delegation', () => {
  it('reads messages before its next step', async () => {
    const tool = echoTool('wait', {
      execute: async () => {
        handle.send('Use the other file.')
        return 'ok'
      },
    })
    const { manager, model } = delegating({
      replies: [call('wait'), says('Done.')],
      tools: [tool],
      configs: [worker({ tools: ['wait'] })],
    })
    const handle = await manager.delegateAsync('worker', 'Go.')
    await handle.result()
    expect(textsOf(model, 1, 'user')).toEqual(['Go.', 'Use the other file.'])
    expect(() => handle.send('Too late.')).toThrow(SubagentDelegationError)
  })

  it('reports its events with its ID to the parent, and from the beginning to every reader', async () => {
    const { manager, events } = delegating({
      replies: [call('echo'), says('Done.')],
      tools: [echoTool()],
      configs: [worker({ tools: ['echo'] })],
    })
    const handle = await manager.delegateAsync('worker', 'Go.')
    await handle.result()
    const late: AgentEvent[] = []
    for await (const event of handle.events) late.push(event)
    expect(late).toEqual(events)
    expect(events.map(({ type }) => type)).toEqual([
      'delegation',
      'step',
      'tool-call',
      'tool-result',
      'text',
      'step',
      'delegation',
    ])
    for (const event of events) expect(event).toMatchObject({ delegation: handle.id })
  })

  it('is not harmed by a listener that throws', async () => {
    const { manager } = delegating()
    const onEvent = (): void => {
      throw new Error('listener')
    }
    expect(await manager.delegate('worker', 'Go.', { onEvent })).toMatchObject({ success: true })
  })
})

describe('resume', () => {
  it('continues in the same conversation with its own controller', async () => {
    const { manager, model } = delegating({ replies: [says('First.'), says('Second.')] })
    const controller = new AbortController()
    const { signal } = controller
    const first = await manager.delegate('worker', 'One.', { signal, context: 'Known.' })
    controller.abort()
    const second = await (await manager.resume(first.id, 'Two.')).result()
    expect(second).toMatchObject({ id: first.id, success: true, output: 'Second.' })
    expect(second.usage.requests).toBe(1)
    const before = 'One.\n\n<context>\nKnown.\n</context>'
    expect(textsOf(model, 1, 'user')).toEqual([before, 'Two.'])
    expect(textsOf(model, 1, 'assistant')).toEqual(['First.'])
  })

  it('counts earlier tokens towards the token limit, also in another process', async () => {
    const usage = tokens(10, 2)
    const { manager } = delegating({ replies: [says('One.', usage), says('Two.', usage)] })
    const maxTokens = 13
    const { id } = await manager.delegate('worker', 'One.', { maxTokens })
    const second = await (await manager.resume(id, 'Two.')).result()
    expect(second).toMatchObject({ success: true, usage: { requests: 1 } })
    expect(await (await manager.resume(id, 'Three.')).result()).toMatchObject({ status: 'capped' })
    const other = delegating({ parent: { maxTokens } }).manager
    other.restore(JSON.parse(JSON.stringify(manager.stored)))
    expect(await (await other.resume(id, 'Four.')).result()).toMatchObject({ status: 'capped' })
  })

  it('continues after a cancellation, and can be cancelled again', async () => {
    const { model, asked } = hanging()
    const { manager } = delegating({ model })
    const first = await manager.delegateAsync('worker', 'One.')
    await asked
    first.cancel()
    await first.result()
    const again = await manager.resume(first.id, 'Go on.')
    expect(again.isComplete).toBe(false)
    again.cancel()
    expect(await again.result()).toMatchObject({ status: 'cancelled', endReason: 'cancelled' })
  })

  it('limits the tools to those that the parent may use now', async () => {
    const { agent, manager, model } = delegating({
      replies: [says('First.'), says('Second.')],
      tools: [echoTool('read')],
      parent: { skills: [defineSkill({ name: 'style', description: 'Styles.', body: 'Style.' })] },
      configs: [worker({ tools: ['*'] })],
    })
    agent.skillManager.registerTool('style', { name: 'write', execute: () => 'written' })
    await agent.invokeSkill('style')
    const { id } = await agent.delegate('worker', 'One.')
    await agent.deactivateSkill('style')
    await (await manager.resume(id, 'Two.')).result()
    expect([toolsOffered(model, 0), toolsOffered(model, 1)]).toEqual([
      ['read', 'style__write'],
      ['read'],
    ])
  })

  it('refuses a running delegation, an unknown one, and an empty task', async () => {
    const { model } = hanging()
    const { manager } = delegating({ model })
    const handle = await manager.delegateAsync('worker', 'One.')
    await expect(manager.resume(handle.id, 'Two.')).rejects.toThrow('is not over')
    await expect(manager.resume('nothing', 'Two.')).rejects.toThrow(SubagentDelegationError)
    handle.cancel()
    await handle.result()
    await expect(manager.resume(handle.id, ' ')).rejects.toThrow('is empty')
    expect(await manager.resume(handle.id, 'Two.')).toMatchObject({ id: handle.id })
    await manager.cancelAll()
  })

  it('keeps only the last delegations', async () => {
    const replies = Array.from({ length: 22 }, () => says('ok'))
    const { manager } = delegating({ replies })
    const ids: string[] = []
    for (let index = 0; index < 21; index++) {
      ids.push((await manager.delegate('worker', `Task ${index}.`)).id)
    }
    await expect(manager.resume(ids[0] ?? '', 'x')).rejects.toThrow('no finished delegation')
    expect(await manager.resume(ids[1] ?? '', 'x')).toMatchObject({ id: ids[1] })
    await manager.cancelAll()
  })
})
