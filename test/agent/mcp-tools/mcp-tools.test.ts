import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { Agent, type AgentOptions, type McpServer } from '../../../src/agent/index.ts'
import { systemRuntime } from '../../../src/base/index.ts'
import { call, calls, echoTool, type Reply, resultTexts, says, scripted } from '../mock-replies.ts'

const program = fileURLToPath(new URL('../../fixtures/programs/tool-server.ts', import.meta.url))

const agents: Agent[] = []

afterEach(async () => {
  await Promise.all(agents.splice(0).map((agent) => agent.close()))
})

interface Place {
  root: string
  server: McpServer
  /** The calls that reached the server. */
  reached(): string[]
  agent(replies: readonly Reply[], options: Partial<AgentOptions>): Agent
  notices: string[]
}

function place(): Place {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'agent-mcp-')))
  const [root, home, record] = ['project', 'home', 'calls'].map((name) => join(directory, name))
  if (root === undefined || home === undefined || record === undefined) throw new Error('no place')
  mkdirSync(join(root, '.git'), { recursive: true })
  mkdirSync(join(root, '.skillrail'))
  mkdirSync(home)
  const args = ['--disable-warning=ExperimentalWarning', program, record]
  const notices: string[] = []
  const env = { PATH: process.env['PATH'], SKILLRAIL_TOOLS_RETRY_WAITS: '0,0' }
  writeFileSync(
    join(root, '.mcp.json'),
    JSON.stringify({ mcpServers: { things: { command: process.execPath, args } } }),
  )
  return {
    root,
    notices,
    server: { name: 'own', command: process.execPath, args },
    reached: () => (existsSync(record) ? readFileSync(record, 'utf8').trimEnd().split('\n') : []),
    agent(replies, options) {
      const agent = new Agent({
        model: scripted(replies),
        runtime: systemRuntime({ cwd: root, home, env }),
        workspaceTrust: 'trusted',
        onEvent: (event) => {
          if (event.type === 'notice') notices.push(event.message)
        },
        ...options,
      })
      agents.push(agent)
      return agent
    },
  }
}

/** What the model read as results of its calls. */
function results(agent: Agent): string[] {
  return agent.messages.flatMap(resultTexts)
}

describe('MCP servers of an agent', () => {
  it('offer their tools by server and name, and answer', async () => {
    const { server, agent, reached } = place()
    const reader = agent([call('own__get_echo', { message: 'hi', times: 2 }), says('Done.')], {
      mcp: [server],
    })
    const { status } = await reader.generate('Echo.')
    expect(status).toBe('completed')
    expect(reader.tools.map(({ name }) => name)).toContain('own.get_echo')
    expect(results(reader)).toEqual(['hi 2'])
    expect(reached()).toHaveLength(1)
  })

  it('say which parameters are wrong, and are not called', async () => {
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
    expect(writer.tools.find(({ name }) => name === 'own.create_thing')?.readOnly).toBe(false)
    expect(results(writer)[0]).toContain('own.create_thing was refused')
    expect(reached()).toEqual([])
  })

  it('are those of the project, all or by name', async () => {
    const { agent } = place()
    for (const mcp of ['project', ['things']] as const) {
      const reader = agent([call('things__get_echo', { message: 'hi' }), says('Done.')], { mcp })
      await reader.generate('Echo.')
      expect(results(reader)).toEqual(['hi 1'])
    }
    const lost = agent([], { mcp: ['thigns'] })
    await expect(lost.generate('Go.')).rejects.toMatchObject({ name: 'ServerNotFoundError' })
  })

  it('start nothing for a project that is not trusted', async () => {
    const { agent, reached, notices } = place()
    const reader = agent([says('Done.')], { mcp: 'project', workspaceTrust: 'ask' })
    await reader.generate('Go.')
    expect(reader.tools).toEqual([])
    expect(notices.join()).toContain('The MCP server things cannot be used')
    expect(reached()).toEqual([])
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

  it('cannot be defined by half, or twice', async () => {
    const { server, agent } = place()
    const half = agent([], { mcp: [{ name: 'half' }] })
    await expect(half.generate('Go.')).rejects.toThrow('needs either a command or a url')
    const twice = agent([], { mcp: [server, server] })
    await expect(twice.generate('Go.')).rejects.toThrow('Two MCP servers are called own.')
  })
})
