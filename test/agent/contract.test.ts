import { tool, ToolLoopAgent } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { Agent } from '../../src/agent/agent.ts'
import { summarizeOldest } from '../../src/agent/conversation/compact.ts'
import { tool as ourTool } from '../../src/agent/tool.ts'
import { emptyFixture } from './_agent-fixture.ts'
import { place as serverPlace } from './mcp-tools/_place.ts'
import { call, says, scripted, tokens } from './mock-replies.ts'

const weather = tool({
  description: 'The weather.',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => ({ city, sunny: true }),
})

const sent = (model: MockLanguageModelV4, step: number): string =>
  JSON.stringify(model.doGenerateCalls.at(step))

describe('the contract of Agent', () => {
  it.each(['generate', 'run', 'stream'] as const)(
    'refuses messages of the AI SDK in %s, and names createSkills',
    async (method) => {
      const model = scripted([])
      const agent = new Agent({ model, runtime: emptyFixture().runtime })
      const use = async (): Promise<unknown> =>
        await Reflect.apply(agent[method], agent, [{ prompt: 'Go.' }])
      await expect(use()).rejects.toMatchObject({
        code: 'prompt-invalid',
        hint: expect.stringContaining('createSkills'),
      })
      expect(model.doGenerateCalls).toEqual([])
    },
  )

  it('is not an agent of the AI SDK, whose pages would get none of its limits', () => {
    const agent = new Agent({ model: scripted([]), runtime: emptyFixture().runtime })
    const face = Object.keys(Object.getOwnPropertyDescriptors(ToolLoopAgent.prototype))
    expect(face).toEqual(expect.arrayContaining(['id', 'tools', 'generate', 'stream']))
    expect(['version', 'id', 'tools'].filter((name) => name in agent)).toEqual([])
  })

  it.each([
    ['output', 'outputSchema'],
    ['approvalSecret', 'createSkills'],
  ])('names what replaces the option %s', (name, replacement) => {
    const options = { model: scripted([]), [name]: {} }
    expect(() => new Agent(options)).toThrow(
      expect.objectContaining({
        code: 'agent-options',
        hint: expect.stringContaining(replacement),
      }),
    )
  })
})

describe('an agent with a ToolSet', () => {
  it('checks inputs with the schema of each tool', async () => {
    const model = scripted([
      call('weather', { city: 1 }, 'a'),
      call('weather', { city: 'Rome' }, 'b'),
      says('Sunny.'),
    ])
    const agent = new Agent({ model, runtime: emptyFixture().runtime, tools: { weather } })
    expect(await agent.run('Rain in Rome?')).toMatchObject({ status: 'completed', text: 'Sunny.' })
    expect(sent(model, 1)).toContain('weather was not called')
    expect(sent(model, 2)).toContain('\\"sunny\\":true')
    expect(agent.messages).toHaveLength(6)
  })

  it('checks workflows before its tools, also those that stream', async () => {
    const { runtime, workflows } = serverPlace()
    const step = { step: 1, tool: 'weather', description: 'The weather.', required: true }
    const triggers = { tools: ['publish', 'report'] }
    workflows({
      look: { description: 'Looks.', mode: 'enforce', triggers, prerequisites: [step] },
    })
    const done: string[] = []
    const publish = tool({
      inputSchema: z.object({}),
      execute: async () => `Published ${done.push('publish')}.`,
    })
    const report = tool({
      inputSchema: z.object({}),
      async *execute() {
        done.push('report')
        yield 'Half.'
        yield 'Whole.'
      },
    })
    const outcomes: string[] = []
    const agent = new Agent({
      model: scripted([
        call('publish', {}, 'a'),
        call('report', {}, 'b'),
        call('weather', { city: 'Rome' }, 'c'),
        call('publish', {}, 'd'),
        call('report', {}, 'e'),
        says('Done.'),
      ]),
      runtime,
      workspaceTrust: 'trusted',
      tools: { weather, publish, report },
      onEvent(event) {
        if (event.type === 'tool-result')
          outcomes.push(`${event.id} ${JSON.stringify(event.output)}`)
      },
    })
    onTestFinished(() => agent.close())
    await agent.generate('Go.')
    expect(outcomes).toEqual([
      expect.stringMatching(/^a .*look.*Call weather first/s),
      expect.stringMatching(/^b .*look.*Call weather first/s),
      'c {"city":"Rome","sunny":true}',
      'd "Published 1."',
      'e "Whole."',
    ])
    expect(done).toEqual(['publish', 'report'])
  })
})

describe('the limits of a run', () => {
  it('count the tokens of subagents, and start again with every run', async () => {
    const worker = scripted([says('Worked.', tokens(100, 0)), says('Worked.', tokens(100, 0))])
    const work = (id: string) => call('delegate', { agent: 'worker', task: 'Work.' }, id)
    const agent = new Agent({
      model: scripted([work('a'), says('Never.'), work('b')]),
      runtime: emptyFixture().runtime,
      discover: false,
      maxTokens: 110,
      subagents: [{ name: 'worker', description: 'Works.', model: worker }],
    })
    const error = 'The run used 112 tokens of at most 110'
    expect(await agent.generate('Go.')).toMatchObject({ status: 'capped', turns: 1, error })
    expect(await agent.generate('Go.')).toMatchObject({ status: 'completed', text: 'Never.' })
    expect(agent.usage.total).toMatchObject({ inputTokens: 120, requests: 3 })
  })

  it.each(['generate', 'stream'] as const)(
    'end the wait for a summary when the run is cancelled, and call no model again: %s',
    async (method) => {
      const controller = new AbortController()
      const questions: string[] = []
      const never = (): Promise<never> => {
        questions.push('asked')
        controller.abort()
        return new Promise(() => undefined)
      }
      const model = new MockLanguageModelV4({ doGenerate: never, doStream: never })
      const messages = Array.from({ length: 9 }, (_, index) => {
        return { role: 'user' as const, content: `${index} ${'x'.repeat(4000)}` }
      })
      const limits = { budget: 5000, strategy: summarizeOldest }
      const agent = new Agent({ model, runtime: emptyFixture().runtime, limits, messages })
      const run = { signal: controller.signal }
      const result =
        method === 'generate' ? agent.generate('Go.', run) : agent.stream('Go.', run).result
      expect(await result).toMatchObject({ status: 'cancelled' })
      expect(questions).toHaveLength(1)
    },
  )
})

it('sends results as text to a model that a skill names, if its provider needs that', async () => {
  const place = emptyFixture()
  place.skill('project/.claude/skills/deep', { more: 'model: mine:big' })
  const big = new MockLanguageModelV4({
    provider: 'mine.chat',
    doGenerate: [call('fail'), says('Done.')],
  })
  const agent = new Agent({
    model: scripted([call('skill', { name: 'deep' })]),
    runtime: place.runtime,
    workspaceTrust: 'trusted',
    skills: [],
    providers: { mine: { languageModel: () => big } },
    tools: [
      ourTool({ name: 'fail', description: 'Fails.', execute: () => Promise.reject(Error('no')) }),
    ],
  })
  expect((await agent.generate('Go.')).text).toBe('Done.')
  expect(sent(big, 1)).toContain('Error: no')
  expect(sent(big, 1)).not.toContain('error-text')
})

it('sends pictures of MCP tools to the model', async () => {
  const { runtime, server } = serverPlace()
  const model = scripted([call('own__get_image', {}, 'i'), says('A dot.')])
  const approver = async () => ({ approved: true as const })
  const agent = new Agent({ model, runtime, discover: false, mcp: [server], approver })
  onTestFinished(() => agent.close())
  await agent.generate('Look.')
  expect(JSON.stringify(model.doGenerateCalls[1]?.prompt.at(-1))).toContain(
    '"mediaType":"image/png"',
  )
})
