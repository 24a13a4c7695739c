import { MockLanguageModelV4 } from 'ai/test'
import { describe, expect, it } from 'vitest'
import type { AgentEvent } from '../../../src/agent/types.ts'
import type { Agent, AgentResult } from '../../../src/agent/agent.ts'
import type { SubagentConfig } from '../../../src/agent/subagents/config.ts'
import { call, calls, type Reply, says, scripted } from '../mock-replies.ts'
import {
  askedTogether,
  type Delegating,
  delegating,
  hanging,
  textsOf,
  toolsOffered,
  worker,
} from './_parent.ts'
import { until } from '../../patience.ts'

interface Fixture {
  agent: Agent
  model: MockLanguageModelV4
  child: MockLanguageModelV4
  events: AgentEvent[]
  manager: Delegating['manager']
  run: (prompt?: string, signal?: AbortSignal) => Promise<AgentResult>
}

/** An agent whose model answers as scripted, with subagents that do too. */
function leading(
  replies: readonly Reply[] | MockLanguageModelV4,
  childReplies: readonly (Reply | Error)[] | MockLanguageModelV4,
  configs: readonly SubagentConfig[] = [worker()],
): Fixture {
  const model = replies instanceof MockLanguageModelV4 ? replies : scripted(replies, 'parent')
  const child =
    childReplies instanceof MockLanguageModelV4 ? childReplies : scripted(childReplies, 'child')
  const made = delegating({
    model,
    configs: configs.map((config) => ({ model: child, ...config })),
  })
  const run = async (prompt = 'Go.', signal?: AbortSignal): Promise<AgentResult> =>
    await made.agent.generate(prompt, { signal })
  return { ...made, child, run }
}

function idIn(text: string | undefined): string {
  return /[Dd]elegation ([0-9a-z]{14})/.exec(text ?? '')?.[1] ?? ''
}

describe('the tools by which a model delegates', () => {
  it('are not offered without a subagent', async () => {
    const { model, run } = leading([says('Done.')], [], [])
    await run()
    expect(toolsOffered(model, 0)).toEqual([])
  })

  it('offers the model four tools that delegate, with the names of the subagents', async () => {
    const { model, run } = leading(
      [says('Done.')],
      [],
      [worker(), worker({ name: 'reviewer', description: 'Reviews\ncode.' })],
    )
    await run()
    expect(toolsOffered(model, 0)).toEqual([
      'delegate',
      'delegation_status',
      'delegation_send',
      'delegation_cancel',
    ])
    const text = JSON.stringify(model.doGenerateCalls[0]?.tools?.[0])
    expect(text).toContain('"enum":["worker","reviewer"]')
    expect(text).toContain('- reviewer: Reviews code.')
  })

  it('lists a hundred subagents with long descriptions within a budget, and leaves none out', async () => {
    const configs = Array.from({ length: 100 }, (_, index) =>
      worker({ name: `agent-${index}`, description: 'long '.repeat(200) }),
    )
    const { model, run } = leading([says('Done.')], [], configs)
    await run()
    const text = JSON.stringify(model.doGenerateCalls[0]?.tools?.[0])
    expect(text.length).toBeLessThan(14_000)
    for (const { name } of configs) expect(text).toContain(`- ${name}: long`)
  })

  it("returns the subagent's answer to the model, with its events in the stream", async () => {
    const { model, events, run } = leading(
      [call('delegate', { agent: 'worker', task: 'Count.' }), says('It is three.')],
      [says('Three.')],
    )
    expect(await run()).toMatchObject({ status: 'completed', text: 'It is three.' })
    const [answer = ''] = textsOf(model, 1, 'tool')
    expect(answer).toMatch(/^Three\.\n\n\[delegation [0-9a-z]{14} of worker: completed\]$/)
    const child = events.filter(
      (event) => 'delegation' in event && event.delegation === idIn(answer),
    )
    expect(child.map(({ type }) => type)).toEqual(['delegation', 'text', 'step', 'delegation'])
  })

  it('runs several delegations of one step concurrently', async () => {
    const { model: child, most } = askedTogether(3)
    const three = ['a', 'b', 'c'].map((task) => ({
      name: 'delegate',
      input: { agent: 'worker', task },
      id: task,
    }))
    const { run } = leading([calls(three), says('Done.')], child)
    await run()
    expect(most()).toBe(3)
  })

  it('returns a failed delegation as an error, a capped one as a summary that can be continued', async () => {
    const { model, run } = leading(
      [
        calls([
          { name: 'delegate', input: { agent: 'bad', task: 'x' } },
          { name: 'delegate', input: { agent: 'capped', task: 'x' }, id: 'second' },
          { name: 'delegate', input: { agent: 'worker', task: ' ' }, id: 'third' },
        ]),
        says('Done.'),
      ],
      [],
      [
        worker(),
        worker({ name: 'bad', model: scripted([new Error('no luck')]) }),
        worker({
          name: 'capped',
          maxTurns: 1,
          model: scripted([call('nothing'), says('The summary.')]),
        }),
      ],
    )
    await run()
    const [failed, capped, empty] = textsOf(model, 1, 'tool')
    expect(failed).toMatch(/^Error: The delegation .* to bad failed: .*no luck/)
    expect(capped).toContain('The summary.')
    expect(capped).toContain('Max turns exceeded')
    expect(empty).toContain('Error: The task for worker is empty')
  })

  it('answers an unknown subagent with an error that lists the subagents', async () => {
    const { model, run } = leading(
      [call('delegate', { agent: 'wroker', task: 'x' }), says('Done.')],
      [],
    )
    await run()
    expect(textsOf(model, 1, 'tool')[0]).toMatch(
      /^Error: delegate was not called: agent must be one of "worker"/,
    )
  })

  it('continues a finished delegation by its ID', async () => {
    const model: MockLanguageModelV4 = new MockLanguageModelV4({
      doGenerate: async () => {
        const turn = model.doGenerateCalls.length
        if (turn === 1) return call('delegate', { agent: 'worker', task: 'One.' })
        if (turn > 2) return says('Done.')
        const resume = idIn(textsOf(model, 1, 'tool')[0])
        return call('delegate', { agent: 'worker', task: 'Two.', resume })
      },
    })
    const { child, run } = leading(model, [says('First.'), says('Second.')])
    await run()
    expect(textsOf(child, 1, 'user')).toEqual(['One.', 'Two.'])
    expect(textsOf(model, 2, 'tool')[1]).toContain('Second.')
  })

  it('cancels a foreground delegation with the run of its parent', async () => {
    let seen: AbortSignal | undefined
    const controller = new AbortController()
    const child = new MockLanguageModelV4({
      doGenerate: ({ abortSignal }) =>
        new Promise((_, reject) => {
          seen = abortSignal
          abortSignal?.addEventListener('abort', () => reject(abortSignal.reason), { once: true })
          controller.abort()
        }),
    })
    const { run } = leading([call('delegate', { agent: 'worker', task: 'x' })], child)
    expect(await run('Go.', controller.signal)).toMatchObject({ status: 'cancelled' })
    expect(seen?.aborted).toBe(true)
  })
})

describe('background delegation by the model', () => {
  it('continues after the run, reports its end, and returns its answer', async () => {
    const { model: child, answer } = hanging()
    const model: MockLanguageModelV4 = new MockLanguageModelV4({
      doGenerate: async () => {
        const turn = model.doGenerateCalls.length
        if (turn === 1) {
          return call('delegate', { agent: 'worker', task: 'Slow.', background: true })
        }
        if (turn === 2) return says('It works on it.')
        if (turn === 3) return call('delegation_status', { wait: true })
        return says('Here it is.')
      },
    })
    const controller = new AbortController()
    const { run, manager } = leading(model, child)
    expect(await run('Start.', controller.signal)).toMatchObject({ text: 'It works on it.' })
    controller.abort()
    expect(textsOf(model, 1, 'tool')[0]).toContain('has started in the background')
    answer(says('The slow answer.'))
    await until(() => manager.getActiveDelegations().length === 0)
    await run('And?')
    expect(textsOf(model, 2, 'user').join()).toContain('is over: completed')
    expect(textsOf(model, 3, 'tool').at(-1)).toContain('The slow answer.')
  })

  it('receives messages and is cancelled by its ID', async () => {
    let steps = 0
    const child = new MockLanguageModelV4({
      doGenerate: ({ abortSignal }) =>
        new Promise((_, reject) => {
          steps += 1
          abortSignal?.addEventListener('abort', () => reject(abortSignal.reason), { once: true })
        }),
    })
    let id = ''
    const model: MockLanguageModelV4 = new MockLanguageModelV4({
      doGenerate: async () => {
        switch (model.doGenerateCalls.length) {
          case 1:
            return call('delegate', { agent: 'worker', task: 'Slow.', background: true })
          case 2:
            id = idIn(textsOf(model, 1, 'tool')[0])
            return calls([
              { name: 'delegation_send', input: { delegation: id, message: 'Hurry.' }, id: 'a' },
              { name: 'delegation_status', input: { delegation: id }, id: 'b' },
              { name: 'delegation_status', input: { delegation: 'nobody' }, id: 'c' },
            ])
          case 3:
            return call('delegation_cancel', { delegation: id })
          case 4:
            return call('delegation_send', { delegation: id, message: 'Too late.' })
          default:
            return says('Done.')
        }
      },
    })
    const { run } = leading(model, child)
    await run()
    const results = textsOf(model, 4, 'tool')
    expect(results[1]).toBe('It reads the message before its next step.')
    expect(results[2]).toContain(`Delegation ${id} to worker: running.`)
    expect(results[3]).toContain(`There are ${id}.`)
    expect(results[4]).toContain(`Delegation ${id} to worker: cancelled`)
    expect(results[5]).toContain('cancelled')
    expect(steps).toBe(1)
  })

  it('ends when the agent is closed', async () => {
    let aborted = false
    const child = new MockLanguageModelV4({
      doGenerate: ({ abortSignal }) =>
        new Promise((_, reject) => {
          abortSignal?.addEventListener('abort', () => {
            aborted = true
            reject(abortSignal.reason)
          })
        }),
    })
    const { run, agent } = leading(
      [call('delegate', { agent: 'worker', task: 'x', background: true }), says('Done.')],
      child,
    )
    await run()
    await agent.close()
    expect(aborted).toBe(true)
  })
})
