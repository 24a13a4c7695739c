import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import type { AgentOptions } from '../../src/agent/agent-options.ts'
import { SubagentManager } from '../../src/agent/subagents/manager.ts'
import { SkillManager, defineSkill } from '../../src/library/manager.ts'
import type { Fixture } from '../library/_fixture.ts'
import { type AgentFixture, emptyFixture, withAgent } from './_agent-fixture.ts'
import { type Reply, call, echoTool, says } from './mock-replies.ts'

// Rows of the requirements as somebody who only knows the Agent sees them.

const greet = defineSkill({ name: 'greet', description: 'Greets.', body: 'Greet $ARGUMENTS.' })
const worker = { name: 'worker', description: 'Works.', systemPrompt: 'You work.' }

function agentIn(
  place: Fixture & Pick<AgentFixture, 'executable'> = emptyFixture(),
  options: Partial<AgentOptions> = {},
  replies: readonly Reply[] = [says('Done.')],
): AgentFixture {
  return withAgent(place, replies, { ...options })
}

const names = (list: readonly { name: string }[]): string[] => list.map(({ name }) => name)

describe('the constructor', () => {
  it('accepts skills as objects, names and paths', async () => {
    const place = emptyFixture()
    place.skill('project/.claude/skills/named')
    place.skill('elsewhere/by-path')
    const { agent } = agentIn(place, {
      skills: [greet, 'named', join(place.root, 'elsewhere/by-path')],
    })
    expect(names(await agent.listSkills()).toSorted()).toEqual(['by-path', 'greet', 'named'])
  })

  it('searches further directories for skills', async () => {
    const place = emptyFixture()
    place.skill('more/extra')
    const { agent } = agentIn(place, { skills: undefined, skillDirs: [join(place.root, 'more')] })
    expect(names(await agent.listSkills())).toEqual(['extra'])
  })

  it('lists the subagents of its options', async () => {
    const { agent } = agentIn(emptyFixture(), { subagents: [worker] })
    expect(await agent.listSubagents()).toMatchObject([{ name: 'worker' }])
  })
})

describe('skills of the agent', () => {
  it('registers a skill, returns it by name and lists it', async () => {
    const { agent } = agentIn()
    expect(await agent.getSkill('greet')).toBeUndefined()
    await agent.registerSkill(greet)
    expect(await agent.getSkill('greet')).toMatchObject({ body: 'Greet $ARGUMENTS.' })
    expect(names(await agent.listSkills())).toEqual(['greet'])
  })

  it('invokes a skill with arguments', async () => {
    const { agent } = agentIn(emptyFixture(), { skills: [greet] })
    expect(await agent.invokeSkill('greet', 'Ada Lovelace')).toContain('Greet Ada Lovelace.')
  })

  it('gives access to one SkillManager', async () => {
    const { agent } = agentIn(emptyFixture(), { skills: [greet] })
    expect(agent.skillManager).toBeInstanceOf(SkillManager)
    expect(agent.skillManager).toBe(agent.skillManager)
  })
})

describe('subagents of the agent', () => {
  it('registers a subagent and delegates a task to it', async () => {
    const { agent, model } = agentIn()
    agent.registerSubagent(worker)
    expect(await agent.delegate('worker', 'Count.')).toMatchObject({
      success: true,
      output: 'Done.',
    })
    expect(JSON.stringify(model.doGenerateCalls[0]?.prompt)).toContain('You work.')
  })

  it('delegates in the background and returns a handle at once', async () => {
    const { agent } = agentIn(emptyFixture(), { subagents: [worker] })
    const handle = await agent.delegateAsync('worker', 'Count.')
    expect(handle.isComplete).toBe(false)
    expect((await handle.result()).output).toBe('Done.')
    expect(handle.isComplete).toBe(true)
  })

  it('gives access to one SubagentManager', () => {
    const { agent } = agentIn(emptyFixture(), { subagents: [worker] })
    expect(agent.subagentManager).toBeInstanceOf(SubagentManager)
    expect(agent.subagentManager).toBe(agent.subagentManager)
  })

  it('fills in a system prompt that is a template', async () => {
    const systemPrompt = { template: 'You know {{field}}.', variables: { field: 'botany' } }
    const { agent, model } = agentIn(emptyFixture(), { subagents: [{ ...worker, systemPrompt }] })
    await agent.delegate('worker', 'Name a flower.')
    expect(JSON.stringify(model.doGenerateCalls[0]?.prompt[0])).toContain('You know botany.')
  })

  it('ends a subagent without maxTurns after 50 turns', async () => {
    const look = echoTool('look')
    const endless = Array.from({ length: 60 }, (_, turn) => call('look', { turn }))
    const { agent, model } = agentIn(
      emptyFixture(),
      { tools: [look], subagents: [{ ...worker, tools: ['look'] }] },
      endless,
    )
    expect(await agent.delegate('worker', 'Look.')).toMatchObject({
      success: false,
      error: 'Max turns exceeded',
    })
    expect(look.seen).toHaveLength(50)
    expect(model.doGenerateCalls).toHaveLength(51)
  })

  it('applies the configuration of a subagent over that of its parent', async () => {
    const config = { callSettings: { temperature: 0.25, maxOutputTokens: 77 } }
    const { agent, model } = agentIn(emptyFixture(), { subagents: [{ ...worker, config }] })
    await agent.delegate('worker', 'Work.')
    expect(model.doGenerateCalls[0]).toMatchObject({ temperature: 0.25, maxOutputTokens: 77 })
  })
})

it('creates its managers on first use and reads nothing before', () => {
  const reads: string[] = []
  const place = emptyFixture()
  const runtime = new Proxy(place.runtime, {
    get(target, key) {
      reads.push(String(key))
      return Reflect.get(target, key)
    },
  })
  const { model } = agentIn()
  const agent = new Agent({ model, runtime })
  expect(reads.filter((key) => key === 'home' || key === 'env')).toEqual([])
  expect(agent.skillManager).toBeInstanceOf(SkillManager)
  expect(agent.subagentManager).toBeInstanceOf(SubagentManager)
  expect(reads).toContain('env')
})

it('uses a skill, its tool, a fork and a delegation in one conversation', async () => {
  const place = emptyFixture()
  place.skill('project/.claude/skills/check', { more: 'context: fork', body: 'Check $0.' })
  const { ask, agent } = agentIn(place, { skills: [greet], subagents: [worker] }, [
    call('skill', { name: 'greet', arguments: 'Ada' }),
    call('greet__wave'),
    call('skill', { name: 'check', arguments: 'links' }),
    says('Links work.'),
    call('delegate', { agent: 'worker', task: 'Sign it.' }),
    says('Signed.'),
    says('Hello Ada.'),
  ])
  agent.skillManager.registerTool('greet', {
    name: 'wave',
    description: 'Waves.',
    inputSchema: { type: 'object', properties: {} },
    execute: () => 'waved',
  })
  expect(await ask('Greet Ada.')).toMatchObject({ status: 'completed', text: 'Hello Ada.' })
  expect(agent.usage).toMatchObject({ own: { requests: 5 }, descendants: { requests: 2 } })
})
