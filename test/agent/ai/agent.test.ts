import { Output, tool, ToolLoopAgent } from 'ai'
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { Agent } from '../../../src/agent/agent.ts'
import { subagentTool, totalUsage } from '../../../src/agent/ai/subagent-tool.ts'
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
