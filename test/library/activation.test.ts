import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  type Activation,
  type ActivationInput,
  activateSkill,
} from '../../src/library/activation.ts'
import { type SkillDefinition, SkillManager, defineSkill } from '../../src/library/manager.ts'
import { SkillInvocationError } from '../../src/skill/errors.ts'
import { fixture } from './_fixture.ts'

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
  ] as const)('allows %s to activate a skill with %j: %s', async (source, flags, allowed) => {
    const skills = new SkillManager({ autoDiscover: false })
    await skills.register(defineSkill({ name: 'a', description: 'D.', body: '', ...flags }))
    const refusal = await skills.activate('a', '', { source }).catch((thrown: unknown) => thrown)
    expect(refusal instanceof SkillInvocationError).toBe(!allowed)
  })

  it('refuses others with exit code 4, and says who may activate it', () => {
    const refusal = new SkillInvocationError({ code: 'x', message: 'x' })
    expect(refusal.exitCode).toBe(4)
    expect(() => activate({ disableModelInvocation: true }, { source: 'model' })).toThrow(
      'Skill a cannot be activated by the model: it sets disable-model-invocation.',
    )
  })
})

it('substitutes the arguments and wraps the body', async () => {
  const skills = new SkillManager({ autoDiscover: false })
  await skills.register(defineSkill({ name: 'a', description: 'D.', body: 'Do $0.' }))
  const { content, repeated } = await skills.activate('a', '"the tests" quickly')
  expect(repeated).toBe(false)
  expect(content).toMatch(/^<skill_content name="a">\nDo the tests\.\n/)
  expect(content).toMatch(/<\/skill_content>$/)
})

it('appends arguments without a placeholder to the body', () => {
  expect(activate({ body: 'Do it.' }, { arguments: 'now' }).content).toContain(
    'Do it.\n\nARGUMENTS: now',
  )
})

describe('activating again', () => {
  it('returns a note if the conversation still contains the same content and arguments', () => {
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
  ])('returns the content with %s', (_case, definition, given, isKept) => {
    const inContext = isKept ? activate({}, { arguments: 'x' }) : undefined
    expect(activate(definition, { arguments: given, inContext })).toMatchObject({ repeated: false })
  })
})

describe('what a skill may do', () => {
  const allowedTools = [{ tool: 'Bash', pattern: 'git:*' }]
  const more =
    'allowed-tools: Bash(git:*)\ncontext: fork\nagent: helper\nhooks:\n  Stop: []\nmodel: provider:name'

  async function fromDisk(isTrusted: boolean): Promise<Activation> {
    const { root, runtime, skill } = fixture()
    const skills = new SkillManager({ runtime, trustedPaths: isTrusted ? [root] : [] })
    await skills.register(skill('elsewhere/a', { more }))
    return await skills.prepare('a')
  }

  it('approves the tools of a trusted skill and narrows nothing', async () => {
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

  it('lets the tools of an untrusted skill only narrow, ignores its fork and hooks, and reports it', async () => {
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

  it('narrows no tools without allowed-tools', () => {
    const { effects } = activate({}, { trustLevel: 'untrusted' })
    expect(effects).toMatchObject({ preApproved: [], narrowedTo: undefined })
  })
})

describe('commands in the body', () => {
  it('are reported and stay unchanged', () => {
    const { content, diagnostics } = activate({ body: 'Look:\n\n!`git status`' })
    expect(content).toContain('!`git status`')
    expect(diagnostics).toMatchObject([
      { code: 'command-not-executed', message: expect.stringContaining('line 3') },
    ])
  })

  it('are not recognised in arguments', () => {
    expect(activate({}, { arguments: "'!`rm -rf x`'" }).diagnostics).toEqual([])
  })
})

describe('variables in the text of a skill', () => {
  it("are replaced in the body and the tools of a plugin's skill", async () => {
    const place = fixture()
    const text = `---
name: a
description: D.
allowed-tools: Bash(\${CLAUDE_SKILL_DIR}/a.sh *) Bash(\${CLAUDE_SESSION_ID})
---
\${CLAUDE_SKILL_DIR} \${CLAUDE_PROJECT_DIR} \${CLAUDE_PLUGIN_ROOT} \${CLAUDE_SESSION_ID} $0
`
    place.write({
      'plugins/p/.claude-plugin/plugin.json': '{}',
      'plugins/p/skills/a/SKILL.md': text,
    })
    const root = join(place.root, 'plugins/p')
    const paths = { customPaths: [join(root, 'skills')], trustedPaths: [root] }
    const skills = new SkillManager({ runtime: place.runtime, ...paths })
    const request = '${CLAUDE_SKILL_DIR}'
    const known = await skills.activate('a', request, { sessionId: 's1' })
    const directory = join(root, 'skills/a')
    expect(known.content).toContain(`${directory} ${place.project} ${root} s1 ${request}\n`)
    expect(known.effects.preApproved).toEqual([
      { tool: 'Bash', pattern: `${directory}/a.sh *` },
      { tool: 'Bash', pattern: 's1' },
    ])
    const unknown = await skills.activate('a', request)
    expect(unknown.content).toContain('${CLAUDE_SESSION_ID}')
    expect(unknown.diagnostics.map(({ code }) => code)).toEqual([
      'variable-unknown',
      'variable-unknown',
    ])
  })
})

it('names arguments without a place and positions that became empty', () => {
  const codes = (body: string, given: string): string[] =>
    activate({ body }, { arguments: given }).diagnostics.map(({ code }) => code)
  expect(codes('Do $0.', 'a b')).toEqual(['argument-unused'])
  expect(codes("awk '{print $1}'", 'a')).toEqual(['position-empty'])
  expect(codes('Do $ARGUMENTS.', 'a b')).toEqual([])
  expect(
    activate({ arguments: ['x', 'y'], body: '$x $y' }, { arguments: 'a' }).diagnostics,
  ).toEqual([])
})

it('names no directory for a skill that a program defined', () => {
  expect(activate().content).not.toContain('kill directory')
})

it('warns of instructions with more than 5,000 tokens when a skill is loaded', async () => {
  const place = fixture()
  const directory = place.skill('project/.agents/skills/large', {
    name: 'large',
    body: 'x '.repeat(11_000),
  })
  const skills = new SkillManager({ runtime: place.runtime })
  const skill = await skills.get('large')
  expect(directory).toContain('large')
  expect(skill?.info.diagnostics).toMatchObject([
    { code: 'body-too-many-tokens', severity: 'warning' },
  ])
})
