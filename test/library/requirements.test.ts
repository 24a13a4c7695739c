import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SkillManager, defineSkill } from '../../src/library/manager.ts'
import { SkillParseError } from '../../src/skill/errors.ts'
import { type Fixture, fixture } from './_fixture.ts'

// Rows of the requirements as somebody who only knows the SkillManager sees them.

function managerOf({ runtime, project }: Fixture): SkillManager {
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

function sampleFixture(): Fixture {
  const place = fixture()
  place.write({
    'project/.mamba/skills/test-skill/SKILL.md': sample,
    'project/.mamba/skills/test-skill/scripts/run.sh': '#!/bin/sh\n',
    'project/.mamba/skills/test-skill/references/guide.md': 'Guide.',
    'project/.mamba/skills/test-skill/assets/logo.txt': 'logo',
  })
  return place
}

describe('the critical path of a skill', () => {
  it('finds a valid file with its metadata', async () => {
    const skills = managerOf(sampleFixture())
    expect(await skills.discover()).toMatchObject({
      skills: [{ name: 'test-skill', description: 'A test skill for unit testing' }],
      diagnostics: [],
    })
    expect((await skills.list())[0]?.fields.allowedTools).toEqual([
      { tool: 'Read' },
      { tool: 'Grep' },
    ])
  })

  it('loads the body, substitutes the arguments and approves the tools on activation', async () => {
    const skills = managerOf(sampleFixture())
    skills.registerTool('test-skill', { name: 'probe', execute: () => 'ok' })
    const { content } = await skills.activate('test-skill', 'the report')
    expect(content).toContain('This is a test skill. Process: the report')
    expect(skills.getAllTools().map(({ name }) => name)).toEqual(['test-skill.probe'])
    expect(skills.permissions().preApproved).toEqual([{ tool: 'Read' }, { tool: 'Grep' }])
  })

  it('indexes scripts, references and assets without reading them', async () => {
    const skill = await managerOf(sampleFixture()).get('test-skill')
    expect(skill?.resources.files.map(({ path }) => path)).toEqual([
      'assets/logo.txt',
      'references/guide.md',
      'scripts/run.sh',
    ])
  })

  it('keeps the body of an inactive skill out of the catalogue', async () => {
    const place = fixture()
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

describe('a file with a mistake', () => {
  async function use(text: string): Promise<{ errors: string[]; loads: boolean | Error }> {
    const place = fixture()
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

  it('throws SkillParseError for a file without frontmatter', async () => {
    const { errors, loads } = await use('# Hello\n')
    expect(errors).toEqual(['frontmatter-missing'])
    expect(loads).toBeInstanceOf(SkillParseError)
  })

  it('lists every missing field', async () => {
    expect((await use('---\nlicense: MIT\n---\nBody.\n')).errors).toEqual([
      'description-missing',
      'name-missing',
    ])
  })

  it('reports a name in upper case as an error, and loads the skill with a warning', async () => {
    const place = fixture()
    const directory = place.skill('project/.mamba/skills/My-SKILL')
    const skills = managerOf(place)
    expect(await skills.validate(directory)).toMatchObject({
      valid: false,
      diagnostics: [{ code: 'name-uppercase', severity: 'error' }],
    })
    const skill = await skills.get('My-SKILL')
    expect(skill?.info.diagnostics).toMatchObject([{ code: 'name-uppercase', severity: 'warning' }])
  })

  it('reports a name that differs from the directory as an error, and loads the skill with a warning', async () => {
    const place = fixture()
    place.write({ 'project/.mamba/skills/foo/SKILL.md': '---\nname: bar\ndescription: D.\n---\n' })
    const skills = managerOf(place)
    expect(await skills.validate(`${place.project}/.mamba/skills/foo`)).toMatchObject({
      valid: false,
      diagnostics: expect.arrayContaining([
        expect.objectContaining({ code: 'name-directory-mismatch', severity: 'error' }),
      ]),
    })
    const skill = await skills.get('bar')
    expect(skill?.info.diagnostics).toMatchObject([
      { code: 'name-directory-mismatch', severity: 'warning' },
    ])
  })

  it.each([
    ['a body within 5,000 tokens', 19_000, []],
    ['a body of more than 5,000 tokens', 21_000, ['body-too-many-tokens']],
    ['a body of 100,000 tokens', 400_000, ['body-too-many-tokens']],
  ])('accepts %s and warns on load if it is too long', async (_case, length, warnings) => {
    const place = fixture()
    const body = 'word '.repeat(length / 5)
    place.skill('project/.mamba/skills/long', { body })
    const skills = managerOf(place)
    const [info] = await skills.list()
    expect(info?.diagnostics.map(({ code, severity }) => [code, severity])).toEqual(
      warnings.map((code) => [code, 'warning']),
    )
    const skill = await skills.get('long')
    expect(skill?.info.diagnostics).toEqual(info?.diagnostics)
    expect((await skills.activate('long')).content).toContain(body.trim())
  })

  it.each([
    ['in upper case', 'Tool', 'name-uppercase'],
    ['with a hyphen at its end', 'tool-', 'name-hyphen-edge'],
    ['with two hyphens in a row', 'to--ol', 'name-hyphen-double'],
    ['with other characters', 'to_ol', 'name-characters'],
    ['with letters outside a-z', 'données', 'name-unicode'],
    ['that is too long', 'x'.repeat(65), 'name-too-long'],
  ])('loads a skill with a name %s with a warning', async (_case, name, code) => {
    const place = fixture()
    place.skill(`project/.mamba/skills/${name}`, { name })
    const [info] = await managerOf(place).list()
    expect(info).toMatchObject({ name, diagnostics: [{ code, severity: 'warning' }] })
  })

  it('activates a skill without instructions', async () => {
    const place = fixture()
    place.write({
      'project/.mamba/skills/empty/SKILL.md': '---\nname: empty\ndescription: D.\n---',
    })
    const skills = managerOf(place)
    expect(await skills.list()).toMatchObject([{ name: 'empty', diagnostics: [] }])
    expect(await skills.get('empty')).toMatchObject({ body: '' })
    expect((await skills.activate('empty')).content).toContain('<skill_content name="empty">')
  })

  it.each([
    ['no frontmatter', '# Hello\n', 'frontmatter-missing'],
    ['invalid YAML', '---\nname: [\n---\n', 'yaml-syntax'],
    ['no description', '---\nname: foo\n---\n', 'description-missing'],
  ])(
    'refuses to activate a file with %s and names the file and the error',
    async (_case, text, code) => {
      const place = fixture()
      place.write({ 'project/.mamba/skills/foo/SKILL.md': text })
      const file = `${place.project}/.mamba/skills/foo/SKILL.md`
      const skills = managerOf(place)
      await expect(skills.activate('foo')).rejects.toMatchObject({
        code,
        message: expect.stringContaining(file),
        hint: expect.stringContaining('skillrail validate'),
        diagnostics: [{ code, severity: 'error' }],
      })
      expect(skills.activeSkills).toEqual([])
    },
  )

  it('reads a file the same way in discovery, registration and validation', async () => {
    const place = fixture()
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
    [
      'replaces ARGUMENTS with the whole text',
      'all of $ARGUMENTS',
      'the old report',
      'all of the old report',
    ],
    [
      'replaces positional placeholders, counted from 0',
      '$0, $ARGUMENTS[1], $2',
      'a b c',
      'a, b, c',
    ],
    ['replaces ARGUMENTS with nothing if there are no arguments', '[$ARGUMENTS]', '', '[]'],
    [
      'keeps arguments without a positional placeholder in ARGUMENTS',
      '$0 of $ARGUMENTS',
      'arg1 arg2 arg3',
      'arg1 of arg1 arg2 arg3',
    ],
    [
      'replaces positional placeholders without an argument with nothing',
      '[$0] [$1] [$2]',
      'only',
      '[only] [] []',
    ],
    ['keeps quoted text as one argument', '[$0] [$1]', '"hello world" x', '[hello world] [x]'],
  ])('%s', async (_title, body, given, expected) => {
    const place = fixture()
    place.skill('project/.mamba/skills/say', { body: `Say: ${body}` })
    const { content } = await managerOf(place).activate('say', given)
    expect(content).toContain(`Say: ${expected}\n`)
    expect(content).not.toContain('ARGUMENTS:')
  })

  it('appends arguments to a body without a placeholder', async () => {
    const place = fixture()
    place.skill('project/.mamba/skills/say', { body: 'Do it.' })
    const { content } = await managerOf(place).activate('say', 'a "b c"')
    expect(content).toContain('Do it.\n\nARGUMENTS: a "b c"')
  })

  it('never substitutes placeholders inside arguments', async () => {
    const skills = managerOf(fixture())
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
