import { describe, expect, it } from 'vitest'
import {
  activateSkill,
  type ActivationInput,
  checkInvocation,
} from '../../src/library/activation.ts'
import { defineSkill, type SkillDefinition } from '../../src/library/registry.ts'
import { SkillInvocationError } from '../../src/skill/errors.ts'

function activate(
  definition: Partial<SkillDefinition> = {},
  input: Partial<ActivationInput> = {},
): ReturnType<typeof activateSkill> {
  const skill = defineSkill({ name: 'a', description: 'D.', body: 'Do $0.', ...definition })
  return activateSkill({ skill, source: 'code', arguments: '', trustLevel: 'trusted', ...input })
}

function thrownBy(work: () => void): unknown {
  try {
    return work()
  } catch (error) {
    return error
  }
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
  ] as const)('US-004 AC2, US-004 AC3: %s, %j: %s', (source, flags, allowed) => {
    const { info } = defineSkill({ name: 'a', description: 'D.', body: '', ...flags })
    const refusal = thrownBy(() => checkInvocation(info, source))
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

it('US-001 AC5, US-004 AC5, US-004 AC6, US-004 AC8: puts the arguments in and wraps the body', () => {
  const { content, repeated } = activate({}, { arguments: '"the tests" quickly' })
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
  const first = activate({}, { arguments: 'x' })

  it('with the same content and arguments, still in the conversation: a note', () => {
    const again = activate({}, { arguments: 'x', inContext: first })
    expect(again).toMatchObject({ repeated: true, digest: first.digest })
    expect(again.content).not.toContain('<skill_content')
    expect(again.content.length).toBeLessThan(200)
  })

  it.each([
    ['other arguments', {}, { arguments: 'y', inContext: first }],
    ['another body', { body: 'Do $0 well.' }, { arguments: 'x', inContext: first }],
    ['content that is gone from the conversation', {}, { arguments: 'x' }],
  ])('with %s: the content', (_case, definition, input) => {
    expect(activate(definition, input)).toMatchObject({ repeated: false })
  })
})

describe('what a skill may do', () => {
  const definition = {
    allowedTools: [{ tool: 'Bash', pattern: 'git:*' }],
    context: 'fork',
    agent: 'helper',
    hooks: { Stop: [] },
    model: 'provider:name',
  } as const

  it('6.2 trust 1: trusted: its tools are approved, nothing is narrowed', () => {
    expect(activate(definition).effects).toEqual({
      preApproved: definition.allowedTools,
      narrowedTo: undefined,
      model: 'provider:name',
      fork: { agent: 'helper' },
      hooks: { Stop: [] },
    })
    expect(activate(definition).diagnostics).toEqual([])
  })

  it('US-006 AC3, US-006 AC4, US-006 AC5, 6.2 trust 2: untrusted: its tools only narrow, no fork, no hooks, and that is said', () => {
    const { effects, diagnostics } = activate(definition, { trustLevel: 'untrusted' })
    expect(effects).toEqual({
      preApproved: [],
      narrowedTo: definition.allowedTools,
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
