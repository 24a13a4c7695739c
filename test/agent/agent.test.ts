import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MockLanguageModelV4 } from 'ai/test'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { Agent } from '../../src/agent/agent.ts'
import type { AgentEvent } from '../../src/agent/types.ts'
import type { AgentOptions } from '../../src/agent/agent-options.ts'
import { summarizeOldest } from '../../src/agent/conversation/compact.ts'
import { tool } from '../../src/agent/tool.ts'
import { systemRuntime } from '../../src/core/runtime.ts'
import { defineSkill } from '../../src/library/manager.ts'
import { call, calls, echoTool, says, scripted, tokens } from './mock-replies.ts'

function agentWith(options: Partial<AgentOptions> & Pick<AgentOptions, 'model'>): Agent {
  const home = mkdtempSync(join(tmpdir(), 'agent-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  return new Agent({ runtime: systemRuntime({ cwd: home, home, env: {} }), ...options })
}

describe('an agent', () => {
  it('answers, remembers the conversation, and counts what it used', async () => {
    const model = scripted([says('One.', tokens(10, 1)), says('Two.', tokens(20, 2))])
    const agent = agentWith({ model, instructions: 'Count.' })
    const first = await agent.generate('Begin.')
    expect(first).toMatchObject({ status: 'completed', text: 'One.', usage: { inputTokens: 10 } })
    const second = await agent.generate('Go on.')
    expect(second).toMatchObject({ text: 'Two.', usage: { inputTokens: 20, requests: 1 } })
    expect(agent.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
    ])
    expect(agent.usage.total).toMatchObject({ inputTokens: 30, outputTokens: 3, requests: 2 })
    expect(agent.usage.byModel).toMatchObject({ mock: { requests: 2 } })
    expect(model.doGenerateCalls[1]?.prompt.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
    ])
  })

  it('looks for nothing and offers nothing without skills, subagents and tools', async () => {
    const model = scripted([says('Hi.')])
    const agent = agentWith({ model })
    await agent.generate('/hello there')
    expect(agent.listTools()).toEqual([])
    expect(model.doGenerateCalls[0]?.prompt).toEqual([
      { role: 'user', content: [{ type: 'text', text: '/hello there' }] },
    ])
  })

  it('continues the messages of its options, and keeps a copy of them', async () => {
    const given = [{ role: 'user' as const, content: 'My name is Ada.' }]
    const model = scripted([says('Ada.')])
    const agent = agentWith({ model, messages: given })
    await agent.generate('Who am I?')
    expect(given).toHaveLength(1)
    expect(model.doGenerateCalls[0]?.prompt).toHaveLength(2)
  })

  it('fills the variables of its instructions', async () => {
    const model = scripted([says('Hi.')])
    const instructions = { template: 'You know {{what}}.', variables: { what: 'Rust' } }
    await agentWith({ model, instructions }).generate('Go.')
    expect(model.doGenerateCalls[0]?.prompt[0]?.content).toBe('You know Rust.')
    const wrong = { template: '{{what}}', variables: {} }
    expect(() => agentWith({ model, instructions: wrong })).toThrow(/needs {{what}}/)
  })

  it('refuses an empty prompt, and a second one while it works', async () => {
    let release = (): void => undefined
    const waits = new Promise<void>((resolve) => {
      release = resolve
    })
    const model = new MockLanguageModelV4({
      doGenerate: async () => {
        await waits
        return says('Done.')
      },
    })
    const agent = agentWith({ model })
    const heard: string[] = []
    await expect(agent.generate(' \n')).rejects.toMatchObject({ code: 'task-empty', exitCode: 2 })
    const first = agent.generate('Go.', { onEvent: ({ type }) => heard.push(type) })
    await expect(agent.generate('And?')).rejects.toMatchObject({ code: 'agent-busy' })
    release()
    expect((await first).status).toBe('completed')
    expect(heard).toEqual(['text', 'step'])
    expect(agent.messages).toHaveLength(2)
  })

  it('reports an unknown model at the first run, and not earlier', async () => {
    const agent = agentWith({ model: 'antropic:claude' })
    await expect(agent.generate('Go.')).rejects.toMatchObject({
      code: 'provider-unknown',
      hint: expect.stringContaining('Did you mean anthropic?'),
    })
    expect(agent.messages).toEqual([])
  })

  it('continues after a failed run with the whole conversation', async () => {
    const model = scripted([call('echo'), new Error('down'), says('Back.')])
    const agent = agentWith({ model, tools: [echoTool()], callSettings: { maxRetries: 0 } })
    const failed = await agent.generate('Go.')
    expect(failed).toMatchObject({ status: 'failed', usage: { requests: 1 } })
    expect((await agent.generate('Again.')).status).toBe('completed')
    expect(agent.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
      'assistant',
    ])
  })

  it('sums up a long conversation with that strategy, and counts the tokens of the summary', async () => {
    const long = echoTool('read', { execute: async () => 'x'.repeat(8000) })
    const replies = Array.from({ length: 5 }, (_, index) => call('read', { index }))
    const model = scripted([...replies, says('The summary.'), call('read'), says('Done.')])
    const limits = { budget: 9000, strategy: summarizeOldest }
    const agent = agentWith({ model, tools: [long], limits })
    expect(await agent.generate('Read all.')).toMatchObject({ text: 'Done.', turns: 7 })
    expect(agent.usage.total.requests).toBe(8)
    const sent = model.doGenerateCalls[6]?.prompt
    expect(JSON.stringify(sent)).toContain('The summary.')
    expect(JSON.stringify(sent)).toContain('Read all.')
  })

  it('shortens a long conversation before it is sent', async () => {
    const long = echoTool('read', { execute: async () => 'x'.repeat(8000) })
    const replies = Array.from({ length: 12 }, (_, index) => call('read', { index }))
    const model = scripted([...replies, says('Done.')])
    const agent = agentWith({ model, tools: [long], limits: { budget: 9000 } })
    await agent.generate('Read all.')
    const last = JSON.stringify(model.doGenerateCalls.at(-1)?.prompt)
    expect(last.length).toBeLessThan(40_000)
    expect(last).toContain('Read all.')
    expect(agent.messages).toHaveLength(26)
  })
})

describe('a stream', () => {
  it('yields events in order as they happen, and then the result', async () => {
    const model = scripted([call('echo', { a: 1 }), says('All done.')])
    const heard: string[] = []
    const agent = agentWith({
      model,
      tools: [echoTool()],
      onEvent: ({ type }) => heard.push(type),
    })
    const stream = agent.stream('Go.')
    const events: AgentEvent[] = []
    for await (const event of stream) events.push(event)
    const types = events.map(({ type }) => type)
    expect(types).toEqual(['step', 'tool-call', 'tool-result', 'text', 'text', 'step'])
    expect(heard).toEqual(types)
    expect(await stream.result).toMatchObject({ status: 'completed', text: 'All done.' })
  })

  it('throws to its reader what the run throws', async () => {
    const stream = agentWith({ model: 'nobody:x' }).stream('Go.')
    await expect(
      (async () => {
        for await (const _ of stream) continue
      })(),
    ).rejects.toMatchObject({ code: 'provider-unknown' })
    await expect(stream.result).rejects.toMatchObject({ code: 'provider-unknown' })
  })

  it('ends the run when its reader leaves', async () => {
    const stream = agentWith({ model: scripted([says('One two three.')]) }).stream('Go.')
    for await (const _ of stream) break
    expect(await stream.result).toMatchObject({ status: 'cancelled' })
  })
})

describe('tools of the program', () => {
  it('take zod types, with their defaults, and need no approver', async () => {
    const seen: unknown[] = []
    const weather = tool({
      name: 'weather',
      description: 'The weather.',
      input: z.object({ city: z.string(), days: z.number().default(1) }),
      execute: ({ city, days }) => {
        seen.push([city.toUpperCase(), days])
        return { sunny: true, at: new Date(0) }
      },
    })
    const model = scripted([call('weather', { city: 'Rome' }), says('Sunny.')])
    await agentWith({ model, tools: [weather] }).generate('Weather?')
    expect(seen).toEqual([['ROME', 1]])
    expect(model.doGenerateCalls[0]?.tools?.[0]).toMatchObject({
      name: 'weather',
      inputSchema: { type: 'object', required: ['city'] },
    })
    expect(JSON.stringify(model.doGenerateCalls[1]?.prompt)).toContain('1970-01-01')
  })

  it('take a JSON Schema, or nothing', async () => {
    const ping = tool({ name: 'ping', description: 'Pings.', execute: () => undefined })
    const add = tool({
      name: 'add',
      description: 'Adds.',
      input: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
      execute: ({ a }) => Number(a) + 1,
    })
    const model = scripted([
      calls([{ name: 'ping' }, { name: 'add', input: { a: 1 } }]),
      says('2.'),
    ])
    const agent = agentWith({ model, tools: [ping, add] })
    expect((await agent.generate('Go.')).status).toBe('completed')
    const results = agent.messages.find(({ role }) => role === 'tool')?.content
    expect(results).toMatchObject([{ output: { value: 'null' } }, { output: { value: '2' } }])
  })

  it('refuse a schema that cannot be written as JSON Schema', () => {
    const input = { '~standard': { validate: (value: unknown) => ({ value }) } }
    expect(() => tool({ name: 'odd', description: 'Odd.', input, execute: () => 1 })).toThrow(
      'The schema of odd cannot be written as JSON Schema.',
    )
  })

  it('need an approval if they are defined so', async () => {
    const asked: string[] = []
    const drop = tool({
      name: 'drop',
      description: 'Drops the table.',
      needsApproval: true,
      execute: () => 'dropped',
    })
    const model = scripted([call('drop'), says('No.')])
    const agent = agentWith({
      model,
      tools: [drop],
      async approver({ tool: { name }, agent: who }) {
        asked.push(`${who} ${name}`)
        return { approved: false, reason: 'never' }
      },
    })
    await agent.generate('Drop it.')
    expect(asked).toEqual(['main drop'])
    expect(JSON.stringify(agent.messages)).toContain('drop was refused: never')
  })
})

describe('skills and subagents of an agent', () => {
  const greet = defineSkill({ name: 'greet', description: 'Greets.', body: 'Greet $ARGUMENTS.' })

  it('activates a skill that a user types, and one that the model calls', async () => {
    const model = scripted([says('Hello Ada.'), call('skill', { name: 'greet' }), says('Hello.')])
    const agent = agentWith({ model, skills: [greet] })
    await agent.generate('/greet Ada')
    expect(JSON.stringify(agent.messages[0])).toContain('Greet Ada.')
    await agent.generate('Say hello.')
    expect(JSON.stringify(agent.messages)).toContain('skill_content name=')
    expect(agent.listTools().map(({ name }) => name)).toEqual(['skill'])
  })

  it('returns the content of a skill to the program', async () => {
    const agent = agentWith({ model: scripted([]), skills: [greet] })
    expect(await agent.invokeSkill('greet', 'Ada Lovelace')).toContain('Greet Ada Lovelace.')
    expect(await agent.invokeSkill('greet', 'Ada', 'a "b" c')).toContain('Greet Ada "a \\"b\\" c".')
    expect(await agent.deactivateSkill('greet')).toBe(true)
    expect((await agent.listSkills()).map(({ name }) => name)).toEqual(['greet'])
    expect((await agent.getSkill('greet'))?.body).toContain('Greet')
    expect(await agent.getSkill('other')).toBeUndefined()
  })

  it('reports a missing skill at the first run', async () => {
    const agent = agentWith({ model: scripted([]), skills: ['missing', './nowhere'] })
    await expect(agent.generate('Go.')).rejects.toMatchObject({ name: 'SkillNotFoundError' })
    await expect(agent.listSkills()).rejects.toMatchObject({ name: 'SkillNotFoundError' })
  })

  it('offers the model skills that the program registers later', async () => {
    const model = scripted([says('a'), says('b')])
    const agent = agentWith({ model })
    await agent.generate('Go.')
    await agent.registerSkill(greet)
    await agent.generate('Go on.')
    expect(model.doGenerateCalls.map(({ tools }) => tools?.map(({ name }) => name))).toEqual([
      undefined,
      ['skill'],
    ])
  })

  it('delegates a task and adds the subagent’s usage to its own', async () => {
    const model = scripted([says('Found it.', tokens(5, 1))])
    const agent = agentWith({
      model,
      subagents: [{ name: 'finder', description: 'Finds things.' }],
    })
    const result = await agent.delegate('finder', 'Find it.')
    expect(result).toMatchObject({ success: true, output: 'Found it.', subagentName: 'finder' })
    expect(agent.usage).toMatchObject({
      own: { requests: 0 },
      descendants: { inputTokens: 5 },
      byAgent: { finder: { requests: 1 } },
    })
    expect((await agent.listSubagents()).map(({ name }) => name)).toEqual(['finder'])
  })

  it('lets the model delegate, with the events of the subagent in the stream', async () => {
    const model = scripted([
      call('delegate', { agent: 'finder', task: 'Find it.' }),
      says('Here.'),
      says('It was found.'),
    ])
    const agent = agentWith({
      model,
      subagents: [{ name: 'finder', description: 'Finds things.' }],
    })
    const events: AgentEvent[] = []
    await agent.generate('Find it.', { onEvent: (event) => events.push(event) })
    expect(events.some((event) => event.type === 'text' && event.agent === 'finder')).toBe(true)
    expect(agent.usage.descendants.requests).toBe(1)
    await agent.close()
  })
})
