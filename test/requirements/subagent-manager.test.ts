import { describe, expect, it, onTestFinished } from 'vitest'
import {
  Agent,
  AgentUsageError,
  type SubagentConfig,
  SubagentConfigError,
  SubagentManager,
  SubagentNotFoundError,
} from '../../src/entries/agent.ts'
import { SkillManager } from '../../src/entries/index.ts'
import { hanging, textsOf } from '../agent/subagents/_parent.ts'
import { type Reply, says, scripted, tokens } from '../agent/mock-replies.ts'

const reviewer: SubagentConfig = { name: 'reviewer', description: 'Reviews.' }
const translator: SubagentConfig = { name: 'translator', description: 'Translates.' }

function agentWith(replies: readonly Reply[]): Agent {
  const agent = new Agent({ model: scripted(replies), discover: false })
  onTestFinished(() => agent.close())
  return agent
}

describe('the methods of a SubagentManager', () => {
  it('constructs one of an agent, with definitions or without', async () => {
    const agent = agentWith([says('Reviewed.')])
    expect(await new SubagentManager(agent).list()).toEqual([])
    const subagents = new SubagentManager(agent, [reviewer])
    expect(await subagents.list()).toEqual([reviewer])
    expect(await subagents.delegate('reviewer', 'Review.')).toMatchObject({ output: 'Reviewed.' })
    expect(agent.usage.total.requests).toBe(1)
  })

  it('refuses a manager of skills as the third argument of the constructor', () => {
    const skills: object = new SkillManager({ autoDiscover: false })
    expect(() => new SubagentManager(agentWith([]), [], skills)).toThrow(AgentUsageError)
  })

  it('register adds a definition and refuses another one of its name', async () => {
    const subagents = new SubagentManager(agentWith([]))
    subagents.register(reviewer)
    subagents.register({ ...reviewer })
    expect(await subagents.list()).toEqual([reviewer])
    expect(() => subagents.register({ ...reviewer, description: 'Other.' })).toThrow(
      SubagentConfigError,
    )
  })

  it('deregister removes a definition', async () => {
    const subagents = new SubagentManager(agentWith([]), [reviewer, translator])
    expect(await subagents.deregister('reviewer')).toBe(true)
    expect(await subagents.deregister('reviewer')).toBe(false)
    expect(await subagents.list()).toEqual([translator])
    await expect(subagents.delegate('reviewer', 'Go.')).rejects.toThrow(SubagentNotFoundError)
  })

  it('list returns every definition in the order of registration', async () => {
    const subagents = new SubagentManager(agentWith([]), [translator])
    subagents.register(reviewer)
    expect(await subagents.list()).toEqual([translator, reviewer])
  })

  it('get returns the definition of a name, or undefined', async () => {
    const subagents = new SubagentManager(agentWith([]), [reviewer])
    expect(await subagents.get('reviewer')).toEqual(reviewer)
    expect(await subagents.get('translator')).toBeUndefined()
  })

  it('delegate waits for the result and passes context and messages', async () => {
    const model = scripted([says('Reviewed.')])
    const agent = new Agent({ model, discover: false })
    const result = await new SubagentManager(agent, [reviewer]).delegate('reviewer', 'Review.', {
      context: 'The file is large.',
      contextMessages: [{ role: 'user', content: 'Begin with the tests.' }],
    })
    expect(result).toMatchObject({ success: true, output: 'Reviewed.' })
    const [first, task] = textsOf(model, 0, 'user')
    expect(first).toBe('Begin with the tests.')
    expect(task).toMatch(/^Review\.[^]*The file is large\./)
    await agent.close()
  })

  it('delegateAsync returns a handle before the result and passes context and messages', async () => {
    const { model, asked, answer } = hanging()
    const agent = new Agent({ model, discover: false })
    const subagents = new SubagentManager(agent, [reviewer])
    const handle = await subagents.delegateAsync('reviewer', 'Review.', {
      context: 'The file is large.',
      contextMessages: [{ role: 'user', content: 'Begin with the tests.' }],
    })
    await asked
    expect(handle.isComplete).toBe(false)
    const [first, task] = textsOf(model, 0, 'user')
    expect(first).toBe('Begin with the tests.')
    expect(task).toMatch(/^Review\.[^]*The file is large\./)
    answer(says('Reviewed.'))
    expect(await handle.result()).toMatchObject({ success: true, output: 'Reviewed.' })
    await agent.close()
  })

  it('spawnDynamic runs a definition that is not registered', async () => {
    const subagents = new SubagentManager(agentWith([says('Done.')]))
    expect(await subagents.spawnDynamic(translator, 'Translate.')).toMatchObject({
      subagentName: 'translator',
      output: 'Done.',
    })
    expect(await subagents.list()).toEqual([])
  })

  it('getActiveDelegations returns the handles of running delegations', async () => {
    const { model, asked, answer } = hanging()
    const agent = new Agent({ model, discover: false })
    const subagents = new SubagentManager(agent, [reviewer])
    expect(subagents.getActiveDelegations()).toEqual([])
    const handle = await subagents.delegateAsync('reviewer', 'Review.')
    await asked
    expect(subagents.getActiveDelegations()).toEqual([handle])
    answer(says('Done.'))
    await handle.result()
    expect(subagents.getActiveDelegations()).toEqual([])
    await agent.close()
  })

  it('getUsageBreakdown returns the usage of each subagent', async () => {
    const replies = [says('1', tokens(10, 1)), says('2', tokens(20, 2)), says('3', tokens(40, 4))]
    const subagents = new SubagentManager(agentWith(replies), [reviewer, translator])
    await subagents.delegate('reviewer', 'One.')
    await subagents.delegate('translator', 'Two.')
    await subagents.delegate('reviewer', 'Three.')
    expect(subagents.getUsageBreakdown()).toMatchObject({
      reviewer: { inputTokens: 50, outputTokens: 5, requests: 2 },
      translator: { inputTokens: 20, outputTokens: 2, requests: 1 },
    })
  })
})
