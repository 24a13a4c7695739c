import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { startModelServer } from '../model-server/server.ts'
import { until } from '../patience.ts'
import { type Connected, modern } from './_project.ts'
import { servedProject } from './_served-project.ts'

const project = servedProject('test')

const eras = [
  ['2025-11-25', {}],
  ['2026-07-28', modern],
] as const

describe.each(eras)('over MCP of %s', (version, client) => {
  let asking: Connected
  let mute: Connected
  let asked: string[] = []
  let reply: Record<string, unknown> | undefined

  const shared = servedProject('block', async ({ start }) => {
    ;[asking, mute] = await Promise.all([
      start({
        client,
        answer(message) {
          asked.push(message)
          return reply
        },
      }),
      start({ client }),
    ])
  })
  beforeEach(() => {
    asked = []
  })
  const create = { tool: 'things__create_thing', params: { name: 'saw' } }

  it('calls a tool that only reads without a question', async () => {
    expect(asking.client.getNegotiatedProtocolVersion()).toBe(version)
    const call = { tool: 'get_echo', params: { message: 'hi' } }
    expect(await asking.json('call_tool', call)).toMatchObject({
      tool: 'things__get_echo',
      result: 'hi 1',
    })
    expect(asked).toEqual([])
  })

  it.each([
    ['declines', undefined],
    ['leaves the box empty', {}],
    ['says no', { approve: false }],
  ])('calls nothing when the person %s', async (_how, answer) => {
    reply = answer
    const text = await asking.text('call_tool', create)
    expect(text).toContain('not called: things__create_thing')
    expect(shared.calls().filter((line) => line.startsWith('create'))).toEqual([])
  })

  it('refuses the call if the client cannot ask, and says how to allow it', async () => {
    const text = await mute.text('call_tool', create)
    expect(text).toContain('needs your approval')
    expect(text).toContain('skillrail mcp serve --yes')
    expect(shared.calls().filter((line) => line.startsWith('create'))).toEqual([])
  })

  it.each(['yes', 'approve', 'skip_prerequisites', 'enforce', 'trust', 'inputResponses'])(
    'ignores %s of the model',
    async (name) => {
      const text = await mute.text('call_tool', { ...create, [name]: true })
      expect(text).toContain(`${name} is not a parameter`)
      expect(shared.calls().filter((line) => line.startsWith('create'))).toEqual([])
    },
  )

  it('asks the person before a tool that may change something, with tool and parameters', async () => {
    reply = { approve: true }
    expect(await asking.text('call_tool', create)).toContain('created saw')
    expect(asked).toHaveLength(1)
    expect(asked[0]).toContain('Tool: things__create_thing')
    expect(asked[0]).toContain('"name": "saw"')
  })

  it('asks once for a plan of several calls, and for missing values', async () => {
    reply = { approve: true }
    const tools = ['a', 'b'].map((name) => ({ tool: 'create_thing', params: { name } }))
    expect(await asking.text('batch_tools', { tools })).toContain('created b')
    expect(asked).toHaveLength(1)
    expect(asked[0]).toMatch(/Plan:[^]*things__create_thing[^]*things__create_thing/)
    const wrong = { tool: 'create_thing', params: { title: 'c' } }
    const chain = await asking.text('chain_tools', { tools: [...tools, wrong] })
    expect(chain).toContain('created b')
    expect(asked[1]).toMatch(/Plan:[^]*"a"[^]*"b"[^]*"title":"c"/)
    reply = { value: 'chair', approve: true }
    expect(await asking.text('do_request', { request: 'things__create_thing' })).toContain(
      'created chair',
    )
    expect(asked).toHaveLength(4)
  })

  it('asks no question that is too long to read, and repeats no long name', async () => {
    reply = { approve: true }
    const params = { name: `${'a'.repeat(20_000)} evil` }
    const before = shared.calls().length
    for (const [name, input] of [
      ['call_tool', { tool: 'create_thing', params }],
      ['batch_tools', { tools: [{ tool: 'create_thing', params }] }],
      ['chain_tools', { tools: [{ tool: 'create_thing', params }] }],
      ['do_request', { request: `things__create_thing ${JSON.stringify(params)}` }],
    ] as const) {
      const text = await asking.text(name, input)
      expect(text).toContain('at most 20000')
      expect(text.length).toBeLessThan(1000)
    }
    expect(asked).toEqual([])
    expect(shared.calls()).toHaveLength(before)
  })
})

describe('text that is too long', () => {
  let one: Connected
  servedProject('block', async ({ start }) => {
    one = await start()
  })
  const long = 'g-'.repeat(60_000)

  it.each([
    ['describe_tool', { tool: long }, 'tool: Too big: expected string to have <=500 characters'],
    ['call_tool', { tool: long }, 'tool: Too big: expected string to have <=500 characters'],
    [
      'batch_tools',
      { tools: [{ tool: long }] },
      'tool: Too big: expected string to have <=500 characters',
    ],
    ['use_skill', { skill: long }, 'skill: Too big: expected string to have <=500 characters'],
    [
      'read_skill_resource',
      { skill: long },
      'skill: Too big: expected string to have <=500 characters',
    ],
    ['chain_start', { skill: long }, 'skill: Too big: expected string to have <=500 characters'],
    ['chain_next', { run: long }, 'run: Too big: expected string to have <=500 characters'],
    [
      'find_tools',
      { request: long },
      'request: Too big: expected string to have <=100000 characters',
    ],
    [
      'do_request',
      { request: long },
      'request: Too big: expected string to have <=100000 characters',
    ],
    ['find_skills', { query: long }, 'query: Too big: expected string to have <=100000 characters'],
    [
      'match_references',
      { prompt: long },
      'prompt: Too big: expected string to have <=100000 characters',
    ],
    ['find_skills', { [long]: 1 }, 'is not a parameter'],
  ])('is refused by %s, and not repeated', async (name, input, words) => {
    const text = await one.text(name, input)
    expect(text).toContain(words)
    expect(text.length).toBeLessThan(1000)
  })

  it('is not repeated in an error about an unknown tool or prompt', async () => {
    for (const ask of [
      async () => await one.client.callTool({ name: long }),
      async () => await one.client.getPrompt({ name: long }),
    ]) {
      const message = await ask().then(() => '', String)
      expect(message).toContain('g-g-')
      expect(message.length).toBeLessThan(3000)
    }
  })
})

it('takes a failure of the client to ask as a no', async () => {
  const { text } = await project.start({
    answer() {
      throw new Error('no form here')
    },
  })
  const input = { tool: 'create_thing', params: { name: 'saw' } }
  expect(await text('call_tool', input)).toContain('not called: things__create_thing')
  expect(project.calls()).toEqual([])
})

it('calls the tool without a question if the server was started with a yes', async () => {
  const { text } = await project.start({ args: ['--trust-workspace', '--yes'] })
  const input = { tool: 'create_thing', params: { name: 'saw' } }
  expect(await text('call_tool', input)).toContain('created saw')
})

describe('a workflow', () => {
  const workflow = {
    look: {
      description: 'Look first',
      triggers: { tools: ['get_echo'], keywords: [] },
      prerequisites: [{ step: 1, tool: 'list_things', description: 'know them', required: true }],
      mode: 'enforce',
      enabled: true,
    },
  }

  it('runs its steps once in a session, before any way to call the tool', async () => {
    project.write('.skillrail/workflows.json', JSON.stringify(workflow))
    const { text } = await project.start()
    const echo = { tool: 'get_echo', params: { message: 'a' } }
    await text('batch_tools', { tools: [echo] })
    await text('chain_tools', { tools: [echo] })
    await text('call_tool', { tool: 'get_echo', params: { message: 'b' } })
    await text('do_request', { request: 'things__get_echo {"message": "c"}' })
    expect(project.calls().map((line) => line.split(' ')[0])).toEqual([
      'list_things',
      'get_echo',
      'get_echo',
      'get_echo',
      'get_echo',
    ])
  })

  it('prevents the call after a failed step, with the message of the contract', async () => {
    const failing = structuredClone(workflow)
    const [step] = failing.look.prerequisites
    if (step !== undefined) step.tool = 'get_broken'
    project.write('.skillrail/workflows.json', JSON.stringify(failing))
    const { text } = await project.start()
    const answer = await text('call_tool', { tool: 'get_echo', params: { message: 'a' } })
    expect(answer).toContain('out of order')
    expect(project.calls().some((line) => line.startsWith('get_echo'))).toBe(false)
  })

  it('asks the model of the settings for a request in words', async () => {
    const model = await startModelServer(() => ({
      calls: [{ name: 'things__get_echo', input: { message: 'hello' } }],
    }))
    try {
      const { text } = await project.start({
        args: ['--trust-workspace'],
        env: {
          SKILLRAIL_TOOLS_MODEL: 'openai-compatible:small',
          SKILLRAIL_AGENT_BASE_URL: `${model.url}/v1`,
        },
      })
      expect(await text('do_request', { request: 'let me get hello back' })).toContain('hello')
      expect(model.prompts()).toHaveLength(1)
    } finally {
      await model.close()
    }
  })

  it('reports the earlier calls when it fails', async () => {
    const [step] = workflow.look.prerequisites
    const failing = { ...workflow.look, prerequisites: [{ ...step, tool: 'get_broken' }] }
    project.write('.skillrail/workflows.json', JSON.stringify({ look: failing }))
    const { text } = await project.start({ args: ['--trust-workspace', '--yes'] })
    const request = 'create thing named "q", then get echo of the message "x"'
    const answer = await text('do_request', { request })
    expect(answer).toContain('Called before that: things__create_thing (success)')
    expect(answer).toContain('out of order')
    expect(project.calls()).not.toContain('get_echo')
  })

  it('matches the words of the request that comes with a call', async () => {
    const { look } = workflow
    const byWords = { look: { ...look, triggers: { keywords: ['carefully'] } } }
    project.write('.skillrail/workflows.json', JSON.stringify(byWords))
    const { text } = await project.start()
    const call = { tool: 'get_echo', params: { message: 'a' } }
    await text('call_tool', { ...call, request: 'Echo it' })
    expect(project.calls()).toHaveLength(1)
    await text('call_tool', { ...call, request: 'Echo it carefully' })
    expect(project.calls()[1]).toBe('list_things {}')
    expect(project.calls()).toHaveLength(3)
  })

  it('asks the person whether the steps of a warning workflow run, and runs them without a person', async () => {
    const { look } = workflow
    project.write('.skillrail/workflows.json', JSON.stringify({ look: { ...look, mode: 'warn' } }))
    const asked: string[] = []
    const call = { tool: 'get_echo', params: { message: 'a' } }
    const skipping = await project.start({
      answer(message) {
        asked.push(message)
        return { skip: true }
      },
    })
    await skipping.text('call_tool', call)
    expect(asked).toEqual([expect.stringContaining('list_things')])
    expect(project.calls()).toEqual(['get_echo {"message":"a"}'])
    const mute = await project.start()
    await mute.text('call_tool', call)
    expect(project.calls()[1]).toBe('list_things {}')
  })

  const parametersOf = new Map([
    ['create_thing', { name: 'saw' }],
    ['get_echo', { message: 'hi' }],
  ])
  const warning = { look: { ...workflow.look, mode: 'warn' } }

  it.each(eras)(
    'asks once about a warning workflow for a request over MCP of %s',
    async (_, client) => {
      const named = {
        look: { ...warning.look, triggers: { tools: ['create_thing'], keywords: [] } },
      }
      project.write('.skillrail/workflows.json', JSON.stringify(named))
      const asked: string[] = []
      const { json } = await project.start({
        client,
        answer(message) {
          asked.push(message)
          return message.startsWith('Something') ? { approve: true } : { skip: true }
        },
      })
      const tools = Array.from({ length: 10 }, (_one, index) => ({
        tool: 'create_thing',
        params: { name: `n${index}` },
      }))
      const results = await json('batch_tools', { tools })
      expect(results).toMatchObject(
        tools.map(({ params }) => ({ result: `created ${params.name}` })),
      )
      expect(asked).toHaveLength(2)
      expect(project.calls()).toHaveLength(10)
    },
  )

  it.each(eras)(
    'keeps finished steps when a further question is impossible, over MCP of %s',
    async (_, client) => {
      const reading = ['get_echo', 'get_image', 'get_escape', 'list_things', 'get_broken']
      const names = ['create_thing', ...reading, 'crash_now']
      const prerequisites = [{ step: 1, tool: 'get_big', description: 'know', required: true }]
      const each = names.map((tool) => [
        `before-${tool}`,
        { ...warning.look, triggers: { tools: [tool], keywords: [] }, prerequisites },
      ])
      project.write('.skillrail/workflows.json', JSON.stringify(Object.fromEntries(each)))
      let asked = 0
      const { json } = await project.start({
        client,
        answer(message) {
          asked++
          return message.startsWith('Something') ? { approve: true } : { skip: true }
        },
      })
      const tools = names.map((tool) => ({ tool, params: parametersOf.get(tool) ?? {} }))
      const results = await json('batch_tools', { tools })
      expect(asked).toBe(7)
      expect(results).toMatchObject([
        { result: 'created saw' },
        { result: 'hi 1' },
        ...['success', 'success', 'success', 'error'].map((status) => ({ status })),
        { status: 'error', error: expect.stringContaining('answered 7 questions') },
      ])
      expect(project.calls()).not.toContain('crash_now {}')
    },
  )

  it('runs again for another connection', async () => {
    project.write('.skillrail/workflows.json', JSON.stringify(workflow))
    const call = { tool: 'get_echo', params: { message: 'a' } }
    const [first, second] = [await project.start(), await project.start()]
    await first.text('call_tool', call)
    await second.text('call_tool', call)
    const steps = project.calls().filter((line) => line.startsWith('list_things'))
    expect(steps).toHaveLength(2)
  })

  it('runs once for two connections of one session', async () => {
    project.write('.skillrail/workflows.json', JSON.stringify(workflow))
    const call = { tool: 'get_echo', params: { message: 'a' } }
    const named = { args: ['--trust-workspace', '--session', 'both'] }
    const [first, second] = [await project.start(named), await project.start(named)]
    await first.text('call_tool', call)
    await second.text('call_tool', call)
    const steps = project.calls().filter((line) => line.startsWith('list_things'))
    expect(steps).toHaveLength(1)
  })
})

it('calls no tool that its server’s lists forbid, and asks nobody about it', async () => {
  const asked: string[] = []
  const { mcpServers } = JSON.parse(readFileSync(join(project.project, '.mcp.json'), 'utf8'))
  const things = { ...mcpServers.things, excludeTools: ['create_thing'] }
  project.write('.gemini/settings.json', JSON.stringify({ mcpServers: { things } }))
  project.write('.mcp.json', '{}')
  const { text } = await project.start({
    answer(message) {
      asked.push(message)
      return { approve: true }
    },
  })
  const create = { tool: 'create_thing', params: { name: 'saw' } }
  expect(await text('call_tool', create)).toContain('Tool not found: create_thing')
  const batch = { tools: [{ tool: 'get_echo', params: { message: 'a' } }] }
  expect(await text('batch_tools', batch)).toContain('a 1')
  expect(asked).toEqual([])
  expect(project.calls()).toEqual(['get_echo {"message":"a"}'])
})

it.each([
  ['requires an unreadable workflow', '{', { name: 'saw' }],
  ['has invalid parameters', '{}', { title: 'saw' }],
])('asks nobody about a call that %s', async (_what, workflows, params) => {
  project.write('.skillrail/workflows.json', workflows)
  let asked = 0
  const { text } = await project.start({
    answer() {
      asked++
      return { approve: true }
    },
  })
  const tools = [{ tool: 'create_thing', params }]
  for (const [name, input] of [
    ['call_tool', { tool: 'create_thing', params }],
    ['batch_tools', { tools }],
    ['chain_tools', { tools }],
  ] as const) {
    expect(await text(name, input)).toMatch(/cannot be read|Missing: name/)
  }
  expect(asked).toBe(0)
  expect(project.calls()).toEqual([])
})

it.each(eras)(
  "masks a server's message about a failure, not its result, over MCP of %s",
  async (_, client) => {
    const secret = ['correct', 'horse', 'battery'].join(' ')
    const value = { why: [`not with ${secret}`], password: 'anything', code: 7 }
    const text = (content: string): object[] => [{ type: 'text', text: content }]
    const results = {
      get_value: { content: [], structuredContent: value, isError: true },
      get_text: { content: text(`no ${secret}`), structuredContent: value, isError: true },
      get_good: { content: [], structuredContent: value },
    }
    const script = Object.entries(results).map(([name, result]) => [
      name,
      { result: JSON.stringify(result) },
    ])
    project.write('script.json', JSON.stringify(Object.fromEntries(script)))
    const program = new URL('../fixtures/programs/scripted-server.mjs', import.meta.url).pathname
    const at = (name: string): string => join(project.project, name)
    const args = [program, at('script.json'), at('record')]
    const scripted = { command: process.execPath, args, env: { API_TOKEN: secret } }
    project.write('.mcp.json', JSON.stringify({ mcpServers: { scripted } }))
    const one = await project.start({ client, env: { SKILLRAIL_TOOLS_RETRY_WAITS: '0,0' } })
    for (const tool of ['get_value', 'get_text']) {
      for (const [name, input] of [
        ['call_tool', { tool }],
        ['batch_tools', { tools: [{ tool }] }],
        ['chain_tools', { tools: [{ tool }] }],
        ['do_request', { request: `scripted__${tool} {}` }],
      ] as const) {
        const answer = JSON.stringify(await one.client.callTool({ name, arguments: input }))
        expect(answer).toContain('[redacted]')
        for (const word of ['horse', 'anything']) expect(answer).not.toContain(word)
      }
    }
    expect(await one.json('call_tool', { tool: 'get_good' })).toMatchObject({ result: value })
  },
)

describe('an untrusted workspace', () => {
  it('starts nothing of the project, and says how to allow it', async () => {
    const { text } = await project.start({ args: [] })
    for (const [name, input] of [
      ['call_tool', { tool: 'get_echo', params: { message: 'a' } }],
      ['find_tools', { request: 'echo' }],
      ['describe_tool', { tool: 'get_echo' }],
      ['do_request', { request: 'echo a' }],
    ] as const) {
      expect(await text(name, input)).toContain('skillrail trust')
    }
    expect(project.started()).toEqual([])
  })
})

describe('one server', () => {
  let one: Connected
  const shared = servedProject('block', async ({ start }) => {
    one = await start()
  })

  it('has one unchanging list of tools with schemas and hints', async () => {
    const { tools } = await one.client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      'find_skills',
      'use_skill',
      'read_skill_resource',
      'match_references',
      'find_tools',
      'describe_tool',
      'call_tool',
      'do_request',
      'batch_tools',
      'chain_tools',
      'chain_start',
      'chain_report',
      'chain_next',
      'chain_status',
    ])
    for (const { inputSchema, description, annotations } of tools) {
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
      expect(description?.length).toBeGreaterThan(20)
      expect(Object.keys(annotations ?? {})).toHaveLength(4)
    }
    expect(one.client.getServerCapabilities()?.tools).toEqual({ listChanged: false })
  })

  it('routes, describes, batches and chains', async () => {
    const { structuredContent } = await one.client.callTool({
      name: 'find_tools',
      arguments: { request: 'get the message back: echo' },
    })
    expect(structuredContent).toMatchObject({ decision: 'answer', tool: 'things__get_echo' })
    const described = await one.json('describe_tool', { tool: 'get_echo' })
    expect(described).toMatchObject({ tool: { id: 'things__get_echo' }, workflows: [] })
    const batch = await one.json('batch_tools', {
      tools: [{ tool: 'get_broken' }, { tool: 'get_echo', params: { message: 'x' } }],
    })
    expect(batch).toMatchObject([{ status: 'error' }, { result: 'x 1' }])
    const chain = await one.json('chain_tools', {
      tools: [
        { tool: 'list_things', params: { count: 2 }, output_as: 'things' },
        { tool: 'get_echo', params: { message: 'first', times: '$things[1].id' } },
      ],
    })
    expect(chain).toMatchObject({ completed: [{}, { result: 'first 1' }], skipped: [] })
  })

  it('says what is wrong with a request, and what is allowed', async () => {
    const many = (length: number): object[] => Array.from({ length }, () => ({ tool: 'get_echo' }))
    const told = async (name: string, input: object): Promise<string> =>
      await one.text(name, { ...input })
    expect(await told('call_tool', { tool: 'get_echo', params: { times: 'x' } })).toContain(
      'Missing: message',
    )
    expect(await told('call_tool', { tool: 'get_ehco' })).toContain('things__get_echo')
    expect(await told('batch_tools', { tools: many(11) })).toContain(
      'Batch size exceeds limit of 10 tools',
    )
    expect(await told('chain_tools', { tools: many(6) })).toContain(
      'Chain length exceeds limit of 5 tools',
    )
    expect(await told('do_request', { request: '  ' })).toContain('the request says nothing')
    expect(await told('find_tools', { request: 'x', limit: 0 })).toContain('limit: Too small')
  })

  it('saves a picture, and returns its path', async () => {
    const { files } = await one.json('call_tool', { tool: 'get_image' })
    expect(files).toMatchObject([{ mimeType: 'image/png' }])
  })

  it.each([
    ['call_tool', { tool: 'get_image' }],
    ['batch_tools', { tools: [{ tool: 'get_image' }] }],
  ])('passes a picture on as a picture: %s', async (name, input) => {
    const { content } = await one.client.callTool({ name, arguments: input })
    expect(content).toContainEqual({
      type: 'image',
      mimeType: 'image/png',
      data: expect.stringMatching(/^iVBOR/),
    })
  })

  it('passes progress on, and cancels the call at its server', async () => {
    const controller = new AbortController()
    const steps: unknown[] = []
    const call = one.client.callTool(
      { name: 'call_tool', arguments: { tool: 'get_slow', params: {} } },
      {
        signal: controller.signal,
        onprogress(step) {
          steps.push(step)
          controller.abort('enough')
        },
      },
    )
    await expect(call).rejects.toThrow(/enough|abort/i)
    expect(steps[0]).toMatchObject({ message: 'things__get_slow: on the way', total: 4 })
    await until(() => shared.calls().includes('cancelled'))
  })

  it('answers fifty calls at once, by one process', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const call = { tool: 'get_echo', params: { message: `m${index}` } }
        return (await one.json('call_tool', call))['result']
      }),
    )
    expect(answers).toEqual(Array.from({ length: 50 }, (_, index) => `m${index} 1`))
    expect(shared.started()).toHaveLength(1)
  })
})
