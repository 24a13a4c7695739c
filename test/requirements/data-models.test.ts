import { join } from 'node:path'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { Agent, type AgentTool, SubagentManager } from '../../src/entries/agent.ts'
import {
  defineSkill,
  SkillManager,
  type SkillManagerOptions,
  type SkillScope,
  type TrustLevel,
} from '../../src/entries/index.ts'
import { textsOf, toolsOffered } from '../agent/subagents/_parent.ts'
import { call, echoTool, says, scripted, tokens } from '../agent/mock-replies.ts'
import { type Fixture, fixture } from '../library/_fixture.ts'

function skillsOf({ runtime }: Fixture, options: SkillManagerOptions = {}): SkillManager {
  return new SkillManager({ runtime, ...options })
}

describe('SkillInfo', () => {
  it('has every field of the frontmatter, its place and its trust', async () => {
    const place = fixture()
    const more = [
      'license: MIT',
      'compatibility: Needs git',
      'metadata: { author: ada }',
      'allowed-tools: Read Bash(git:*)',
      'model: ollama:small',
      'context: fork',
      'agent: reviewer',
      'disable-model-invocation: true',
      'user-invocable: false',
      'argument-hint: "[file]"',
      'hooks: { Stop: [{ hooks: [{ type: command, command: ./stop.sh }] }] }',
    ].join('\n')
    const description = 'Checks. Use when asked.'
    const directory = place.skill('project/.agents/skills/check', { description, more })
    const [info] = await skillsOf(place, { workspaceTrust: 'trusted' }).list()
    expect(info).toMatchObject({
      name: 'check',
      description,
      path: join(directory, 'SKILL.md'),
      directory,
      scope: 'project',
      trustLevel: 'trusted',
    })
    expect(info?.fields).toMatchObject({
      license: 'MIT',
      compatibility: 'Needs git',
      metadata: { author: 'ada' },
      allowedTools: [{ tool: 'Read' }, { tool: 'Bash', pattern: 'git:*' }],
      model: 'ollama:small',
      context: 'fork',
      agent: 'reviewer',
      disableModelInvocation: true,
      userInvocable: false,
      argumentHint: '[file]',
      hooks: { Stop: [{ hooks: [{ type: 'command', command: './stop.sh' }] }] },
    })
  })

  it('has defaults for every field that the frontmatter leaves out', async () => {
    const place = fixture()
    place.skill('project/.agents/skills/check')
    const [info] = await skillsOf(place).list()
    expect(info?.fields).toMatchObject({
      metadata: {},
      disableModelInvocation: false,
      userInvocable: true,
    })
    const optional = ['license', 'compatibility', 'allowedTools', 'model', 'context', 'agent']
    for (const field of [...optional, 'argumentHint', 'hooks']) {
      expect(info?.fields).not.toHaveProperty(field)
    }
  })
})

it('has a body that is read on demand, an activation and tools for each skill', async () => {
  const place = fixture()
  place.skill('project/.agents/skills/count', { body: 'Count $0.' })
  const skills = skillsOf(place)
  const [info] = await skills.list()
  expect(info).not.toHaveProperty('body')
  expect(await skills.get('count')).toMatchObject({ info: { name: 'count' }, body: 'Count $0.' })
  expect(skills.activeSkills).toEqual([])
  await skills.activate('count', 'words')
  expect(skills.activeSkills).toEqual(['count'])
  skills.registerTool('count', { name: 'add', execute: () => 1 })
  expect(skills.getTools('count')).toMatchObject([{ name: 'count.add', skill: 'count' }])
})

describe('the options of a SkillManager', () => {
  it('search .mamba/skills of the project and of the home by default', async () => {
    const place = fixture()
    place.skill('project/.mamba/skills/ours')
    place.skill('home/.mamba/skills/mine')
    const found = (await skillsOf(place).list()).map(({ name, scope }) => [name, scope])
    expect(found).toEqual([
      ['ours', 'project'],
      ['mine', 'user'],
    ])
  })

  it('replace the directories of the project by skillsDirs', async () => {
    const place = fixture()
    place.skill('project/.mamba/skills/left-out')
    place.skill('project/one/first')
    place.skill('project/two/second')
    const skills = await skillsOf(place, { skillsDirs: ['one', 'two'] }).list()
    expect(skills).toMatchObject([
      { name: 'first', scope: 'project' },
      { name: 'second', scope: 'project' },
    ])
  })

  it('replace the directory of the user by userSkillsDir', async () => {
    const place = fixture()
    place.skill('home/.mamba/skills/left-out')
    place.skill('home/elsewhere/mine')
    const skills = await skillsOf(place, { userSkillsDir: '~/elsewhere' }).list()
    expect(skills).toMatchObject([{ name: 'mine', scope: 'user' }])
  })

  it('search no custom paths by default, and those that customPaths names', async () => {
    const place = fixture()
    place.skill('shared/extra')
    expect(await skillsOf(place).list()).toEqual([])
    const customPaths = [join(place.root, 'shared')]
    expect(await skillsOf(place, { customPaths }).list()).toMatchObject([
      { name: 'extra', scope: 'custom' },
    ])
  })

  it('discover skills by default, and not with autoDiscover: false', async () => {
    const place = fixture()
    place.skill('project/.mamba/skills/ours')
    expect(await skillsOf(place).list()).toHaveLength(1)
    const quiet = skillsOf(place, { autoDiscover: false })
    expect(await quiet.list()).toEqual([])
    await quiet.discover()
    expect(await quiet.list()).toHaveLength(1)
  })

  it('prefix tools with the name of their skill by default, and not with namespaceTools: false', () => {
    const namesWith = (options: SkillManagerOptions): string[] => {
      const skills = skillsOf(fixture(), options)
      skills.registerTool('web', { name: 'fetch', execute: () => '' })
      return skills.getTools('web').map(({ name }) => name)
    }
    expect(namesWith({})).toEqual(['web.fetch'])
    expect(namesWith({ namespaceTools: false })).toEqual(['fetch'])
  })

  it('trust no custom path by default, and those that trustedPaths names', async () => {
    const place = fixture()
    place.skill('shared/extra')
    const shared = join(place.root, 'shared')
    const levelWith = async (trustedPaths?: string[]): Promise<TrustLevel | undefined> => {
      const [info] = await skillsOf(place, { customPaths: [shared], trustedPaths }).list()
      return info?.trustLevel
    }
    expect(await levelWith()).toBe('untrusted')
    expect(await levelWith([shared])).toBe('trusted')
  })
})

describe('SubagentConfig', () => {
  it('applies every field to the subagent', async () => {
    const parentModel = scripted([], 'parent')
    const look = [call('look'), call('look'), call('look'), says('Summary.')]
    const model = scripted(look, 'own')
    const secret = echoTool('secret')
    const agent = new Agent({
      model: parentModel,
      discover: false,
      tools: [echoTool('look'), secret],
      skills: [defineSkill({ name: 'style', description: 'Style.', body: 'Write short lines.' })],
    })
    const subagents = new SubagentManager(agent, [
      {
        name: 'reviewer',
        description: 'Reviews code.',
        model,
        tools: ['look', 'secret', echoTool('extra')],
        disallowedTools: ['secret'],
        systemPrompt: { template: 'You know {{field}}.', variables: { field: 'botany' } },
        skills: ['style'],
        maxTurns: 3,
        config: { callSettings: { temperature: 0.25 } },
      },
    ])
    const result = await subagents.delegate('reviewer', 'Review it.')
    expect(result).toMatchObject({ subagentName: 'reviewer', error: 'Max turns exceeded' })
    expect(toolsOffered(model, 0).toSorted()).toEqual(['extra', 'look'])
    expect(textsOf(model, 0, 'system').join('\n')).toMatch(
      /You know botany\.[^]*Write short lines\./,
    )
    expect(model.doGenerateCalls[0]).toMatchObject({ temperature: 0.25 })
    expect(model.doGenerateCalls).toHaveLength(4)
    expect(parentModel.doGenerateCalls).toEqual([])
    await agent.close()
  })

  it('inherits the model and has no tools, skills and system prompt by default', async () => {
    const model = scripted([says('Done.')], 'parent')
    const agent = new Agent({
      model,
      discover: false,
      tools: [echoTool('look')],
      skills: [defineSkill({ name: 'style', description: 'Style.', body: 'Write short lines.' })],
      subagents: [{ name: 'worker', description: 'Works.' }],
    })
    expect(await agent.listSubagents()).toEqual([{ name: 'worker', description: 'Works.' }])
    expect(await agent.delegate('worker', 'Go.')).toMatchObject({ output: 'Done.' })
    expect(toolsOffered(model, 0)).toEqual([])
    expect(JSON.stringify(model.doGenerateCalls[0]?.prompt)).not.toContain('Write short lines.')
    await agent.close()
  })

  it('runs the sample of the requirements', async () => {
    const readFile = echoTool('read_file')
    const model = scripted(Array.from({ length: 9 }, (_, turn) => call('read_file', { turn })))
    const agent = new Agent({
      model,
      discover: false,
      tools: [readFile, echoTool('write_file')],
      subagents: [
        {
          name: 'test-subagent',
          description: 'Test subagent for delegation',
          model: null,
          tools: ['read_file'],
          maxTurns: 5,
        },
      ],
    })
    expect(await agent.delegate('test-subagent', 'Read.')).toMatchObject({
      subagentName: 'test-subagent',
      success: false,
      error: 'Max turns exceeded',
    })
    expect(toolsOffered(model, 0)).toEqual(['read_file'])
    expect(readFile.seen).toHaveLength(5)
    await agent.close()
  })

  it.each<[string, readonly (string | AgentTool)[] | null | undefined]>([
    ['absent', undefined],
    ['null', null],
    ['empty', []],
  ])('offers no tools if the allow list is %s', async (_form, tools) => {
    const model = scripted([says('Done.')])
    const agent = new Agent({
      model,
      discover: false,
      tools: [echoTool('look')],
      builtIns: ['read'],
      subagents: [{ name: 'worker', description: 'Works.', tools }],
    })
    expect(await agent.delegate('worker', 'Go.')).toMatchObject({ success: true, notices: [] })
    expect(toolsOffered(model, 0)).toEqual([])
    await agent.close()
  })
})

describe('SubagentResult', () => {
  it('has output, run, usage, duration, name and success', async () => {
    const agent = new Agent({
      model: scripted([says('Done.', tokens(30, 4))]),
      discover: false,
      subagents: [{ name: 'worker', description: 'Works.' }],
    })
    const result = await agent.delegate('worker', 'Go.')
    expect(result).toMatchObject({
      output: 'Done.',
      result: { status: 'completed', text: 'Done.' },
      usage: { inputTokens: 30, outputTokens: 4, requests: 1 },
      durationMs: expect.any(Number),
      subagentName: 'worker',
      success: true,
    })
    expect(result.error).toBeUndefined()
    await agent.close()
  })

  it('has the error of a delegation that failed', async () => {
    const agent = new Agent({
      model: scripted([]),
      discover: false,
      subagents: [{ name: 'worker', description: 'Works.' }],
    })
    expect(await agent.delegate('worker', 'Go.')).toMatchObject({
      success: false,
      output: '',
      error: expect.stringContaining('no reply 1 was scripted'),
    })
    await agent.close()
  })
})

it('has name, task, state, result and cancel in a DelegationHandle', async () => {
  const agent = new Agent({
    model: scripted([says('Done.')]),
    discover: false,
    subagents: [{ name: 'worker', description: 'Works.' }],
  })
  const handle = await agent.delegateAsync('worker', 'Go.')
  expect(handle).toMatchObject({ subagentName: 'worker', task: 'Go.', isComplete: false })
  const result = await handle.result()
  expect(handle.isComplete).toBe(true)
  handle.cancel()
  expect(await handle.result()).toBe(result)
  const other = await agent.delegateAsync('worker', 'Go on.')
  other.cancel()
  expect(await other.result()).toMatchObject({ success: false, status: 'cancelled' })
  await agent.close()
})

describe('the enums', () => {
  it('has the scopes project, user and custom, and code for skills without a file', async () => {
    const place = fixture()
    place.skill('project/.mamba/skills/ours')
    place.skill('home/.mamba/skills/mine')
    place.skill('shared/extra')
    const skills = skillsOf(place, { customPaths: [join(place.root, 'shared')] })
    await skills.register(defineSkill({ name: 'made', description: 'Made.', body: 'Hi.' }))
    const scopes = (await skills.list()).map(({ name, scope }) => [name, scope])
    expect(Object.fromEntries(scopes)).toEqual({
      made: 'code',
      ours: 'project',
      mine: 'user',
      extra: 'custom',
    })
    expectTypeOf<SkillScope>().toEqualTypeOf<'project' | 'user' | 'custom' | 'code'>()
  })

  it('has the trust levels trusted and untrusted', async () => {
    const place = fixture()
    place.skill('project/.mamba/skills/ours')
    place.skill('home/.mamba/skills/mine')
    const levels = (await skillsOf(place).list()).map(({ name, trustLevel }) => [name, trustLevel])
    expect(Object.fromEntries(levels)).toEqual({ ours: 'untrusted', mine: 'trusted' })
    expectTypeOf<TrustLevel>().toEqualTypeOf<'trusted' | 'untrusted'>()
  })
})
