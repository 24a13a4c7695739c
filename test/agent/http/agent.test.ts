import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Agent } from '../../../src/agent/agent.ts'
import type { AgentEvent, AgentTool, ModelObject } from '../../../src/agent/types.ts'
import type { AgentOptions } from '../../../src/agent/agent-options.ts'
import { tool } from '../../../src/agent/tool.ts'
import { systemRuntime } from '../../../src/core/runtime.ts'
import { defineSkill } from '../../../src/library/manager.ts'
import { lastUserText, readRequest, toolResults } from '../../model-server/read-request.ts'
import type { Script } from '../../model-server/server.ts'
import type { ModelTurn } from '../../model-server/turn.ts'
import { resultTexts } from '../mock-replies.ts'
import { type Served, protocols, serve } from './_protocols.ts'
import { until } from '../../patience.ts'

let home: string
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'skillrail-agent-'))
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

const usage = { input: 100, output: 10 }

describe.each(protocols)('an agent over %s', (protocol, modelAt) => {
  async function agentOn(
    script: Script,
    options: Partial<AgentOptions> = {},
  ): Promise<Served & { agent: Agent; model: ModelObject; events: AgentEvent[] }> {
    const served = await serve(script)
    const events: AgentEvent[] = []
    const model = modelAt(served.server.url)
    const agent = new Agent({
      model,
      runtime: systemRuntime({ cwd: home, home, env: {} }),
      discover: false,
      onEvent: (event) => events.push(event),
      ...options,
    })
    return { ...served, agent, model, events }
  }

  it.each(['generate', 'stream'] as const)(
    '%s: calls tools concurrently, answers, and counts the same tokens as the server',
    async (how) => {
      let running = 0
      let most = 0
      const add = adder(async () => {
        most = Math.max(most, ++running)
        await new Promise((resolve) => setImmediate(resolve))
        running--
      })
      const { agent, server, told } = await agentOn(
        [
          {
            text: 'Adding.',
            calls: [
              { name: 'math__add', input: { a: 1, b: 2 } },
              { name: 'math__add', input: { a: 3, b: 4 } },
            ],
            usage: { input: 100, output: 20, cached: 30 },
          },
          { text: 'They are 3 and 7.', usage: { input: 150, output: 8 } },
        ],
        { tools: [add], instructions: 'You add.' },
      )
      const result =
        how === 'generate' ? await agent.generate('Add.') : await agent.stream('Add.').result
      expect(result).toMatchObject({ status: 'completed', text: 'They are 3 and 7.', turns: 2 })
      expect(most).toBe(2)
      const [first, second] = told()
      expect(first).toMatchObject({ system: 'You add.', tools: ['math__add'] })
      expect(second?.messages.flatMap(({ results }) => results.map(({ text }) => text))).toEqual([
        '3',
        '7',
      ])
      const ids = second?.messages.flatMap(({ calls }) => calls.map(({ id }) => id)) ?? []
      expect(second?.messages.flatMap(({ results }) => results.map(({ id }) => id))).toEqual(ids)
      const { input, output, cached, answers } = server.counted()
      expect(agent.usage.total).toMatchObject({
        inputTokens: input,
        outputTokens: output,
        cachedInputTokens: cached,
        requests: answers,
      })
      expect(result.usage).toEqual(agent.usage.total)
    },
  )

  it('streams text while the model writes, with its calls in order', async () => {
    const { agent } = await agentOn(
      [
        { text: 'I will look it up.', calls: [{ name: 'math__add', input: { a: 1, b: 1 } }] },
        'It is two, as expected.',
      ],
      { tools: [adder()] },
    )
    const stream = agent.stream('What is 1 + 1?')
    const seen: string[] = []
    let texts = 0
    for await (const event of stream) {
      if (event.type === 'text') texts++
      if (seen.at(-1) !== event.type) seen.push(event.type)
    }
    expect(texts).toBeGreaterThan(6)
    expect(seen.filter((type) => type !== 'step')).toEqual([
      'text',
      'tool-call',
      'tool-result',
      'text',
    ])
    expect((await stream.result).text).toBe('It is two, as expected.')
  })

  it('sends pictures of a prompt and of tool results', async () => {
    const picture = Buffer.from('picture of a result').toString('base64')
    const prompt = Buffer.from('picture of a prompt').toString('base64')
    const camera = tool({
      name: 'camera',
      description: 'Takes a picture.',
      execute: () => ['Here it is.', { type: 'image', mimeType: 'image/png', data: picture }],
    })
    const { agent, server, events } = await agentOn(
      [
        {
          calls: [
            { name: 'camera', input: {} },
            { name: 'camera', input: {} },
          ],
        },
        'A cat.',
      ],
      { tools: [camera] },
    )
    const files = [{ type: 'file' as const, mediaType: 'image/png', data: prompt }]
    const { text } = await agent.generate('What is it?', { files })
    expect(text).toBe('A cat.')
    const [first, second] = server.prompts().map(({ body }) => body)
    expect(first).toContain(prompt)
    expect(second?.split(picture)).toHaveLength(3)
    expect(second).toMatch(/"type":"(?:image|image_url|input_image)"|"inlineData"/)
    expect(JSON.stringify(events)).not.toContain(picture)
  })

  it('tells the model about wrong arguments and about a tool that does not exist', async () => {
    // Google's protocol has objects where others have texts.
    const broken = protocol === 'generate content' ? { a: 1 } : '{"a": 1, "b":'
    const { agent, server } = await agentOn(
      (_request, index): ModelTurn | string =>
        index === 0
          ? {
              calls: [
                { name: 'math__add', input: broken },
                { name: 'math__add', input: { a: 'one', b: 2 } },
                { name: 'math__subtract', input: { a: 1, b: 2 } },
              ],
            }
          : 'I give up.',
      { tools: [adder()] },
    )
    expect(await agent.generate('Add.')).toMatchObject({ status: 'completed', text: 'I give up.' })
    const [, second] = server.prompts()
    if (second === undefined) throw new Error('the model was asked once')
    const [malformed, wrong, unknown] = toolResults(second)
    // A provider package may read a string where there is no object.
    expect(malformed).toMatch(/^Error: math\.add was not called: (?:(?:the|its) arguments|b )/)
    expect(wrong).toMatch(/^Error: math\.add was not called: a /)
    expect(unknown).toMatch(/^Error: there is no tool called math__subtract\./)
  })

  it('tells the model why a tool failed, once, as text, and marked as an error where that is possible', async () => {
    const sentence = 'The disk "C:\\data" is full.\nFree some space.'
    const full = adder(() => Promise.reject(new Error(sentence)))
    const { agent, server, told } = await agentOn(
      [{ calls: [{ name: 'math__add', input: { a: 1, b: 2 } }] }, 'It is full.', 'Yes.'],
      { tools: [full] },
    )
    await agent.generate('Add.')
    await agent.generate('Really?')
    for (const prompt of server.prompts().slice(1)) {
      expect(toolResults(prompt)).toEqual([`Error: ${sentence}`])
    }
    expect(/"is_error":true/.test(JSON.stringify(told()[1]?.body))).toBe(protocol === 'messages')
    expect(agent.messages.flatMap(resultTexts)).toEqual([`Error: ${sentence}`])
  })

  it('tries again after 429 and 500, and then reports the message of the server', async () => {
    const busy: ModelTurn = { error: { status: 429, retryAfterMs: 1 } }
    const { agent, server } = await agentOn([
      busy,
      { error: { status: 500, retryAfterMs: 1 } },
      'Hello.',
    ])
    expect(await agent.generate('Hello?')).toMatchObject({ status: 'completed', text: 'Hello.' })
    expect(server.prompts()).toHaveLength(3)
    const second = await agentOn(
      [{ text: 'Until here.', calls: [{ name: 'math__add', input: { a: 1, b: 1 } }], usage }, busy],
      {
        tools: [adder()],
      },
    )
    const failed = await second.agent.generate('Add.')
    expect(failed).toMatchObject({ status: 'failed', turns: 2 })
    expect(failed.error).toContain('HTTP 429')
    expect(second.agent.usage.total).toMatchObject({ inputTokens: 100, outputTokens: 10 })
    expect(second.server.prompts()).toHaveLength(4)
  })

  it('ends as failed when a stream breaks off, and keeps the text until then', async () => {
    const text = 'one two three four five six seven eight'
    const { agent } = await agentOn([{ text, cutAfter: 6 }], { callSettings: { maxRetries: 0 } })
    const result = await agent.stream('Count.').result
    expect(result.status).toBe('failed')
    expect(result.error).toMatch(/^The answer ended early/)
    expect(text.startsWith(result.text)).toBe(true)
    expect(result.text).not.toBe(text)
  })

  it('ends as failed when the server ends a stream before the answer is complete, and makes no call of it', async () => {
    const text = 'one two three'
    let executed = 0
    const counting = adder(async () => void executed++)
    const calls = [{ name: 'math__add', input: { a: 1, b: 2 } }]
    for (const turn of [{ text }, { text, calls }, { calls }]) {
      let endAfter = 0
      for (; endAfter < 50; endAfter++) {
        const { agent } = await agentOn([{ ...turn, endAfter }, 'Done.'], { tools: [counting] })
        const result = await agent.stream('Count.').result
        if (result.status === 'completed') break
        expect(result).toMatchObject({ status: 'failed', turns: 1 })
        expect(result.error).toMatch(/^The answer ended early/)
        expect(text.startsWith(result.text)).toBe(true)
        expect(executed).toBe(0)
      }
      expect(endAfter).toBeGreaterThan(0)
      expect(endAfter).toBeLessThan(50)
      executed = 0
    }
  })

  it.each(['generate', 'stream'] as const)(
    '%s: stops waiting for a silent model on cancellation, and can run again',
    async (how) => {
      const { agent, server } = await agentOn((_request, index): ModelTurn | string =>
        index === 0 ? { silent: true } : 'Here.',
      )
      const controller = new AbortController()
      const { signal } = controller
      const run =
        how === 'generate' ? agent.generate('?', { signal }) : agent.stream('?', { signal }).result
      await until(() => server.prompts().length === 1)
      controller.abort()
      expect(await run).toMatchObject({ status: 'cancelled' })
      expect(await agent.generate('Again?')).toMatchObject({ status: 'completed', text: 'Here.' })
    },
  )

  it('activates a skill: its tool from the next step on, its content once, and neither afterwards', async () => {
    const greet = defineSkill({
      name: 'greet',
      description: 'Greets. Use when somebody arrives.',
      body: 'THE GREETING RULES for $ARGUMENTS.',
    })
    const { agent, told } = await agentOn(
      (request): ModelTurn | string => {
        const results = toolResults(request)
        const asked = lastUserText(request)
        if (asked !== 'Ada is here.') return 'No.'
        if (results.length === 0) return call('skill', { name: 'greet', arguments: 'Ada' })
        if (results.length === 1) return call('greet__wave', { times: 2 })
        if (results.length === 2) return call('skill', { name: 'greet', arguments: 'Ada' })
        return 'Hello, Ada.'
      },
      { skills: [greet], instructions: 'Be kind.' },
    )
    agent.skillManager.registerTool('greet', {
      name: 'wave',
      description: 'Waves.',
      inputSchema: { type: 'object', properties: { times: { type: 'number' } } },
      execute: (input) => ({ waved: input }),
    })
    expect(await agent.generate('Ada is here.')).toMatchObject({ text: 'Hello, Ada.' })
    const [first, second, , fourth] = told()
    expect(first?.tools).toEqual(['skill'])
    expect(first?.system).toContain('Greets. Use when somebody arrives.')
    expect(first?.system).not.toContain('THE GREETING RULES')
    expect(second?.tools).toEqual(expect.arrayContaining(['skill', 'greet__wave']))
    const all = JSON.stringify(fourth?.messages)
    expect(all.split('THE GREETING RULES for Ada.')).toHaveLength(2)
    await agent.generate('Anything left?')
    expect(told().at(-1)?.tools).toEqual(['skill'])
  })

  it('forks a skill into a subagent that is told to carry it out', async () => {
    const audit = defineSkill({
      name: 'audit',
      description: 'Audits. Use when asked for an audit.',
      body: 'AUDIT THE FOLDER $ARGUMENTS.',
      context: 'fork',
    })
    const { agent, server, told, events } = await agentOn(
      (request): ModelTurn => {
        const { messages } = readRequest(request)
        if (JSON.stringify(messages).includes('AUDIT THE FOLDER')) {
          return { text: 'Nothing found in src.', usage: { input: 40, output: 4 } }
        }
        return toolResults(request).length === 0
          ? { ...call('skill', { name: 'audit', arguments: 'src' }), usage }
          : { text: 'The audit found nothing.', usage }
      },
      { skills: [audit], tools: [adder()] },
    )
    expect(await agent.generate('Audit src.')).toMatchObject({ text: 'The audit found nothing.' })
    const child = told().find(({ messages }) =>
      JSON.stringify(messages).includes('AUDIT THE FOLDER'),
    )
    expect(child?.tools).not.toContain('delegate')
    expect(child?.tools).toContain('math__add')
    expect(JSON.stringify(child?.messages)).not.toContain('Audit src.')
    expect(JSON.stringify(told().at(-1)?.messages)).not.toContain('AUDIT THE FOLDER')
    expect(server.prompts().map(toolResults).at(-1)?.[0]).toContain('Nothing found in src.')
    expect(agent.usage).toMatchObject({
      own: { inputTokens: 200, requests: 2 },
      descendants: { inputTokens: 40, outputTokens: 4, requests: 1 },
    })
    expect(events.some(({ type }) => type === 'delegation')).toBe(true)
  })

  it('delegates work in the background, continues, and receives the result', async () => {
    let release = (): void => undefined
    const released = new Promise<void>((resolve) => (release = resolve))
    const slow = tool({
      name: 'slow',
      description: 'Takes its time.',
      readOnly: true,
      execute: async () => {
        await released
        return 'counted 42'
      },
    })
    const { agent, server, told } = await agentOn(
      (request): ModelTurn | string => {
        const { system } = readRequest(request)
        const results = toolResults(request)
        if (system.includes('You count.')) {
          return results.length === 0 ? call('slow', {}) : { text: 'There are 42.', usage }
        }
        if (results.length === 0) {
          return call('delegate', { agent: 'counter', task: 'Count the files.', background: true })
        }
        if (results.length === 1) {
          release()
          return call('delegation_status', { wait: true })
        }
        return 'All counted: 42.'
      },
      {
        tools: [slow],
        subagents: [
          {
            name: 'counter',
            description: 'Counts things.',
            tools: ['slow'],
            systemPrompt: 'You count.',
          },
        ],
      },
    )
    expect(await agent.generate('How many files?')).toMatchObject({ text: 'All counted: 42.' })
    const children = told().filter(({ system }) => system.includes('You count.'))
    expect(children.map(({ tools }) => tools)).toEqual([['slow'], ['slow']])
    const last = server
      .prompts()
      .findLast((request) => !readRequest(request).system.includes('You count.'))
    if (last === undefined) throw new Error('nothing was asked')
    expect(toolResults(last)[0]).toMatch(/^Delegation \S+ to counter has started in the background/)
    expect(toolResults(last)[1]).toContain('There are 42.')
    const { input, output, answers } = server.counted()
    expect(agent.usage.total).toMatchObject({
      inputTokens: input,
      outputTokens: output,
      requests: answers,
    })
    await agent.close()
  })
})

function call(name: string, input: object): ModelTurn {
  return { calls: [{ name, input }] }
}

function adder(before: () => Promise<void> = async () => undefined): AgentTool {
  return tool({
    name: 'math.add',
    description: 'Adds two numbers.',
    readOnly: true,
    input: {
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'number' } },
      required: ['a', 'b'],
    },
    execute: async ({ a, b }) => {
      await before()
      return Number(a) + Number(b)
    },
  })
}
