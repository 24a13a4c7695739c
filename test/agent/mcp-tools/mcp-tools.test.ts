import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { systemRuntime } from '../../../src/core/runtime.ts'
import { serverProject } from '../../fixtures/server-project.ts'
import { call, calls, echoTool, says } from '../mock-replies.ts'
import { closeAgents, place, results } from './_place.ts'

afterEach(closeAgents)

describe('MCP servers of an agent', () => {
  it('offer their tools by server and name, and answer', async () => {
    const { server, agent, reached } = place()
    const reader = agent([call('own__get_echo', { message: 'hi', times: 2 }), says('Done.')], {
      mcp: [server],
    })
    const { status } = await reader.generate('Echo.')
    expect(status).toBe('completed')
    expect(reader.listTools().map(({ name }) => name)).toContain('own.get_echo')
    expect(results(reader)).toEqual(['hi 2'])
    expect(reached()).toHaveLength(1)
  })

  it('can be called by the names of other agents', async () => {
    const { server, agent } = place()
    const reader = agent([call('mcp__own__get_echo', { message: 'hi' }), says('Done.')], {
      mcp: [server],
    })
    await reader.generate('Echo.')
    expect(results(reader)).toEqual(['hi 1'])
  })

  it('report wrong parameters, and are not called', async () => {
    const { server, agent, reached } = place()
    const reader = agent([call('own__get_echo', { text: 'hi' }), says('Done.')], { mcp: [server] })
    await reader.generate('Echo.')
    expect(results(reader)[0]).toMatch(
      /^Error: invalid parameters for own__get_echo\nMissing: message/,
    )
    expect(reached()).toEqual([])
  })

  it('ask before they change something', async () => {
    const { server, agent, reached } = place()
    const writer = agent([call('own__create_thing', { name: 'x' }), says('Done.')], {
      mcp: [server],
    })
    await writer.generate('Create it.')
    expect(writer.listTools().find(({ name }) => name === 'own.create_thing')?.readOnly).toBe(false)
    expect(results(writer)[0]).toContain('own.create_thing was refused')
    expect(reached()).toEqual([])
  })

  it('need no yes for a tool that the user allows, which permission mode plan still refuses', async () => {
    const { server, agent, reached, home } = place()
    mkdirSync(join(home, '.config', 'skillrail'), { recursive: true })
    const settings = { tools: { allow: ['own__create_thing'] } }
    writeFileSync(join(home, '.config', 'skillrail', 'config.json'), JSON.stringify(settings))
    const replies = () => [call('own__create_thing', { name: 'x' }), says('Done.')]
    const planner = agent(replies(), { mcp: [server], permissionMode: 'plan' })
    await planner.generate('Create it.')
    expect(results(planner)[0]).toContain('Error')
    expect(reached()).toEqual([])
    const writer = agent(replies(), { mcp: [server], permissionMode: 'dont-ask' })
    await writer.generate('Create it.')
    expect(reached()).toHaveLength(1)
  })

  it('make no prerequisite that always asks, until the agent has called it itself', async () => {
    const { agent, reached, home, workflows } = place()
    mkdirSync(join(home, '.config', 'skillrail'), { recursive: true })
    const settings = { tools: { ask: ['things__get_echo'] } }
    writeFileSync(join(home, '.config', 'skillrail', 'config.json'), JSON.stringify(settings))
    const first = { step: 1, tool: 'get_echo', description: 'First.', params: { message: 'hi' } }
    const triggers = { tools: ['create_thing'] }
    workflows({ guard: { description: 'Echoes.', triggers, prerequisites: [first] } })
    const create = call('things__create_thing', { name: 'x' })
    const asked: string[] = []
    const writer = agent(
      [create, call('things__get_echo', { message: 'hi' }), create, says('Done.')],
      {
        mcp: ['things'],
        approver: async ({ tool: { name } }) => {
          asked.push(name)
          return { approved: true }
        },
      },
    )
    await writer.generate('Create it.')
    const [refused, ...others] = results(writer)
    expect(refused).toContain('things__get_echo needs your approval')
    expect(others).toEqual(['hi 1', 'created x'])
    expect(asked).toEqual(['things.create_thing', 'things.get_echo', 'things.create_thing'])
    expect(reached()).toHaveLength(2)
  })

  it('can be those of the project, all or by name', async () => {
    const { agent } = place()
    for (const mcp of ['project', ['things']] as const) {
      const reader = agent([call('things__get_echo', { message: 'hi' }), says('Done.')], { mcp })
      await reader.generate('Echo.')
      expect(results(reader)).toEqual(['hi 1'])
    }
    const lost = agent([], { mcp: ['thigns'] })
    await expect(lost.generate('Go.')).rejects.toMatchObject({ name: 'ServerNotFoundError' })
  })

  it('leave out a tool whose schema a provider would refuse, with a warning', async () => {
    const { agent, notices } = place()
    const { root, scripted, configure } = serverProject()
    const schemas = {
      whole: { type: 'object', properties: { n: { type: 'integer' } } },
      referring: {
        $ref: '#/$defs/args',
        $defs: {
          args: { type: 'object', properties: { n: { $ref: '#/$defs/l' } }, required: ['n'] },
          l: { type: 'integer' },
        },
      },
      dangling: { type: 'object', properties: { n: { $ref: '#/$defs/gone' } } },
      remote: { type: 'object', properties: { n: { $ref: 'http://127.0.0.1:9/n.json' } } },
      text: { type: 'string' },
      unknown_type: { type: 'object', properties: { n: { type: 'strnig' } } },
      impossible: { type: 'object', properties: { n: false }, required: ['n'] },
    }
    const tools = Object.entries(schemas).map(([name, inputSchema]) => [name, { inputSchema }])
    configure({ odd: scripted('odd', Object.fromEntries(tools)) })
    const runtime = systemRuntime({ cwd: root, home: root, env: { PATH: process.env['PATH'] } })
    const reader = agent([says('Done.')], { mcp: ['odd'], runtime })
    expect(await reader.generate('Go.')).toMatchObject({ status: 'completed' })
    const offered = reader.listTools().map(({ name }) => name)
    expect(offered.toSorted()).toEqual(['odd.referring', 'odd.whole'])
    const left = notices.flatMap((line) => /The tool odd__(\w+) is left out/.exec(line)?.[1] ?? [])
    expect(left.toSorted()).toEqual(['dangling', 'impossible', 'remote', 'text', 'unknown_type'])
  })

  it('start nothing for a project that is not trusted', async () => {
    const { agent, started, notices } = place()
    const reader = agent([says('Done.')], { mcp: 'project', workspaceTrust: 'ask' })
    await reader.generate('Go.')
    expect(reader.listTools()).toEqual([])
    expect(notices.join()).toContain('The MCP server things cannot be used')
    expect(started()).toEqual([])
  })

  it('pass the gate of workflows, and so does a tool of the agent that one names', async () => {
    const { root, server, agent, reached, notices } = place()
    const workflow = (tool: string): object => ({
      description: 'Looks first.',
      mode: 'enforce',
      triggers: { tools: [tool] },
      prerequisites: [{ step: 1, tool: 'list_things', description: 'The things.', required: true }],
    })
    writeFileSync(
      join(root, '.skillrail', 'workflows.json'),
      JSON.stringify({ look: workflow('get_echo'), own: workflow('publish') }),
    )
    const publish = echoTool('publish')
    const reader = agent(
      [
        calls([{ name: 'own__get_echo', input: { message: 'hi' } }]),
        call('publish'),
        says('Done.'),
      ],
      { mcp: [server], tools: [publish] },
    )
    await reader.generate('Echo.')
    expect(notices.join()).toContain("Workflow 'own' triggered")
    expect(reached().map((line) => /\w+/.exec(line)?.[0])).toEqual([
      'list_things',
      'get_echo',
      'list_things',
    ])
    expect(publish.seen).toHaveLength(1)
  })

  it('get no call from a workflow of a project that is not trusted', async () => {
    const { root, server, agent, reached } = place()
    const description = 'Makes a thing first.'
    const step = { step: 1, tool: 'create_thing', description, required: true }
    const triggers = { tools: ['get_echo'] }
    const make = { description, mode: 'enforce', triggers, prerequisites: [step] }
    writeFileSync(join(root, '.skillrail', 'workflows.json'), JSON.stringify({ make }))
    const reader = agent([call('own__get_echo', { message: 'hi' }), says('Done.')], {
      mcp: [server],
      workspaceTrust: 'ask',
    })
    await reader.generate('Echo.')
    expect(results(reader)[0]).toMatch(/^Error: Workflow 'make' must run first and may not: /)
    expect(reached()).toEqual([])
  })

  it('get no call while a workflow of the project cannot be read', async () => {
    const { root, server, agent, reached } = place()
    mkdirSync(join(root, '.skillrail'), { recursive: true })
    writeFileSync(join(root, '.skillrail', 'workflows.json'), '{ "make": ')
    const answers = [call('own__get_echo', { message: 'hi' }), says('Done.')]
    const reader = agent(answers, { mcp: [server] })
    await reader.generate('Echo.')
    expect(results(reader)[0]).toMatch(/^Error: nothing is called, because a workflow/)
    expect(reached()).toEqual([])
  })

  it('cannot be defined incompletely or twice', async () => {
    const { server, agent } = place()
    const half = agent([], { mcp: [{ name: 'half' }] })
    await expect(half.generate('Go.')).rejects.toThrow('needs either a command or a url')
    const twice = agent([], { mcp: [server, server] })
    await expect(twice.generate('Go.')).rejects.toThrow('Two MCP servers are called own.')
  })
})

describe('workflows of a project stand before a tool of the agent itself while no server is offered', () => {
  const workflow = {
    description: 'Looks first.',
    mode: 'enforce',
    triggers: { tools: ['publish'] },
    prerequisites: [{ step: 1, tool: 'list_things', description: 'The things.', required: true }],
  }
  const write = (root: string, workflows: object | string): void => {
    const text = typeof workflows === 'string' ? workflows : JSON.stringify(workflows)
    writeFileSync(join(root, '.skillrail', 'workflows.json'), text)
  }
  const names = (lines: readonly string[]): (string | undefined)[] =>
    lines.map((line) => /\w+/.exec(line)?.[0])

  it('run their steps on the servers of the project, once', async () => {
    const { root, agent, reached, notices } = place()
    write(root, { look: workflow })
    const [publish, other] = [echoTool('publish'), echoTool('other')]
    const writer = agent(
      [call('other'), call('publish'), call('publish', { again: true }), says('Done.')],
      { tools: [publish, other] },
    )
    await writer.generate('Publish.')
    expect(names(reached())).toEqual(['list_things'])
    expect(publish.seen).toHaveLength(2)
    expect(notices.join()).toContain("Workflow 'look' triggered")
    expect(writer.listTools().map(({ name }) => name)).toEqual(['publish', 'other'])
  })

  it('start nothing for calls without a workflow', async () => {
    const { root, agent, started, notices } = place()
    write(root, { look: { ...workflow, triggers: { tools: ['deploy'] } } })
    const publish = echoTool('publish')
    await agent([call('publish'), says('Done.')], { tools: [publish] }).generate('Publish.')
    expect(publish.seen).toHaveLength(1)
    expect(started()).toEqual([])
    expect(notices).toEqual([])
  })

  it('apply to the same tool in a subagent', async () => {
    const { root, agent, reached } = place()
    write(root, { look: workflow })
    const publish = echoTool('publish')
    const writer = agent([call('publish'), says('Published.')], {
      tools: [publish],
      subagents: [{ name: 'helper', description: 'Helps.', tools: ['publish'] }],
    })
    expect(await writer.delegate('helper', 'Publish.')).toMatchObject({ success: true })
    expect(names(reached())).toEqual(['list_things'])
    expect(publish.seen).toHaveLength(1)
  })

  it("apply to all names of a skill's tool", async () => {
    for (const name of ['greet.wave', 'greet__wave', 'wave']) {
      const { root, agent, reached } = place()
      write(root, { look: { ...workflow, triggers: { tools: [name] } } })
      const wave = echoTool('greet.wave')
      await agent([call('greet__wave'), says('Done.')], { tools: [wave] }).generate('Wave.')
      expect(names(reached())).toEqual(['list_things'])
    }
  })

  it('apply to the names of built-in tools in skills, once', async () => {
    const { root, agent, reached } = place()
    write(root, { look: { ...workflow, triggers: { tools: ['Glob', 'Ls', 'list'] } } })
    writeFileSync(join(root, 'a.md'), '')
    await agent([call('list', { pattern: '*.md' }), says('Done.')], {
      builtIns: ['list'],
    }).generate('List.')
    expect(names(reached())).toEqual(['list_things'])
  })

  it('run steps again that a call of another tool makes stale', async () => {
    const { root, agent, reached } = place()
    const [step] = workflow.prerequisites
    write(root, { look: { ...workflow, prerequisites: [{ ...step, invalidated_by: ['touch'] }] } })
    const answers = ['publish', 'publish', 'touch', 'publish'].map((name) => call(name))
    const tools = [echoTool('publish'), echoTool('touch')]
    await agent([...answers, says('Done.')], { tools }).generate('Publish.')
    expect(names(reached())).toEqual(['list_things', 'list_things'])
  })

  it('refuse the call in an untrusted project, without a server', async () => {
    const { root, agent, started } = place()
    write(root, { look: workflow })
    const [publish, other] = [echoTool('publish'), echoTool('other')]
    const writer = agent([call('publish'), call('other'), says('Done.')], {
      tools: [publish, other],
      workspaceTrust: 'ask',
    })
    await writer.generate('Publish.')
    expect(results(writer)[0]).toMatch(/^Error: Workflow 'look' must run first and may not: /)
    expect(publish.seen).toEqual([])
    expect(other.seen).toHaveLength(1)
    expect(started()).toEqual([])
  })

  it('refuse every call while a workflow cannot be read', async () => {
    const { root, agent, started } = place()
    write(root, '{ "look": ')
    const other = echoTool('other')
    const writer = agent([call('other'), says('Done.')], { tools: [other] })
    await writer.generate('Go.')
    expect(results(writer)[0]).toMatch(/^Error: nothing is called, because a workflow/)
    expect(other.seen).toEqual([])
    expect(started()).toEqual([])
  })

  it('refuse the call while a server that may have their steps cannot be used', async () => {
    const { root, agent } = place()
    write(root, { look: workflow })
    const broken = { mcpServers: { things: { command: join(root, 'not-there') } } }
    writeFileSync(join(root, '.mcp.json'), JSON.stringify(broken))
    const publish = echoTool('publish')
    const writer = agent([call('publish'), says('Done.')], { tools: [publish] })
    await writer.generate('Publish.')
    expect(results(writer)[0]).toMatch(
      /^Error: Workflow 'look' must run first and cannot: it needs list_things, and things cannot/,
    )
    expect(publish.seen).toEqual([])
  })

  it('report that their steps are installed nowhere', async () => {
    const { root, agent, notices } = place()
    write(root, { look: workflow })
    writeFileSync(join(root, '.mcp.json'), '{}')
    const publish = echoTool('publish')
    await agent([call('publish'), says('Done.')], { tools: [publish] }).generate('Publish.')
    expect(publish.seen).toHaveLength(1)
    expect(notices.join()).toMatch(/look.*list_things/)
  })
})
