import { Output, tool, ToolLoopAgent } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { Agent } from '../../../src/agent/agent.ts'
import { subagentTool, totalUsage } from '../../../src/agent/ai/subagent-tool.ts'
import { summarizeOldest } from '../../../src/agent/conversation/compact.ts'
import { tool as ourTool } from '../../../src/agent/tool.ts'
import { emptyWorld } from '../_agent-world.ts'
import { place as serverPlace } from '../mcp-tools/_place.ts'
import { call, says, scripted, tokens } from '../mock-replies.ts'
import { Page, project, sent } from './_app.ts'

const weather = tool({
  description: 'The weather.',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => ({ city, sunny: true }),
})

describe('Agent as an agent of the AI SDK', () => {
  it('has typed tools and a checked, typed output', async () => {
    const model = scripted([call('weather', { city: 'Rome' }, 'w'), says('{"umbrella":false}')])
    const { runtime } = emptyWorld()
    const agent = new Agent({
      model,
      runtime,
      tools: { weather },
      output: Output.object({ schema: z.object({ umbrella: z.boolean() }) }),
    })
    const { output, steps } = await agent.generate({ prompt: 'Rain in Rome?' })
    expectTypeOf(output).toEqualTypeOf<{ umbrella: boolean }>()
    expect(output).toEqual({ umbrella: false })
    const [first] = steps[0]?.staticToolResults ?? []
    if (first?.toolName === 'weather')
      expectTypeOf(first.output).toEqualTypeOf<{ city: string; sunny: boolean }>()
    expect(first?.output).toEqual({ city: 'Rome', sunny: true })
    expect({ version: agent.version, id: agent.id }).toEqual({ version: 'agent-v1', id: 'main' })
    expect(agent.usage.own).toMatchObject({ inputTokens: 20, requests: 2 })
  })

  it('takes a ToolSet in its own loop too', async () => {
    const model = scripted([
      call('weather', { city: 1 }, 'a'),
      call('weather', { city: 'Rome' }, 'b'),
      says('Sunny.'),
    ])
    const { runtime } = emptyWorld()
    const agent = new Agent({ model, runtime, tools: { weather } })
    expect(await agent.run('Rain in Rome?')).toMatchObject({ status: 'completed', text: 'Sunny.' })
    expect(sent(model, 1)).toContain('weather was not called')
    expect(sent(model, 2)).toContain('\\"sunny\\":true')
    expect(agent.messages).toHaveLength(6)
  })

  it('serves pages: skills, built-in tools that wait for an approval, and many conversations', async () => {
    const place = project()
    const model = scripted([
      call('skill', { name: 'notes' }, 's'),
      call('write', { file_path: 'a.txt', content: 'hello' }, 'w'),
      says('Other.'),
      says('Written.'),
    ])
    const agent = new Agent({
      model,
      runtime: place.runtime,
      skills: [],
      builtIns: ['write', 'read'],
      workspaceTrust: 'trusted',
    })
    const [first, second] = [new Page(), new Page()]
    await first.send(agent, 'Write it.')
    expect(JSON.stringify(first.messages)).toContain('approval-requested')
    await second.send(agent, 'Something else.')
    first.answer(true)
    await first.send(agent)
    expect(sent(model, 3)).toContain('SECRET-RECIPE')
    expect(sent(model, 3)).toContain('Made a.txt')
    expect(first.received).not.toContain('SECRET-RECIPE')
    expect(second.received).toContain('Other.')
    expect(agent.messages).toEqual([])
  })

  it('sums up without tools when its turns are used up, and shortens what is too long', async () => {
    const long = ourTool({ name: 'long', description: 'Long.', execute: () => 'x'.repeat(8000) })
    const replies = Array.from({ length: 6 }, (_, index) => call('long', {}, `c${index}`))
    const model = scripted([...replies, says('So far.')])
    const { runtime } = emptyWorld()
    const agent = new Agent({
      model,
      runtime,
      tools: [long],
      maxTurns: 6,
      limits: { budget: 4000 },
    })
    expect((await agent.generate({ prompt: 'Go.' })).text).toBe('So far.')
    expect(model.doGenerateCalls[6]?.tools ?? []).toEqual([])
    expect(sent(model, 6)).toContain('Max turns exceeded')
    expect(sent(model, 5).length).toBeLessThan(24_000)
  })

  it('has the tools of its servers and subagents, and is a subagent itself', async () => {
    const { runtime, server } = serverPlace()
    const model = scripted([
      call('delegate', { agent: 'worker', task: 'Work.' }, 'd'),
      says('Worked.', tokens(5, 5)),
      call('own__get_echo', { message: 'hi' }, 'e'),
      says('Both done.'),
    ])
    const agent = new Agent({
      model,
      runtime,
      discover: false,
      mcp: [server],
      approver: async () => ({ approved: true }),
      subagents: [{ name: 'worker', description: 'Works.' }],
    })
    onTestFinished(() => agent.close())
    const { text } = await agent.generate({ prompt: 'Go.' })
    expect(text).toBe('Both done.')
    expect(sent(model, 2)).toContain('Worked.')
    expect(sent(model, 3)).toContain('hi')
    expect(agent.usage.descendants).toMatchObject({ inputTokens: 5, requests: 1 })

    const child = new Agent({ model: scripted([says('Found.')]), runtime, tools: { weather } })
    const parent = scripted([call('finder', { task: 'Find.' }, 'a'), says('Done.')])
    const finder = subagentTool({ name: 'finder', description: 'Finds.', agent: child })
    const result = await new ToolLoopAgent({ model: parent, tools: { finder } }).generate({
      prompt: 'Go.',
    })
    expect(sent(parent, 1)).toContain('Found.')
    expect((await totalUsage(result)).totalTokens).toBe(36)
  })
})

describe('the loop of the AI SDK in an agent', () => {
  it('ends where its tokens are used up, those of subagents included, and no other call', async () => {
    const worker = scripted([says('Worked.', tokens(100, 0)), says('Worked.', tokens(100, 0))])
    const work = (id: string) => call('delegate', { agent: 'worker', task: 'Work.' }, id)
    const model = scripted([work('a'), says('Never.'), work('b')])
    const notices: string[] = []
    const agent = new Agent({
      model,
      runtime: emptyWorld().runtime,
      discover: false,
      maxTokens: 110,
      onEvent: (event) => event.type === 'notice' && notices.push(event.message),
      subagents: [{ name: 'worker', description: 'Works.', model: worker }],
    })
    const { steps, finishReason } = await agent.generate({ prompt: 'Go.' })
    expect({ steps: steps.length, finishReason }).toEqual({ steps: 1, finishReason: 'tool-calls' })
    expect(notices).toEqual(['The run used 112 tokens of at most 110'])
    // Each call begins with all of its tokens.
    expect((await agent.generate({ prompt: 'Go.' })).text).toBe('Never.')
    expect(agent.usage.total).toMatchObject({ inputTokens: 120, requests: 3 })
  })

  it.each(['generate', 'stream'] as const)(
    'tells of one call that gives the same result again and again, and ends with a summary: %s',
    async (method) => {
      const replies = Array.from({ length: 8 }, (_, index) =>
        call('weather', { city: 'Rome' }, `c${index}`),
      )
      const model = scripted([...replies, says('Still sunny.')])
      const agent = new Agent({ model, runtime: emptyWorld().runtime, tools: { weather } })
      const result = await agent[method]({ prompt: 'Rain in Rome?' })
      expect(await result.text).toBe('Still sunny.')
      expect(sent(model, 2)).not.toContain('same call with the same result')
      expect(sent(model, 3)).toContain('same call with the same result 3 times in a row')
      expect(sent(model, 8)).toContain('The model made the same call 8 times in a row')
      expect(JSON.parse(sent(model, 8)).tools ?? []).toEqual([])
    },
  )

  it('checks workflows before tools of a ToolSet, and lets those that stream do so', async () => {
    const { runtime, workflows } = serverPlace()
    const step = { step: 1, tool: 'weather', description: 'The weather.', required: true }
    const triggers = { tools: ['publish', 'report'] }
    const definition = { description: 'Looks.', mode: 'enforce', triggers, prerequisites: [step] }
    workflows({ look: definition })
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
    })
    onTestFinished(() => agent.close())
    const outcomes: string[] = []
    for await (const part of (await agent.stream({ prompt: 'Go.' })).stream) {
      if (part.type === 'tool-result')
        outcomes.push(`${part.toolCallId} ${JSON.stringify(part.output)}`)
      if (part.type === 'tool-error') outcomes.push(`${part.toolCallId} ${String(part.error)}`)
    }
    expect(outcomes).toEqual([
      expect.stringMatching(/^a .*look.*Call weather first/s),
      expect.stringMatching(/^b .*look.*Call weather first/s),
      'c {"city":"Rome","sunny":true}',
      'd "Published 1."',
      'e "Half."',
      'e "Whole."',
      'e "Whole."',
    ])
    expect(done).toEqual(['publish', 'report'])
  })

  it('sums up a long conversation where that is asked for, and counts what that costs', async () => {
    const read = ourTool({ name: 'read', description: 'Reads.', execute: () => 'x'.repeat(8000) })
    let asked = 0
    const model = new MockLanguageModelV4({
      doGenerate: async ({ prompt }) => {
        if (sent({ doGenerateCalls: [prompt], doStreamCalls: [] }, 0).includes('Sum up this part'))
          return says('THE SUMMARY')
        asked += 1
        return asked < 5 ? call('read', {}, `c${asked}`) : says('Done.')
      },
    })
    const limits = { budget: 5000, strategy: summarizeOldest }
    const agent = new Agent({ model, runtime: emptyWorld().runtime, tools: [read], limits })
    expect((await agent.generate({ prompt: 'Read all.' })).text).toBe('Done.')
    expect(sent(model, -1)).toContain('THE SUMMARY')
    expect(agent.usage.total.requests).toBe(model.doGenerateCalls.length)
    expect(model.doGenerateCalls.length).toBeGreaterThan(5)
  })

  it.each(['generate', 'stream'] as const)(
    'waits for no summary after an abort, and asks nothing more: %s',
    async (method) => {
      const controller = new AbortController()
      const asked: string[] = []
      const never = (): Promise<never> => {
        asked.push('asked')
        controller.abort()
        return new Promise(() => undefined)
      }
      const model = new MockLanguageModelV4({ doGenerate: never, doStream: never })
      const messages = Array.from({ length: 9 }, (_, index) => {
        return { role: 'user' as const, content: `${index} ${'x'.repeat(4000)}` }
      })
      const limits = { budget: 5000, strategy: summarizeOldest }
      const agent = new Agent({ model, runtime: emptyWorld().runtime, limits })
      const given = { messages, abortSignal: controller.signal }
      const result = agent[method](given).then(({ text }) => text)
      await expect(result).rejects.toThrow(/aborted|No output generated/)
      expect(asked).toHaveLength(1)
    },
  )

  it('turns results into text for a model that a skill names, where its provider needs that', async () => {
    const place = emptyWorld()
    place.skill('project/.claude/skills/deep', { more: 'model: mine:big' })
    const replies = [call('fail'), says('Done.')]
    const big = new MockLanguageModelV4({ provider: 'mine.chat', doGenerate: replies })
    const agent = new Agent({
      model: scripted([call('skill', { name: 'deep' })]),
      runtime: place.runtime,
      workspaceTrust: 'trusted',
      skills: [],
      providers: { mine: { languageModel: () => big } },
      tools: [
        ourTool({
          name: 'fail',
          description: 'Fails.',
          execute: () => Promise.reject(Error('no')),
        }),
      ],
    })
    expect((await agent.generate({ prompt: 'Go.' })).text).toBe('Done.')
    expect(sent(big, 1)).not.toContain('error-text')
  })

  it('shows pictures of MCP tools to the model, as the other loop does', async () => {
    const { runtime, server } = serverPlace()
    const ask = async (run: (agent: Agent) => Promise<unknown>): Promise<string> => {
      const model = scripted([call('own__get_image', {}, 'i'), says('A dot.')])
      const approver = async () => ({ approved: true as const })
      const agent = new Agent({ model, runtime, discover: false, mcp: [server], approver })
      onTestFinished(() => agent.close())
      await run(agent)
      return JSON.stringify(model.doGenerateCalls[1]?.prompt.at(-1))
    }
    const [ours, theirs] = [
      await ask((agent) => agent.run('Look.')),
      await ask((agent) => agent.generate({ prompt: 'Look.' })),
    ]
    expect(ours).toContain('"mediaType":"image/png"')
    expect(theirs).toBe(ours)
  })
})
