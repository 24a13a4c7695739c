import { afterEach, describe, expect, it } from 'vitest'
import { Agent } from '../../src/entries/agent.ts'
import { defineSkill } from '../../src/entries/index.ts'
import { textsOf, worker } from '../agent/subagents/_parent.ts'
import { emptyFixture, withAgent } from '../agent/_agent-fixture.ts'
import { closeAgents, place } from '../agent/mcp-tools/_place.ts'
import { call, echoTool, says, scripted, tokens } from '../agent/mock-replies.ts'

const greet = defineSkill({ name: 'greet', description: 'Greets.', body: 'Greet $0.' })

afterEach(closeAgents)

describe('the parts of an agent', () => {
  it('are reached through its options, methods and properties', async () => {
    const { agent } = withAgent(emptyFixture(), [says('Done.')], {
      skills: [greet],
      subagents: [worker()],
    })
    expect(await agent.listSkills()).toMatchObject([{ name: 'greet' }])
    expect(await agent.skillManager.list()).toEqual(await agent.listSkills())
    expect(await agent.listSubagents()).toEqual([worker()])
    expect(await agent.subagentManager.list()).toEqual(await agent.listSubagents())
    expect(await agent.invokeSkill('greet', 'Ada')).toContain('Greet Ada.')
    expect(await agent.delegate('worker', 'Go.')).toMatchObject({ output: 'Done.' })
    expect(agent.subagentManager.getUsageBreakdown()).toMatchObject({ worker: { requests: 1 } })
  })

  it('offer the tools of an active skill beside those of the agent', async () => {
    const replies = [call('skill', { name: 'greet' }), call('greet__wave'), says('Done.')]
    const {
      agent,
      ask,
      seen,
      results: read,
    } = withAgent(emptyFixture(), replies, {
      skills: [greet],
      tools: [echoTool('look')],
    })
    agent.skillManager.registerTool('greet', {
      name: 'wave',
      description: 'Waves.',
      inputSchema: { type: 'object', properties: {} },
      execute: () => 'waved',
    })
    expect(await ask('Greet.')).toMatchObject({ status: 'completed' })
    expect(seen(0)).toContain('look')
    expect(seen(0)).not.toContain('greet__wave')
    expect(seen(1)).toEqual(expect.arrayContaining(['look', 'greet__wave']))
    expect(read(2)).toContain('waved')
  })

  it('let a skill approve the tools of an MCP server', async () => {
    const here = place()
    const run = async (allowedTools: { tool: string }[]): Promise<string[]> => {
      const questions: string[] = []
      const agent = here.agent(
        [
          call('skill', { name: 'publish' }),
          call('own__create_thing', { name: 'page' }),
          says('Done.'),
        ],
        {
          mcp: [here.server],
          discover: false,
          skills: [
            defineSkill({ name: 'publish', description: 'Publishes.', body: 'Go.', allowedTools }),
          ],
          approver: async ({ tool }) => {
            questions.push(tool.name)
            return { approved: false }
          },
        },
      )
      await agent.generate('Publish.')
      return questions
    }
    expect(await run([])).toEqual(['own.create_thing'])
    expect(here.reached()).toEqual([])
    expect(await run([{ tool: 'mcp__own' }])).toEqual([])
    expect(here.reached()).toHaveLength(1)
  })

  it('add the usage of subagents to that of the agent', async () => {
    const replies = [
      call('delegate', { agent: 'worker', task: 'Go.' }),
      says('Worked.', tokens(100, 10)),
      says('Done.', tokens(20, 2)),
    ]
    const { agent, ask } = withAgent(emptyFixture(), replies, { subagents: [worker()] })
    await ask('Work.')
    expect(agent.usage).toMatchObject({
      total: { inputTokens: 130, outputTokens: 14, requests: 3 },
      own: { inputTokens: 30, outputTokens: 4, requests: 2 },
      descendants: { inputTokens: 100, outputTokens: 10, requests: 1 },
      byAgent: { worker: { inputTokens: 100 } },
    })
  })

  it('pass messages of the conversation to a subagent only on request', async () => {
    const replies = [says('Noted.'), says('Fresh.'), says('Informed.')]
    const { agent, ask, model } = withAgent(emptyFixture(), replies, { subagents: [worker()] })
    await ask('The code is 7316.')
    await agent.delegate('worker', 'Say the code.')
    await agent.delegate('worker', 'Say the code.', { contextMessages: agent.messages })
    expect(textsOf(model, 1, 'user').join()).not.toContain('7316')
    expect(textsOf(model, 2, 'user')[0]).toContain('The code is 7316.')
  })

  it('read the settings of skills from the configuration of the user and the project', async () => {
    const here = emptyFixture()
    for (const scope of ['project', 'home']) here.skill(`${scope}/.mamba/skills/twice`)
    here.skill('project/shared/ours')
    here.skill('trusted/mine')
    here.write({
      'project/.skillrail/config.json': JSON.stringify({
        skills: { paths: ['shared', '../trusted'] },
      }),
      'home/.config/skillrail/config.json': JSON.stringify({
        skills: {
          trustedPaths: [`${here.root}/trusted`],
          precedence: 'user',
        },
      }),
    })
    const { agent } = withAgent(here, [], { workspaceTrust: undefined })
    const skills = (await agent.listSkills()).map(({ name, scope, trustLevel }) => [
      name,
      `${scope} ${trustLevel}`,
    ])
    expect(Object.fromEntries(skills)).toEqual({
      twice: 'user trusted',
      ours: 'custom untrusted',
      mine: 'custom trusted',
    })
  })

  it('fill in templates as instructions and as the system prompt of a subagent', async () => {
    const template = { template: 'You know {{field}}.', variables: { field: 'botany' } }
    const model = scripted([says('One.'), says('Two.')])
    const subagents = [worker({ systemPrompt: { ...template, variables: { field: 'rocks' } } })]
    const agent = new Agent({ model, discover: false, instructions: template, subagents })
    await agent.generate('Name a flower.')
    await agent.delegate('worker', 'Name a stone.')
    expect(textsOf(model, 0, 'system').join()).toContain('You know botany.')
    expect(textsOf(model, 1, 'system').join()).toContain('You know rocks.')
    await agent.close()
  })
})
