import { APICallError } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Agent } from '../../src/agent/agent.ts'
import type { AgentOptions } from '../../src/agent/agent-options.ts'
import type { AgentTool, Approver } from '../../src/agent/types.ts'
import { systemRuntime } from '../../src/core/runtime.ts'
import {
  defineSkill,
  type Skill,
  SkillManager,
  SkillValidationError,
} from '../../src/entries/index.ts'
import { call, calls, echoTool, says, scripted } from './mock-replies.ts'

function agentWith(options: Partial<AgentOptions> & Pick<AgentOptions, 'model'>): Agent {
  return new Agent({ runtime: systemRuntime({ cwd: '/', home: '/nowhere', env: {} }), ...options })
}

/** Works until its signal aborts, and says so. */
function endless(): AgentTool & { aborted: number; started: Promise<void> } {
  const { promise: started, resolve } = Promise.withResolvers<void>()
  const tool = echoTool('endless', {
    execute: (_input, { signal }) =>
      new Promise((_resolve, reject) => {
        resolve()
        signal.addEventListener('abort', () => {
          result.aborted += 1
          reject(new Error('aborted'))
        })
      }),
  })
  const result = Object.assign(tool, { aborted: 0, started })
  return result
}

describe('options that cannot be used', () => {
  const model = scripted([])

  it.each([
    ['maxTurns', NaN],
    ['maxTurns', 0],
    ['maxTurns', -1],
    ['maxTurns', 10_001],
    ['timeoutMs', Infinity],
    ['timeoutMs', 2 ** 31],
    ['timeoutMs', 0],
    ['concurrency', 1.5],
    ['limits', { budget: NaN }],
    ['limits', { budget: -5 }],
    ['callSettings', { maxRetries: -1 }],
    ['callSettings', { temperature: NaN }],
    ['callSettings', { maxOutputTokens: 0 }],
  ])('are refused for a new agent: %s %j', (name, value) => {
    expect(() => agentWith({ model, [name]: value })).toThrow(
      expect.objectContaining({ code: 'agent-options', exitCode: 2 }),
    )
  })

  it('names an unknown option, and the one with the nearest name', () => {
    const given: object = { maxTurn: 3 }
    expect(() => agentWith({ model, ...given })).toThrow(
      expect.objectContaining({
        message: expect.stringContaining('there is no option `maxTurn`'),
        hint: expect.stringContaining('Did you mean maxTurns?'),
      }),
    )
    const nested: object = { callSettings: { header: {} } }
    expect(() => agentWith({ model, ...nested })).toThrow(/`callSettings\.header` is not/)
  })

  it.each([{ maxTurns: NaN }, { maxTurns: 0 }, { timeoutMs: Infinity }])(
    'are refused for a run and for a delegation: %j',
    async (options) => {
      const subagents = [{ name: 'worker', description: 'Works.' }]
      const agent = agentWith({ model, subagents, discover: false })
      const wrong = { code: 'agent-options' }
      await expect(agent.generate('Go.', options)).rejects.toMatchObject(wrong)
      await expect(agent.delegate('worker', 'Go.', options)).rejects.toMatchObject(wrong)
    },
  )
})

describe('a skill made by a program', () => {
  it('is made with defineSkill, which is public, and used by an agent', async () => {
    const greet = defineSkill({ name: 'greet', description: 'Greets.', body: 'Say hi to $0.' })
    const agent = agentWith({ model: scripted([]), skills: [greet], discover: false })
    expect(await agent.invokeSkill('greet', 'Ada')).toContain('Say hi to Ada.')
  })

  it('is refused as a plain object, and the error names defineSkill', async () => {
    const manager = new SkillManager({ autoDiscover: false })
    const plain: Skill = JSON.parse('{"name":"greet","description":"Greets.","body":"Hi."}')
    await expect(manager.register(plain)).rejects.toThrow(
      expect.objectContaining({ hint: expect.stringContaining('defineSkill') }),
    )
    await expect(manager.register(plain)).rejects.toThrow(SkillValidationError)
  })
})

describe('the shape of an answer', () => {
  const outputSchema = z.object({ city: z.string() })

  it('can be a zod type: the model reads a JSON Schema, and the answer is checked', async () => {
    const model = scripted([says('{"town":"Rome"}'), says('{"city":"Rome"}')])
    const result = await agentWith({ model }).generate('Where?', { outputSchema })
    expect(result).toMatchObject({ status: 'completed', output: { city: 'Rome' }, turns: 2 })
    const told = JSON.stringify(model.doGenerateCalls[0]?.prompt)
    expect(told).toContain('properties')
    expect(told).not.toContain('~standard')
  })
})

describe('a run that is left', () => {
  it('ends with its tools when the reader of a stream stops', async () => {
    const tool = endless()
    const agent = agentWith({
      model: scripted([call('endless'), says('Again.')]),
      tools: [tool],
    })
    const stream = agent.stream('Go.')
    for await (const event of stream) if (event.type === 'tool-call') break
    expect((await stream.result).status).toBe('cancelled')
    expect((await agent.generate('And now?')).text).toBe('Again.')
  })

  it('ends with its tools when the agent is closed', async () => {
    const tool = endless()
    const agent = agentWith({ model: scripted([call('endless')]), tools: [tool] })
    const run = agent.generate('Go.')
    await tool.started
    await agent.close()
    expect((await run).status).toBe('cancelled')
    expect(tool.aborted).toBe(1)
  })

  it('ends at its time limit', async () => {
    const tool = endless()
    const agent = agentWith({ model: scripted([call('endless')]), tools: [tool], timeoutMs: 20 })
    expect(await agent.generate('Go.')).toMatchObject({
      status: 'capped',
      error: 'The run took longer than 0.02 s',
    })
    expect(tool.aborted).toBe(1)
  })
})

describe('a program that is not what it should be', () => {
  it('does not fail a run by a listener that throws', async () => {
    const fails = (): never => {
      throw new Error('my fault')
    }
    const agent = agentWith({ model: scripted([says('Done.')]), onEvent: fails })
    expect(await agent.generate('Go.', { onEvent: fails })).toMatchObject({
      status: 'completed',
      text: 'Done.',
    })
  })

  const circular: Record<string, unknown> = {}
  circular['self'] = circular
  it.each([
    true,
    false,
    'yes',
    '',
    1,
    10n,
    null,
    undefined,
    [],
    [true],
    {},
    circular,
    ...['no', 'yes', 'true', 1, 0, null, undefined].map((approved) => ({ approved })),
  ])('approves nothing and says what to return when an approver returns %o', async (answer) => {
    const tool = echoTool('write', { readOnly: false, needsApproval: true })
    const refusing: Approver = async () => ({ approved: false })
    const approver = new Proxy(refusing, { apply: async () => answer })
    const agent = agentWith({
      model: scripted([call('write'), says('Done.')]),
      tools: [tool],
      approver,
    })
    const { messages } = await agent.generate('Go.')
    const [, result] = messages
    expect(JSON.stringify(result)).toContain('Return { approved: true }')
    expect(tool.seen).toEqual([])
  })
})

it('runs at most ten calls of one step at once, and all of them', async () => {
  let [running, most, done] = [0, 0, 0]
  const tool = echoTool('slow', {
    async execute() {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setImmediate(resolve))
      running -= 1
      return ++done
    },
  })
  const wanted = Array.from({ length: 200 }, (_, index) => ({
    name: 'slow',
    input: { index },
    id: `call-${index}`,
  }))
  const agent = agentWith({ model: scripted([calls(wanted), says('Done.')]), tools: [tool] })
  await agent.generate('Go.')
  expect({ most, done }).toEqual({ most: 10, done: 200 })
})

it('says in one sentence that a gateway answered with a page', async () => {
  const page = `<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>${'x'.repeat(5000)}</body></html>`
  const model = new MockLanguageModelV4({
    doGenerate: async () => {
      throw new APICallError({
        message: page,
        url: 'http://127.0.0.1:1/v1',
        requestBodyValues: {},
        statusCode: 502,
        isRetryable: false,
      })
    },
  })
  const { error } = await agentWith({ model }).generate('Go.')
  expect(error).toBe(
    'The model call failed (HTTP 502): the server answered with an HTML page "502 Bad Gateway" instead of an answer of a model',
  )
})

describe('what a subagent takes over from its parent', () => {
  it('includes the limit of the context', async () => {
    const read = echoTool('read', { execute: async () => 'x'.repeat(8000) })
    const replies = Array.from({ length: 12 }, (_, index) => call('read', { index }))
    const model = scripted([...replies, says('Done.')])
    const subagents = [{ name: 'reader', description: 'Reads.', tools: ['*'] }]
    const agent = agentWith({ model, tools: [read], subagents, limits: { budget: 9000 } })
    await agent.delegate('reader', 'Read all.')
    expect(JSON.stringify(model.doGenerateCalls.at(-1)?.prompt).length).toBeLessThan(40_000)
  })

  it('includes settings and headers, which its own ones override', async () => {
    const model = scripted([says('Done.')])
    const callSettings = { headers: { 'x-key': 'secret' }, temperature: 0.5, maxRetries: 0 }
    const own = { temperature: 1, headers: { 'x-more': 'y' } }
    const worker = { name: 'worker', description: 'Works.', config: { callSettings: own } }
    const agent = agentWith({ model, subagents: [worker], callSettings })
    await agent.delegate('worker', 'Go.')
    expect(model.doGenerateCalls[0]).toMatchObject({
      temperature: 1,
      headers: { 'x-key': 'secret', 'x-more': 'y' },
    })
  })

  it('includes no headers if another provider answers', async () => {
    const [model, other] = [scripted([]), scripted([says('Done.')])]
    const callSettings = { headers: { 'x-key': 'secret' }, temperature: 0.5 }
    const worker = { name: 'worker', description: 'Works.', model: other }
    const agent = agentWith({ model, subagents: [worker], callSettings })
    await agent.delegate('worker', 'Go.')
    expect(other.doGenerateCalls[0]?.temperature).toBe(0.5)
    expect(other.doGenerateCalls[0]?.headers).not.toHaveProperty('x-key')
  })

  it('includes instructions and headers in a fork without an agent', async () => {
    const model = scripted([says('Done.')])
    const skill = defineSkill({
      name: 'tidy',
      description: 'Tidies.',
      body: 'Tidy up.',
      context: 'fork',
    })
    const agent = agentWith({
      model,
      skills: [skill],
      discover: false,
      instructions: 'You work for Ada.',
      callSettings: { headers: { 'x-key': 'secret' } },
    })
    await agent.invokeSkill('tidy')
    const [asked] = model.doGenerateCalls
    expect(asked?.headers).toMatchObject({ 'x-key': 'secret' })
    expect(asked?.prompt[0]).toMatchObject({ role: 'system', content: 'You work for Ada.' })
  })
})
