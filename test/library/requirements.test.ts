import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SkillManager, defineSkill } from '../../src/library/manager.ts'
import { SkillParseError } from '../../src/skill/errors.ts'
import { type World, world } from './_world.ts'

// Rows of the requirements as somebody who only knows the SkillManager sees them.

function managerOf({ runtime, project }: World): SkillManager {
  return new SkillManager({ runtime, trustedPaths: [project], workspaceTrust: 'trusted' })
}

/** The skill of the requirements' own fixture. */
const sample = `---
name: test-skill
description: A test skill for unit testing
allowed-tools: Read, Grep
---

This is a test skill. Process: $ARGUMENTS
`

function sampleWorld(): World {
  const place = world()
  place.write({
    'project/.mamba/skills/test-skill/SKILL.md': sample,
    'project/.mamba/skills/test-skill/scripts/run.sh': '#!/bin/sh\n',
    'project/.mamba/skills/test-skill/references/guide.md': 'Guide.',
    'project/.mamba/skills/test-skill/assets/logo.txt': 'logo',
  })
  return place
}

describe('the critical path of a skill', () => {
  it('10.2 loading 1, 10.2 loading 2, 10.3 row 1: a valid file is found with its metadata', async () => {
    const skills = managerOf(sampleWorld())
    expect(await skills.discover()).toMatchObject({
      skills: [{ name: 'test-skill', description: 'A test skill for unit testing' }],
      diagnostics: [],
    })
    expect((await skills.list())[0]?.fields.allowedTools).toEqual([
      { tool: 'Read' },
      { tool: 'Grep' },
    ])
  })

  it('10.2 loading 3: activation loads the body, puts the arguments in and approves the tools', async () => {
    const skills = managerOf(sampleWorld())
    skills.registerTool('test-skill', { name: 'probe', execute: () => 'ok' })
    const { content } = await skills.activate('test-skill', 'the report')
    expect(content).toContain('This is a test skill. Process: the report')
    expect(skills.getAllTools().map(({ name }) => name)).toEqual(['test-skill.probe'])
    expect(skills.permissions().preApproved).toEqual([{ tool: 'Read' }, { tool: 'Grep' }])
  })

  it('US-001 AC6: scripts, references and assets are known without being read', async () => {
    const skill = await managerOf(sampleWorld()).get('test-skill')
    expect(skill?.resources.files.map(({ path }) => path)).toEqual([
      'assets/logo.txt',
      'references/guide.md',
      'scripts/run.sh',
    ])
  })

  it('6.3 row 3: only active skills are more than two lines of the catalogue', async () => {
    const place = world()
    for (const name of ['one', 'two']) {
      place.skill(`project/.mamba/skills/${name}`, { body: 'Very long. '.repeat(500) })
    }
    const skills = managerOf(place)
    const [first] = await skills.list()
    expect(JSON.stringify(first)).not.toContain('Very long.')
    expect((await skills.activate('one')).content.length).toBeGreaterThan(5000)
    expect(JSON.stringify(await skills.list())).not.toContain('Very long.')
  })
})

describe('a file that is not as it must be', () => {
  async function use(text: string): Promise<{ errors: string[]; loads: boolean | Error }> {
    const place = world()
    place.write({ 'project/.mamba/skills/foo/SKILL.md': text })
    const skills = managerOf(place)
    const { diagnostics } = await skills.validate(`${place.project}/.mamba/skills/foo`)
    const loads = await skills.get('foo').then(
      (skill) => skill !== undefined,
      (error: Error) => error,
    )
    const errors = diagnostics.filter(({ severity }) => severity === 'error')
    return { errors: errors.map(({ code }) => code), loads }
  }

  it('5.1 edge 1: without frontmatter it is an error that says so', async () => {
    const { errors, loads } = await use('# Hello\n')
    expect(errors).toEqual(['frontmatter-missing'])
    expect(loads).toBeInstanceOf(SkillParseError)
  })

  it('5.1 edge 2: every missing field is listed', async () => {
    expect((await use('---\nlicense: MIT\n---\nBody.\n')).errors).toEqual([
      'description-missing',
      'name-missing',
    ])
  })

  it('5.1 edge 3: a name in upper case is invalid, and is loaded all the same', async () => {
    const { errors } = await use('---\nname: My-SKILL\ndescription: D.\n---\n')
    expect(errors).toContain('name-uppercase')
  })

  it('5.1 edge 4: so is a name that its directory does not have', async () => {
    const place = world()
    place.write({ 'project/.mamba/skills/foo/SKILL.md': '---\nname: bar\ndescription: D.\n---\n' })
    const skills = managerOf(place)
    expect(await skills.validate(`${place.project}/.mamba/skills/foo`)).toMatchObject({
      valid: false,
      diagnostics: expect.arrayContaining([
        expect.objectContaining({ code: 'name-directory-mismatch', severity: 'error' }),
      ]),
    })
    expect(await skills.get('bar')).toMatchObject({ info: { name: 'bar' } })
  })

  it('defect 5: the same reader is used by discovery, registration and validation', async () => {
    const place = world()
    const directory = place.skill('project/forks/fork', {
      description: 'Before --- and after. Use when testing.',
      more: 'context: fork\nagent: reviewer',
    })
    const skills = managerOf(place)
    await skills.register(directory)
    expect((await skills.get('fork'))?.info).toMatchObject({
      description: 'Before --- and after. Use when testing.',
      fields: { context: 'fork', agent: 'reviewer' },
    })
    expect(await skills.validate(directory)).toMatchObject({ valid: true })
  })
})

describe('arguments', () => {
  it.each([
    ['US-005 AC1', 'all of $ARGUMENTS', 'the old report', 'all of the old report'],
    ['US-005 AC2', '$0, $ARGUMENTS[1], $2', 'a b c', 'a, b, c'],
    ['5.3 edge 1', '[$ARGUMENTS]', '', '[]'],
    ['5.3 edge 2', '$0 of $ARGUMENTS', 'arg1 arg2 arg3', 'arg1 of arg1 arg2 arg3'],
    ['5.3 edge 3', '[$0] [$1] [$2]', 'only', '[only] [] []'],
    ['5.3 edge 4', '[$0] [$1]', '"hello world" x', '[hello world] [x]'],
  ])('%s: in %j, %j gives %j', async (_row, body, given, expected) => {
    const place = world()
    place.skill('project/.mamba/skills/say', { body: `Say: ${body}` })
    const { content } = await managerOf(place).activate('say', given)
    expect(content).toContain(`Say: ${expected}\n`)
    expect(content).not.toContain('ARGUMENTS:')
  })

  it('US-005 AC3: are appended where the body has no place for them', async () => {
    const place = world()
    place.skill('project/.mamba/skills/say', { body: 'Do it.' })
    const { content } = await managerOf(place).activate('say', 'a "b c"')
    expect(content).toContain('Do it.\n\nARGUMENTS: a "b c"')
  })

  it('defect 11: are never scanned themselves', async () => {
    const skills = managerOf(world())
    const body = '<$ARGUMENTS>\n<$0|$who>'
    await skills.register(defineSkill({ name: 'say', description: 'D.', arguments: ['who'], body }))
    const piece = fc.constantFrom('$0', '$1', '$ARGUMENTS', '$ARGUMENTS[1]', '$who', '\\$0', 'x')
    await fc.assert(
      fc.asyncProperty(fc.array(piece), async (pieces) => {
        const given = pieces.join('')
        const { content } = await skills.prepare('say', given)
        const first = given.replaceAll('\\', '')
        expect(content).toContain(`\n<${given}>\n<${first}|${first}>\n`)
      }),
    )
  })
})
