import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SubagentConfigError, SubagentNestingError } from '../../../src/agent/errors.ts'
import { DelegationPart } from '../../../src/agent/subagents/delegation-tools.ts'
import { findCycle } from '../../../src/agent/subagents/skills.ts'
import type { SkillManager } from '../../../src/library/manager.ts'
import { SkillInvocationError, SkillNotFoundError } from '../../../src/skill/errors.ts'
import { fixture, type Fixture } from '../../library/_fixture.ts'
import { call, echoTool, says } from '../mock-replies.ts'
import {
  delegating,
  type Delegating,
  type DelegatingOptions,
  textsOf,
  toolsOffered,
  worker,
} from './_parent.ts'

interface Skilled extends Delegating {
  place: Fixture
  skills: SkillManager
}

/** A manager whose parent has the skills that `write` puts into the user's home. */
function skilled(write: (place: Fixture) => void, options: DelegatingOptions = {}): Skilled {
  const place = fixture()
  write(place)
  const { runtime } = place
  const made = delegating({
    ...options,
    parent: { runtime, discover: true, skillDirs: [], workspaceTrust: 'ask', ...options.parent },
  })
  return { ...made, place, skills: made.agent.skillManager }
}

const read = echoTool('read', { aliases: ['Read'], origin: { kind: 'built-in' } })
const write = echoTool('write', {
  aliases: ['Write'],
  origin: { kind: 'built-in' },
  readOnly: false,
})
const delegate = echoTool('delegate', { origin: { kind: 'agent' } })

describe('preloaded skills', () => {
  it('lets a subagent read the files of its skills and of no others', async () => {
    const { manager, model } = skilled(
      (place) => {
        place.skill('home/.claude/skills/style', { body: 'Read references/rules.md.' })
        place.write({ 'home/.claude/skills/style/references/rules.md': 'THE RULES' })
        place.skill('home/.claude/skills/other', { body: 'Other.' })
        place.write({ 'home/.claude/skills/other/references/secret.md': 'THE SECRET' })
      },
      {
        configs: [worker({ skills: ['style'] })],
        replies: [
          call('skill_resource', { skill: 'style', path: 'references/rules.md' }),
          call('skill_resource', { skill: 'other', path: 'references/secret.md' }, 'second'),
          call('skill', { name: 'other' }, 'third'),
          says('Done.'),
        ],
      },
    )
    expect(await manager.delegate('worker', 'Go.')).toMatchObject({ success: true })
    expect(toolsOffered(model, 0)).toEqual(['skill_resource'])
    const [rules, secret, activation] = textsOf(model, 3, 'tool')
    expect(rules).toContain('THE RULES')
    expect(secret).toMatch(/^Error: skill_resource was not called: /)
    expect(activation).toMatch(/^Error: there is no tool called skill\./)
  })

  it('puts the whole content of preloaded skills into the system prompt', async () => {
    const { manager, model, skills } = skilled(
      (place) => {
        place.skill('home/.claude/skills/style', { body: 'Be brief about $ARGUMENTS. Cost: $5.00' })
        place.skill('home/.claude/skills/plain', { body: 'Use awk {print $1}.' })
      },
      { configs: [worker({ systemPrompt: 'You work.', skills: ['style src $1', 'plain'] })] },
    )
    await manager.delegate('worker', 'Go.')
    const [system = ''] = textsOf(model, 0, 'system')
    expect(system).toMatch(/^You work\./)
    expect(system).toContain('<skill_content name="style">\nBe brief about src $1. Cost: $5.00')
    expect(system).toContain('Use awk {print $1}.')
    expect(skills.activeSkills).toEqual([])
  })

  it('registers the tools of a preloaded skill with the subagent', async () => {
    const { agent, manager, model, skills } = skilled(
      (place) => void place.skill('home/.claude/skills/style'),
      {
        replies: [call('style__check'), says('Done.')],
        configs: [worker({ skills: ['style'] })],
      },
    )
    await agent.ready()
    skills.registerTool('style', { name: 'check', execute: () => 'checked' })
    await manager.delegate('worker', 'Go.')
    expect(toolsOffered(model, 0)).toContain('style__check')
    expect(textsOf(model, 1, 'tool')).toEqual(['checked'])
  })

  it('approves what a trusted preloaded skill allows and adds no tools', async () => {
    const { manager, model } = skilled(
      (place) =>
        void place.skill('home/.claude/skills/style', { more: 'allowed-tools: Write Bash' }),
      {
        replies: [call('write'), says('Done.')],
        tools: [read, write, delegate],
        configs: [worker({ skills: ['style'], tools: ['Write'] })],
      },
    )
    await manager.delegate('worker', 'Go.')
    expect(toolsOffered(model, 0)).toEqual(['write'])
    expect(textsOf(model, 1, 'tool')).toEqual(['write said {}'])
  })

  it('throws SkillNotFoundError at startup for a missing skill, with the nearest name', async () => {
    const { manager, model } = skilled((place) => void place.skill('home/.claude/skills/style'), {
      configs: [worker({ skills: ['stile'] })],
    })
    for (const attempt of [manager.spawn('worker', 'Go.'), manager.delegate('worker', 'Go.')]) {
      const error = await attempt.catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(SkillNotFoundError)
      expect(error).toMatchObject({ hint: expect.stringContaining('Did you mean style?') })
    }
    expect(model.doGenerateCalls).toHaveLength(0)
  })

  it('throws for a preloaded skill if the parent has no skills', async () => {
    const { manager } = delegating({ configs: [worker({ skills: ['style'] })] })
    await expect(manager.delegate('worker', 'Go.')).rejects.toThrow(SkillNotFoundError)
  })
})

describe('a subagent with a skill that only a person may start', () => {
  const released = (): Skilled =>
    skilled(
      (place) => {
        place.skill('home/.claude/skills/release', { more: 'disable-model-invocation: true' })
        place.skill('home/.claude/skills/ship', { more: 'context: fork\nagent: worker' })
        place.skill('home/.claude/skills/hidden', { more: 'user-invocable: false' })
      },
      { configs: [worker({ skills: ['hidden', 'release'] })] },
    )
  const refusal = {
    code: 'model-invocation-disabled',
    message:
      'The subagent worker may not be started by a model: its skill release sets disable-model-invocation.',
  }

  it.each([false, true])(
    'is refused to a model that delegates, background: %s',
    async (background) => {
      const { manager, model } = released()
      const part = new DelegationPart(manager)
      await part.instructions()
      const [tool] = part.tools()
      const { signal } = new AbortController()
      const context = { toolCallId: '1', signal, onEvent: () => undefined }
      const asked = tool?.execute({ agent: 'worker', task: 'Go.', background }, context)
      await expect(asked).rejects.toMatchObject(refusal)
      expect(model.doGenerateCalls).toHaveLength(0)
    },
  )

  it('is refused to a forking skill that a model activated, not to one of a user', async () => {
    const { manager, skills } = released()
    const byModel = await skills.prepare('ship', '', { source: 'model' })
    await expect(manager.fork(byModel)).rejects.toMatchObject(refusal)
    const byPerson = await skills.prepare('ship', '', { source: 'user' })
    expect(await manager.fork(byPerson)).toMatchObject({ success: true })
  })

  it('works for the program', async () => {
    const { manager } = released()
    expect(await manager.delegate('worker', 'Go.')).toMatchObject({ success: true })
  })
})

describe('skills with context: fork', () => {
  const fork = 'context: fork'

  it('gives a subagent the content of a forked skill, with its arguments, as the task', async () => {
    const { manager, model, skills } = skilled(
      (place) => void place.skill('home/.claude/skills/audit', { more: fork, body: 'Audit $0.' }),
      { tools: [read, write, delegate], configs: [] },
    )
    const activation = await skills.prepare('audit', 'src "$1"')
    const result = await manager.fork(activation)
    expect(result).toMatchObject({ success: true, output: 'Done.', subagentName: 'fork-audit' })
    const [task = ''] = textsOf(model, 0, 'user')
    expect(task).toContain('Carry out the skill "audit" now')
    expect(task).toContain('Arguments: src "$1"')
    expect(task).toContain('Audit src.')
    expect(toolsOffered(model, 0)).toEqual(['read', 'write'])
    expect(skills.activeSkills).toEqual([])
  })

  it('runs a forked skill in the subagent that agent names, with the tools that the skill allows', async () => {
    const { manager, model, skills } = skilled(
      (place) =>
        void place.skill('home/.claude/skills/audit', {
          more: `${fork}\nagent: auditor\nallowed-tools: Write Missing`,
        }),
      {
        replies: [call('write'), says('Audited.')],
        tools: [read, write, delegate],
        configs: [worker({ name: 'auditor', tools: ['Read'], systemPrompt: 'You audit.' })],
      },
    )
    const result = await manager.fork(await skills.prepare('audit'))
    expect(result).toMatchObject({ output: 'Audited.', subagentName: 'auditor' })
    expect(textsOf(model, 0, 'system').join()).toContain('You audit.')
    expect(toolsOffered(model, 0)).toEqual(['read', 'write'])
    expect(textsOf(model, 1, 'tool')).toEqual(['write said {}'])
    expect(result.notices).toEqual([
      'The subagent auditor cannot have the tool Missing: it does not exist, or is not allowed here.',
    ])
  })

  it('lists the subagents when agent names an unknown one', async () => {
    const { manager, skills } = skilled(
      (place) => void place.skill('home/.claude/skills/audit', { more: `${fork}\nagent: auditer` }),
      { configs: [worker({ name: 'auditor' })] },
    )
    await expect(manager.fork(await skills.prepare('audit'))).rejects.toMatchObject({
      hint: 'Did you mean auditor? There are auditor.',
    })
  })

  it('refuses to fork an untrusted skill', async () => {
    const { manager, skills } = skilled(
      (place) => void place.skill('project/.claude/skills/audit', { more: fork }),
    )
    const activation = await skills.prepare('audit')
    await expect(manager.fork(activation)).rejects.toThrow(SkillInvocationError)
    await expect(manager.fork(activation)).rejects.toMatchObject({ code: 'fork-untrusted' })
  })

  it('refuses to fork a skill inside a subagent', async () => {
    const errors: unknown[] = []
    const { manager, skills } = skilled(
      (place) => void place.skill('home/.claude/skills/audit', { more: fork }),
      {
        replies: [call('sneak'), says('Done.')],
        configs: [worker({ tools: ['sneak'] })],
        tools: [
          echoTool('sneak', {
            execute: async () => {
              await manager
                .fork(await skills.prepare('audit'))
                .catch((error: unknown) => errors.push(error))
              return 'tried'
            },
          }),
        ],
      },
    )
    await manager.delegate('worker', 'Go.')
    expect(errors).toEqual([expect.any(SubagentNestingError)])
  })
})

describe('circles between skills and subagents', () => {
  it('are refused with their path: a skill forks to a subagent that has the skill from the start', async () => {
    const { manager, skills } = skilled(
      (place) => void place.skill('home/.claude/skills/a', { more: 'context: fork\nagent: b' }),
      { configs: [worker({ name: 'b', skills: ['a'] })] },
    )
    await expect(manager.fork(await skills.prepare('a'))).rejects.toThrow(
      'skill:a -> agent:b -> skill:a',
    )
    await expect(manager.delegate('b', 'Go.')).rejects.toThrow(SubagentConfigError)
    await expect(manager.delegate('b', 'Go.')).rejects.toThrow('agent:b -> skill:a -> agent:b')
  })

  it.each<
    [string, Record<string, string>, Record<string, string[]>, readonly string[] | undefined]
  >([
    ['none', { a: 'b' }, { b: ['c'] }, undefined],
    ['none where two ways meet', { a: 'b', c: 'b' }, { b: ['d', 'd'], x: ['a', 'c'] }, undefined],
    [
      'a long one',
      { a: 'b', c: 'd' },
      { b: ['c'], d: ['a'] },
      ['skill:a', 'agent:b', 'skill:c', 'agent:d', 'skill:a'],
    ],
    [
      'one that does not lead back to the start',
      { a: 'b', c: 'b' },
      { b: ['c'] },
      ['agent:b', 'skill:c', 'agent:b'],
    ],
  ])('finds %s', (_, agents, skills, cycle) => {
    const forking = Object.entries(agents).map(([name, agent]) => ({
      name,
      fields: { context: 'fork' as const, agent },
    }))
    const found = findCycle('skill:a', forking, (name) => ({ name, skills: skills[name] }))
    expect(found).toEqual(cycle)
  })
})

describe('what holds for the parent holds for its subagents', () => {
  it('applies to a parent that may only read, whose subagents may only read', async () => {
    const { manager, model } = delegating({
      tools: [read, write],
      configs: [worker({ tools: ['*'] })],
      parent: { permissionMode: 'plan' },
    })
    await manager.delegate('worker', 'Go.')
    expect(toolsOffered(model, 0)).toEqual(['read'])
  })

  it('applies to the limits of an untrusted skill', async () => {
    const { agent, manager, model } = skilled(
      (place) =>
        void place.skill('project/.claude/skills/stranger', { more: 'allowed-tools: Read' }),
      {
        replies: [call('write'), says('Done.')],
        tools: [read, write],
        configs: [worker({ tools: ['*'] })],
        parent: { approver: async () => ({ approved: true }) },
      },
    )
    await agent.invokeSkill('stranger')
    await manager.delegate('worker', 'Go.')
    expect(toolsOffered(model, 0)).toEqual(['read'])
  })

  it('applies to the folder of the parent, from which skills of the project are found', async () => {
    const { manager, place } = skilled(
      (place) => void place.skill('project/.claude/skills/local'),
      { configs: [worker({ skills: ['local'] })] },
    )
    expect(place.project).toBe(join(place.root, 'project'))
    expect(await manager.delegate('worker', 'Go.')).toMatchObject({ success: true })
  })
})
