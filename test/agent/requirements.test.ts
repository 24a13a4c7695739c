import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import type { AgentOptions } from '../../src/agent/agent-options.ts'
import { SubagentManager } from '../../src/agent/subagents/manager.ts'
import { SkillManager, defineSkill } from '../../src/library/manager.ts'
import type { World } from '../library/_world.ts'
import { type AgentWorld, emptyWorld, withAgent } from './_agent-world.ts'
import { type Reply, call, echoTool, says } from './mock-replies.ts'

// Rows of the requirements as somebody who only knows the Agent sees them.

const greet = defineSkill({ name: 'greet', description: 'Greets.', body: 'Greet $ARGUMENTS.' })
const worker = { name: 'worker', description: 'Works.', systemPrompt: 'You work.' }

function agentIn(
  place: World & Pick<AgentWorld, 'executable'> = emptyWorld(),
  options: Partial<AgentOptions> = {},
  replies: readonly Reply[] = [says('Done.')],
): AgentWorld {
  return withAgent(place, replies, { ...options })
}

const names = (list: readonly { name: string }[]): string[] => list.map(({ name }) => name)

describe('the constructor', () => {
  it('US-013 AC1: takes skills as objects, names and paths', async () => {
    const place = emptyWorld()
    place.skill('project/.claude/skills/named')
    place.skill('elsewhere/by-path')
    const { agent } = agentIn(place, {
      skills: [greet, 'named', join(place.root, 'elsewhere/by-path')],
    })
    expect(names(await agent.listSkills()).toSorted()).toEqual(['by-path', 'greet', 'named'])
  })

  it('US-013 AC2: takes further directories of skills', async () => {
    const place = emptyWorld()
    place.skill('more/extra')
    const { agent } = agentIn(place, { skills: undefined, skillDirs: [join(place.root, 'more')] })
    expect(names(await agent.listSkills())).toEqual(['extra'])
  })

  it('US-013 AC3, US-013 AC11: takes subagents, and lists them', async () => {
    const { agent } = agentIn(emptyWorld(), { subagents: [worker] })
    expect(await agent.listSubagents()).toMatchObject([{ name: 'worker' }])
  })
})

describe('skills of the agent', () => {
  it('US-013 AC4, US-013 AC5, US-013 AC6: are registered, got and listed', async () => {
    const { agent } = agentIn()
    expect(await agent.getSkill('greet')).toBeUndefined()
    await agent.registerSkill(greet)
    expect(await agent.getSkill('greet')).toMatchObject({ body: 'Greet $ARGUMENTS.' })
    expect(names(await agent.listSkills())).toEqual(['greet'])
  })

  it('US-013 AC7: are invoked with arguments', async () => {
    const { agent } = agentIn(emptyWorld(), { skills: [greet] })
    expect(await agent.invokeSkill('greet', 'Ada Lovelace')).toContain('Greet Ada Lovelace.')
  })

  it('US-013 AC12: are those of its SkillManager', async () => {
    const { agent } = agentIn(emptyWorld(), { skills: [greet] })
    expect(agent.skillManager).toBeInstanceOf(SkillManager)
    expect(agent.skillManager).toBe(agent.skillManager)
  })
})

describe('subagents of the agent', () => {
  it('US-013 AC10, US-013 AC8: are registered, and get work', async () => {
    const { agent, model } = agentIn()
    agent.registerSubagent(worker)
    expect(await agent.delegate('worker', 'Count.')).toMatchObject({
      success: true,
      output: 'Done.',
    })
    expect(JSON.stringify(model.doGenerateCalls[0]?.prompt)).toContain('You work.')
  })

  it('US-013 AC9: get work in the background', async () => {
    const { agent } = agentIn(emptyWorld(), { subagents: [worker] })
    const handle = await agent.delegateAsync('worker', 'Count.')
    expect(handle.isComplete).toBe(false)
    expect((await handle.result()).output).toBe('Done.')
    expect(handle.isComplete).toBe(true)
  })

  it('US-013 AC13: are those of its SubagentManager', () => {
    const { agent } = agentIn(emptyWorld(), { subagents: [worker] })
    expect(agent.subagentManager).toBeInstanceOf(SubagentManager)
    expect(agent.subagentManager).toBe(agent.subagentManager)
  })

  it('US-008 AC11: have a system prompt that may be a template', async () => {
    const systemPrompt = { template: 'You know {{field}}.', variables: { field: 'botany' } }
    const { agent, model } = agentIn(emptyWorld(), { subagents: [{ ...worker, systemPrompt }] })
    await agent.delegate('worker', 'Name a flower.')
    expect(JSON.stringify(model.doGenerateCalls[0]?.prompt[0])).toContain('You know botany.')
  })

  it('US-008 AC13: have 50 turns unless they say otherwise', async () => {
    const look = echoTool('look')
    const endless = Array.from({ length: 60 }, (_, turn) => call('look', { turn }))
    const { agent, model } = agentIn(
      emptyWorld(),
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

  it('US-008 AC14: may override what they take over from their parent', async () => {
    const config = { callSettings: { temperature: 0.25, maxOutputTokens: 77 } }
    const { agent, model } = agentIn(emptyWorld(), { subagents: [{ ...worker, config }] })
    await agent.delegate('worker', 'Work.')
    expect(model.doGenerateCalls[0]).toMatchObject({ temperature: 0.25, maxOutputTokens: 77 })
  })
})

it('US-013 AC15: managers are made on first use, and nothing is read before', () => {
  const reads: string[] = []
  const place = emptyWorld()
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

it('10.1 row 2: a skill, its tool, a fork and a delegation in one conversation', async () => {
  const place = emptyWorld()
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
