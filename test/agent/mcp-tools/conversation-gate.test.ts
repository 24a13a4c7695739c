import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { AgentEnvironment } from '../../../src/agent/agent-options.ts'
import { createBuiltInTools } from '../../../src/agent/built-in-tools/built-in-tools.ts'
import { McpPart } from '../../../src/agent/mcp-tools/mcp-part.ts'
import { loadConfiguration } from '../../../src/core/configuration.ts'
import { collectActingParts } from '../../../src/trust/acting-parts.ts'
import { TrustStore } from '../../../src/trust/store.ts'
import { wireName } from '../../../src/agent/tool.ts'
import type { AgentTool } from '../../../src/agent/types.ts'
import { call, echoTool, says } from '../mock-replies.ts'
import { linesOf } from '../../fixtures/server-project.ts'
import { closeAgents, type Place, place, results } from './_place.ts'
import { until } from '../../patience.ts'

afterEach(closeAgents)

const step = { step: 1, tool: 'list_things', description: 'The things.', required: true }

function workflow(tools: readonly string[], change: object = {}): object {
  const triggers = { tools }
  return { description: 'Looks.', mode: 'enforce', triggers, prerequisites: [step], ...change }
}

/** A server that is started and says nothing, and the file that it makes. */
function silent({ root }: Place): { name: string; command: string; args: string[]; made: string } {
  const made = join(root, 'made')
  const script = `require('node:fs').writeFileSync(process.argv[1], ''); setInterval(() => {}, 1000)`
  return { name: 'silent', command: process.execPath, args: ['-e', script, made], made }
}

describe('a step on a server of the project that is not offered', () => {
  /** The calls that reached a second server, which has the step. */
  function withOthers(given: Place): () => string[] {
    const { root, server } = given
    const reached = join(root, 'others')
    const { command, args = [] } = server
    const others = { command, args: [...args.slice(0, 1), reached] }
    const things = { command, args }
    writeFileSync(join(root, '.mcp.json'), JSON.stringify({ mcpServers: { things, others } }))
    const prerequisites = [{ ...step, tool: 'others__list_things' }]
    given.workflows({ look: workflow(['publish', 'get_echo'], { prerequisites }) })
    return () => linesOf(reached)
  }

  it.each([
    ['none is', () => []],
    ['one of the program is', ({ server }: Place) => [server]],
    ['another one is', () => ['things']],
  ])('is called before a tool of the agent if %s', async (_, choose) => {
    const here = place()
    const reached = withOthers(here)
    const publish = echoTool('publish')
    const options = { mcp: choose(here), tools: [publish] }
    const agent = here.agent([call('publish'), says('Done.')], options)
    await agent.generate('Publish.')
    expect(reached()).toEqual(['list_things {}'])
    expect(publish.seen).toHaveLength(1)
  })

  it('is called before a tool of an offered server, which keeps its process', async () => {
    const here = place()
    const reached = withOthers(here)
    const answers = [call('things__get_echo', { message: 'hi' }), says('Done.')]
    const agent = here.agent(answers, { mcp: ['things'] })
    await agent.generate('Echo.')
    expect(results(agent)).toEqual(['hi 1'])
    expect(reached()).toEqual(['list_things {}'])
    expect(here.started()).toHaveLength(1)
    expect(agent.listTools().some(({ name }) => name.startsWith('others.'))).toBe(false)
  })

  it('is called before a tool of a server that a skill names', async () => {
    const here = place()
    const reached = withOthers(here)
    const skill = join(here.home, '.claude', 'skills', 'echo')
    mkdirSync(skill, { recursive: true })
    const fields = 'name: echo\ndescription: Echoes.\nmetadata:\n  mcp-servers: things'
    writeFileSync(join(skill, 'SKILL.md'), `---\n${fields}\n---\nEcho.\n`)
    const answers = [call('things__get_echo', { message: 'hi' }), says('Done.')]
    const agent = here.agent(answers, { skills: [], startSkills: ['echo'] })
    await agent.generate('Echo.')
    expect(results(agent)).toEqual(['hi 1'])
    expect(reached()).toEqual(['list_things {}'])
  })

  it('prevents the call while that server cannot be used', async () => {
    const here = place()
    withOthers(here)
    const { command, args } = here.server
    const mcpServers = { things: { command, args }, others: { command: join(here.root, 'none') } }
    writeFileSync(join(here.root, '.mcp.json'), JSON.stringify({ mcpServers }))
    const answers = [call('things__get_echo', { message: 'hi' }), says('Done.')]
    const agent = here.agent(answers, { mcp: ['things'] })
    await agent.generate('Echo.')
    expect(results(agent)[0]).toMatch(/^Error: Workflow 'look' must run first and cannot: /)
    expect(here.reached()).toEqual([])
  })
})

describe('a call', () => {
  it.each(['ask', 'trusted'] as const)(
    'starts no server for a workflow that only suggests (%s)',
    async (workspaceTrust) => {
      const { home, server, workflows, agent, started, notices } = place()
      const { command, args } = server
      const mcpServers = { mine: { command, args } }
      writeFileSync(join(home, '.claude.json'), JSON.stringify({ mcpServers }))
      workflows({ look: workflow(['publish'], { mode: 'suggest' }) })
      const publish = echoTool('publish')
      const options = { tools: [publish], workspaceTrust }
      await agent([call('publish'), says('Done.')], options).generate('Publish.')
      expect(publish.seen).toHaveLength(1)
      expect(started()).toEqual([])
      expect(notices).toEqual([
        "Workflow 'look' suggests to run first\n  1. list_things: The things.",
      ])
    },
  )

  it('passes once if its tool has several names', async () => {
    const { workflows, agent, notices } = place()
    workflows({ look: workflow(['Glob', 'LS', 'list'], { mode: 'suggest' }) })
    const options = { builtIns: ['list' as const] }
    await agent([call('list', { pattern: '*' }), says('Done.')], options).generate('List.')
    expect(notices).toHaveLength(1)
  })

  it('passes the workflow that can run, under whichever of its names', async () => {
    const { workflows, agent, reached } = place()
    const prerequisites = [{ ...step, tool: 'nowhere' }]
    workflows({ lost: workflow(['Glob'], { prerequisites }), look: workflow(['list']) })
    const options = { builtIns: ['list' as const] }
    await agent([call('list', { pattern: '*' }), says('Done.')], options).generate('List.')
    expect(reached()).toEqual(['list_things {}'])
  })

  it.each(['publish-everything', `${'long-'.repeat(12)}name__publish-everything`])(
    "of a skill's tool with a long name is matched by %s",
    async (name) => {
      const { workflows, agent, reached } = place()
      workflows({ look: workflow([name]) })
      const tool = echoTool(`${'long-'.repeat(12)}name.publish-everything`)
      await agent([call(wireName(tool.name)), says('Done.')], { tools: [tool] }).generate('Go.')
      expect(reached()).toEqual(['list_things {}'])
    },
  )
})

describe('a run that was cancelled', () => {
  it('does not wait for servers that start', async () => {
    const here = place()
    const server = silent(here)
    const controller = new AbortController()
    const agent = here.agent([says('Done.')], { mcp: [server] })
    const running = agent.generate('Go.', { signal: controller.signal })
    await until(() => existsSync(server.made))
    controller.abort()
    expect(await running).toMatchObject({ status: 'cancelled', turns: 0 })
  })

  it('can be a delegation, whose time limit includes the start of servers', async () => {
    const here = place()
    const server = silent(here)
    const subagents = [{ name: 'helper', description: 'Helps.' }]
    const agent = here.agent([says('Done.')], { mcp: [server], subagents })
    const late = await agent.delegate('helper', 'Go.', { timeoutMs: 1 })
    expect(late).toMatchObject({ success: false, endReason: 'timeout' })
    const controller = new AbortController()
    const running = agent.delegate('helper', 'Go.', { signal: controller.signal })
    await until(() => existsSync(server.made))
    controller.abort()
    expect(await running).toMatchObject({ success: false, endReason: 'parent-cancelled' })
  })
})

it('refuses the calls of an accepted workflow whose file is gone', async () => {
  const { root, runtime, workflows, agent } = place()
  workflows({ look: workflow(['publish']) })
  await new TrustStore(runtime).accept(root, collectActingParts(root, []))
  rmSync(join(root, '.skillrail', 'workflows.json'))
  const [publish, other] = [echoTool('publish'), echoTool('other')]
  const options = { tools: [publish, other], workspaceTrust: 'ask' as const }
  const writer = agent([call('publish'), call('other'), says('Done.')], options)
  await writer.generate('Publish.')
  expect(results(writer)[0]).toMatch(
    /^Error: Workflow 'look' must run first: .* is not what was acc/,
  )
  expect(publish.seen).toEqual([])
  expect(other.seen).toHaveLength(1)
})

it('starts nothing after the conversation was closed', async () => {
  const { root, runtime, workflows, started } = place()
  workflows({ look: workflow(['publish']) })
  const { settings } = loadConfiguration(runtime)
  const environment = new AgentEnvironment({
    model: '',
    project: root,
    runtime,
    settings: { ...settings, workspaceTrust: 'trusted' },
    mcp: 'project',
  })
  const part = new McpPart(environment, () => undefined)
  await part.close?.()
  const { signal } = new AbortController()
  const context = { toolCallId: '1', signal, onEvent: () => undefined }
  await expect(part.ready()).rejects.toThrow('The agent was closed')
  await expect(part.serverTools('things')).rejects.toThrow('The agent was closed')
  await expect(part.beforeTool?.(echoTool('publish'), {}, context)).rejects.toThrow('was closed')
  expect(started()).toEqual([])
})

describe("a step that is one of the agent's own tools", () => {
  const first = (tool: string, change: object = {}): object => ({
    step: 1,
    tool,
    description: 'Looks.',
    required: true,
    ...change,
  })
  const before = (steps: readonly object[], change: object = {}): object => ({
    look: workflow(['publish'], { prerequisites: steps, ...change }),
  })

  it.each(['enforce', 'warn'])('must be called first, by the agent itself (%s)', async (mode) => {
    const { workflows, agent, notices } = place()
    workflows(before([first('check')], { mode }))
    const [publish, check] = [echoTool('publish'), echoTool('check')]
    const writer = agent(
      [call('publish'), call('check'), call('publish'), call('publish'), says('Done.')],
      { tools: [publish, check] },
    )
    await writer.generate('Publish.')
    expect(results(writer)[0]).toMatch(/^Error: Workflow 'look' failed at step 1 \(check\): /)
    expect(results(writer)[0]).toContain('Call check first, then this again.')
    expect(check.seen).toHaveLength(1)
    expect(publish.seen).toHaveLength(2)
    expect(notices.join()).not.toContain('not enforced')
  })

  it('does not count as done by a failed call', async () => {
    const { workflows, agent } = place()
    workflows(before([first('check')]))
    const publish = echoTool('publish')
    const check = { ...echoTool('check'), execute: () => Promise.reject(new Error('no')) }
    const writer = agent([call('check'), call('publish'), says('Done.')], {
      tools: [publish, check],
    })
    await writer.generate('Publish.')
    expect(results(writer)[1]).toMatch(/^Error: Workflow 'look' failed at step 1/)
    expect(publish.seen).toEqual([])
  })

  it.each([
    ['exit code', 'exit 1', '[exit code 1]'],
    ['signal', 'kill -9 $$', '[ended by signal SIGKILL]'],
  ])('does not count as done by a command whose %s reports a failure', async (_, command, told) => {
    const { workflows, agent, root } = place()
    workflows(before([first('shell')]))
    const publish = echoTool('publish')
    const again = { command: `test -e done && exit 0; touch done; ${command}` }
    const writer = agent(
      [call('shell', again), call('publish'), call('shell', again), call('publish'), says('Done.')],
      { tools: [publish], builtIns: ['shell'], approver: async () => ({ approved: true }) },
    )
    await writer.generate('Publish.')
    expect(existsSync(join(root, 'done'))).toBe(true)
    expect(results(writer)[0]).toBe(told)
    expect(results(writer)[1]).toMatch(/^Error: Workflow 'look' failed at step 1/)
    expect(publish.seen).toHaveLength(1)
  })

  it('does not count as done when the tool that ran a failing command copies its input', async () => {
    const { workflows, agent, root, runtime } = place()
    workflows(before([first('shell')]))
    const publish = echoTool('publish')
    const shells = createBuiltInTools(['shell'], { project: root, runtime })
    const copying = shells.map((shell): AgentTool => {
      const { execute, ...facts } = shell
      return { ...facts, execute: (input, context) => execute({ ...input }, context) }
    })
    const writer = agent([call('shell', { command: 'exit 1' }), call('publish'), says('Done.')], {
      tools: [publish, ...copying],
      approver: async () => ({ approved: true }),
    })
    await writer.generate('Publish.')
    expect(results(writer)[0]).toBe('[exit code 1]')
    expect(results(writer)[1]).toMatch(/^Error: Workflow 'look' failed at step 1/)
    expect(publish.seen).toEqual([])
  })

  it('does not count as done by a failed script of a skill', async () => {
    const { workflows, agent, home } = place()
    workflows(before([first('look.check')]))
    const skill = join(home, '.claude', 'skills', 'look')
    mkdirSync(join(skill, 'scripts'), { recursive: true })
    writeFileSync(join(skill, 'SKILL.md'), '---\nname: look\ndescription: Looks.\n---\nLook.\n')
    const script = '#!/bin/sh\ntest -e done && exit 0\ntouch done\nexit 1\n'
    writeFileSync(join(skill, 'scripts', 'check.sh'), script, { mode: 0o755 })
    const publish = echoTool('publish')
    const writer = agent(
      [call('look__check'), call('publish'), call('look__check'), call('publish'), says('Done.')],
      {
        tools: [publish],
        skills: [],
        startSkills: ['look'],
        approver: async () => ({ approved: true }),
      },
    )
    await writer.generate('Publish.')
    expect(results(writer)[0]).toMatch(/^\{"status":"failure"/)
    expect(results(writer)[1]).toMatch(/^Error: Workflow 'look' failed at step 1/)
    expect(results(writer)[2]).toMatch(/^\{"status":"success"/)
    expect(publish.seen).toHaveLength(1)
  })

  it('can be a built-in tool, under its name in skills', async () => {
    const { workflows, agent } = place()
    workflows(before([first('Glob')]))
    const publish = echoTool('publish')
    const writer = agent(
      [call('publish'), call('list', { pattern: '*' }), call('publish'), says('Done.')],
      { tools: [publish], builtIns: ['list'] },
    )
    await writer.generate('Publish.')
    expect(results(writer)[0]).toMatch(/^Error: Workflow 'look' failed at step 1 \(Glob\)/)
    expect(publish.seen).toHaveLength(1)
  })

  it('requires the parameters of the workflow, and names them', async () => {
    const { workflows, agent, root } = place()
    workflows(before([first('read', { params: { file_path: '$call.path' } })]))
    writeFileSync(join(root, 'a.md'), 'a')
    const publish = echoTool('publish')
    const writer = agent(
      [
        call('read', { file_path: 'a.md' }),
        call('publish', { path: 'a.md' }),
        call('publish', { path: 'b.md' }),
        says('Done.'),
      ],
      { tools: [publish], builtIns: ['read'] },
    )
    await writer.generate('Publish.')
    expect(publish.seen).toHaveLength(1)
    expect(results(writer)[2]).toContain('Call read with {"file_path":"b.md"} first')
  })

  it('passes its result to the next step', async () => {
    const { workflows, agent } = place()
    const steps = [first('find'), first('check', { step: 2, params: { id: '$steps.1.id' } })]
    workflows(before(steps))
    const publish = echoTool('publish')
    const find = { ...echoTool('find'), execute: async () => ({ id: 7 }) }
    const check = {
      ...echoTool('check'),
      inputSchema: { type: 'object', properties: { id: { type: 'number' } } },
    }
    const writer = agent(
      [call('find'), call('publish'), call('check', { id: 7 }), call('publish'), says('Done.')],
      { tools: [publish, find, check] },
    )
    await writer.generate('Publish.')
    expect(results(writer)[1]).toContain('Call check with {"id":7} first')
    expect(publish.seen).toHaveLength(1)
  })

  it('comes before a tool of a server too, until that tool makes it stale', async () => {
    const { server, workflows, agent, reached } = place()
    const step = first('check', { invalidated_by: ['get_echo'] })
    workflows({ look: workflow(['list_things'], { prerequisites: [step] }) })
    const check = echoTool('check')
    const writer = agent(
      [
        call('own__list_things'),
        call('check'),
        call('own__list_things'),
        call('own__get_echo', { message: 'hi' }),
        call('own__list_things'),
        says('Done.'),
      ],
      { mcp: [server], tools: [check] },
    )
    await writer.generate('List.')
    expect(reached().map((line) => line.split(' ')[0])).toEqual(['list_things', 'get_echo'])
    expect(results(writer)[4]).toContain('Call check first')
  })

  it('exists in a subagent with that tool, even if its parent lacks the tool', async () => {
    const { workflows, agent } = place()
    workflows(before([first('check')]))
    const [publish, check] = [echoTool('publish'), echoTool('check')]
    const writer = agent([call('publish'), call('check'), call('publish'), says('Done.')], {
      tools: [publish],
      subagents: [{ name: 'helper', description: 'Helps.', tools: ['publish', check] }],
    })
    expect(await writer.delegate('helper', 'Publish.')).toMatchObject({ success: true })
    expect(check.seen).toHaveLength(1)
    expect(publish.seen).toHaveLength(1)
  })

  it('prevents the call of a subagent without that tool', async () => {
    const { workflows, agent } = place()
    workflows(before([first('check')]))
    const [publish, check] = [echoTool('publish'), echoTool('check')]
    const writer = agent([call('publish'), says('I cannot.')], {
      tools: [publish, check],
      subagents: [{ name: 'helper', description: 'Helps.', tools: ['publish'] }],
    })
    await writer.delegate('helper', 'Publish.')
    expect(publish.seen).toEqual([])
  })

  it('is left out if it is not required', async () => {
    const { workflows, agent, notices } = place()
    workflows(before([first('check', { required: false })]))
    const [publish, check] = [echoTool('publish'), echoTool('check')]
    const writer = agent([call('publish'), says('Done.')], { tools: [publish, check] })
    await writer.generate('Publish.')
    expect(publish.seen).toHaveLength(1)
    expect(notices.join('\n')).toContain('Step 1: check left out')
  })

  it('is suggested until it was called', async () => {
    const { workflows, agent, notices } = place()
    workflows(before([first('check')], { mode: 'suggest' }))
    const [publish, check] = [echoTool('publish'), echoTool('check')]
    const writer = agent([call('publish'), call('check'), call('publish'), says('Done.')], {
      tools: [publish, check],
    })
    await writer.generate('Publish.')
    expect(publish.seen).toHaveLength(2)
    expect(notices).toEqual([expect.stringContaining('check')])
  })
})

it('refuses calls of the agent’s own tools once its servers are closed', async () => {
  const { root, runtime } = place()
  const options = { model: 'x:y', mcp: 'project', project: root, runtime } as const
  const part = new McpPart(new AgentEnvironment(options), () => undefined)
  await part.ready()
  await part.close()
  const { signal } = new AbortController()
  const context = { toolCallId: '1', signal, onEvent: () => undefined }
  await expect(part.beforeTool(echoTool(), {}, context)).rejects.toMatchObject({
    code: 'agent-closed',
  })
})
