import { describe, expect, it } from 'vitest'
import {
  type Activation,
  type ActivationInput,
  activateSkill,
} from '../../src/library/activation.ts'
import { type SkillDefinition, SkillManager, defineSkill } from '../../src/library/manager.ts'
import { SkillInvocationError } from '../../src/skill/errors.ts'
import { world } from './_world.ts'

function activate(
  definition: Partial<SkillDefinition> = {},
  input: Partial<ActivationInput> = {},
): ReturnType<typeof activateSkill> {
  const skill = defineSkill({ name: 'a', description: 'D.', body: 'Do $0.', ...definition })
  return activateSkill({ skill, source: 'code', arguments: '', trustLevel: 'trusted', ...input })
}

describe('who may activate a skill', () => {
  it.each([
    ['user', {}, true],
    ['model', {}, true],
    ['code', {}, true],
    ['user', { userInvocable: false }, false],
    ['model', { userInvocable: false }, true],
    ['user', { disableModelInvocation: true }, true],
    ['model', { disableModelInvocation: true }, false],
    ['user', { userInvocable: false, disableModelInvocation: true }, false],
    ['model', { userInvocable: false, disableModelInvocation: true }, false],
    ['code', { userInvocable: false, disableModelInvocation: true }, true],
  ] as const)('US-004 AC2, US-004 AC3: %s, %j: %s', async (source, flags, allowed) => {
    const skills = new SkillManager({ autoDiscover: false })
    await skills.register(defineSkill({ name: 'a', description: 'D.', body: '', ...flags }))
    const refusal = await skills.activate('a', '', { source }).catch((thrown: unknown) => thrown)
    expect(refusal instanceof SkillInvocationError).toBe(!allowed)
  })

  it('a refusal ends with exit code 4 and says who may', () => {
    const refusal = new SkillInvocationError({ code: 'x', message: 'x' })
    expect(refusal.exitCode).toBe(4)
    expect(() => activate({ disableModelInvocation: true }, { source: 'model' })).toThrow(
      'Skill a cannot be activated by the model: it sets disable-model-invocation.',
    )
  })
})

it('US-001 AC5, US-004 AC5, US-004 AC6, US-004 AC8: puts the arguments in and wraps the body', async () => {
  const skills = new SkillManager({ autoDiscover: false })
  await skills.register(defineSkill({ name: 'a', description: 'D.', body: 'Do $0.' }))
  const { content, repeated } = await skills.activate('a', '"the tests" quickly')
  expect(repeated).toBe(false)
  expect(content).toMatch(/^<skill_content name="a">\nDo the tests\.\n/)
  expect(content).toMatch(/<\/skill_content>$/)
})

it('puts arguments without a place behind the body', () => {
  expect(activate({ body: 'Do it.' }, { arguments: 'now' }).content).toContain(
    'Do it.\n\nARGUMENTS: now',
  )
})

describe('activating again', () => {
  it('with the same content and arguments, still in the conversation: a note', () => {
    const first = activate({}, { arguments: 'x' })
    const again = activate({}, { arguments: 'x', inContext: first })
    expect(again).toMatchObject({ repeated: true, digest: first.digest })
    expect(again.content).not.toContain('<skill_content')
    expect(again.content.length).toBeLessThan(200)
  })

  it.each([
    ['other arguments', {}, 'y', true],
    ['another body', { body: 'Do $0 well.' }, 'x', true],
    ['content that is gone from the conversation', {}, 'x', false],
  ])('with %s: the content', (_case, definition, given, isKept) => {
    const inContext = isKept ? activate({}, { arguments: 'x' }) : undefined
    expect(activate(definition, { arguments: given, inContext })).toMatchObject({ repeated: false })
  })
})

describe('what a skill may do', () => {
  const allowedTools = [{ tool: 'Bash', pattern: 'git:*' }]
  const more =
    'allowed-tools: Bash(git:*)\ncontext: fork\nagent: helper\nhooks:\n  Stop: []\nmodel: provider:name'

  async function fromDisk(isTrusted: boolean): Promise<Activation> {
    const { root, runtime, skill } = world()
    const skills = new SkillManager({ runtime, trustedPaths: isTrusted ? [root] : [] })
    await skills.register(skill('elsewhere/a', { more }))
    return await skills.prepare('a')
  }

  it('6.2 trust 1: trusted: its tools are approved, nothing is narrowed', async () => {
    const { effects, diagnostics } = await fromDisk(true)
    expect(effects).toEqual({
      preApproved: allowedTools,
      narrowedTo: undefined,
      model: 'provider:name',
      fork: { agent: 'helper' },
      hooks: { Stop: [] },
    })
    expect(diagnostics).toEqual([])
  })

  it('US-006 AC3, US-006 AC4, US-006 AC5, 6.2 trust 2: untrusted: its tools only narrow, no fork, no hooks, and that is said', async () => {
    const { effects, diagnostics } = await fromDisk(false)
    expect(effects).toEqual({
      preApproved: [],
      narrowedTo: allowedTools,
      model: 'provider:name',
      fork: undefined,
      hooks: undefined,
    })
    expect(diagnostics).toMatchObject([{ code: 'withheld-from-untrusted' }])
    expect(diagnostics[0]?.message).toContain('`hooks`, `context: fork`')
  })

  it('without allowed-tools narrows nothing', () => {
    const { effects } = activate({}, { trustLevel: 'untrusted' })
    expect(effects).toMatchObject({ preApproved: [], narrowedTo: undefined })
  })
})

describe('commands in the body', () => {
  it('are reported and left as they stand', () => {
    const { content, diagnostics } = activate({ body: 'Look:\n\n!`git status`' })
    expect(content).toContain('!`git status`')
    expect(diagnostics).toMatchObject([
      { code: 'command-not-executed', message: expect.stringContaining('line 3') },
    ])
  })

  it('that come from an argument are none', () => {
    expect(activate({}, { arguments: "'!`rm -rf x`'" }).diagnostics).toEqual([])
  })
})
