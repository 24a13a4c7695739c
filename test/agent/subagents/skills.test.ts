import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SubagentConfigError, SubagentNestingError } from '../../../src/agent/errors.ts'
import { DelegationPart } from '../../../src/agent/subagents/delegation-tools.ts'
import { findCycle } from '../../../src/agent/subagents/skills.ts'
import type { SkillManager } from '../../../src/library/manager.ts'
import { SkillInvocationError, SkillNotFoundError } from '../../../src/skill/errors.ts'
import { world, type World } from '../../library/_world.ts'
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
  place: World
  skills: SkillManager
}

/** A manager whose parent has the skills that `write` puts into the user's home. */
function skilled(write: (place: World) => void, options: DelegatingOptions = {}): Skilled {
  const place = world()
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

describe('US-011: skills that a subagent has from the start', () => {
  it('complaint 1: it reads their files, and neither those of other skills nor another skill', async () => {
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

  it('US-011 AC1, US-011 AC2, US-011 AC4, US-008 AC12, 10.2 together 1, complaint 1: their whole content is in the system prompt, with arguments in place', async () => {
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

  it('US-011 AC3, 10.2 together 2: tools of the skill are registered with the subagent', async () => {
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

  it('US-011 AC3: what a trusted one allows needs no approval, and nothing is added to the tools', async () => {
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

  it('5.6 edge 4: a missing skill is a SkillNotFoundError at startup, with the nearest name', async () => {
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

  it('5.6 edge 4: a parent without skills has none to give', async () => {
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
    'is refused to the model that delegates, background: %s',
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

  it('is refused to a skill that forks to it where the model activated that, to no person', async () => {
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

describe('US-012: context: fork', () => {
  const fork = 'context: fork'

  it('US-012 AC1, US-012 AC3, US-012 AC4, 10.2 together 3, complaint 3: the skill is the task of a subagent that is told to carry it out, arguments included', async () => {
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

  it('US-012 AC2: `agent` says which subagent, and it gets the tools that the skill allows', async () => {
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
      'The tool Missing, which the subagent auditor is to have, is not there, or not allowed here.',
    ])
  })

  it('US-012 AC2: an unknown `agent` is said with those that there are', async () => {
    const { manager, skills } = skilled(
      (place) => void place.skill('home/.claude/skills/audit', { more: `${fork}\nagent: auditer` }),
      { configs: [worker({ name: 'auditor' })] },
    )
    await expect(manager.fork(await skills.prepare('audit'))).rejects.toMatchObject({
      hint: 'Did you mean auditor? There are auditor.',
    })
  })

  it('US-006 AC5: an untrusted skill does not fork', async () => {
    const { manager, skills } = skilled(
      (place) => void place.skill('project/.claude/skills/audit', { more: fork }),
    )
    const activation = await skills.prepare('audit')
    await expect(manager.fork(activation)).rejects.toThrow(SkillInvocationError)
    await expect(manager.fork(activation)).rejects.toMatchObject({ code: 'fork-untrusted' })
  })

  it('5.7 edge 2: a subagent forks nothing', async () => {
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
  it('a skill that forks to a subagent that has it from the start is refused, with the way', async () => {
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
  it('a parent that may only read has subagents that may only read', async () => {
    const { manager, model } = delegating({
      tools: [read, write],
      configs: [worker({ tools: ['*'] })],
      parent: { permissionMode: 'plan' },
    })
    await manager.delegate('worker', 'Go.')
    expect(toolsOffered(model, 0)).toEqual(['read'])
  })

  it('what an untrusted skill limits the parent to limits a subagent too', async () => {
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

  it('skills of the project are found from where the parent works', async () => {
    const { manager, place } = skilled(
      (place) => void place.skill('project/.claude/skills/local'),
      { configs: [worker({ skills: ['local'] })] },
    )
    expect(place.project).toBe(join(place.root, 'project'))
    expect(await manager.delegate('worker', 'Go.')).toMatchObject({ success: true })
  })
})
