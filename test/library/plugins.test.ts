import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { discoverSkills } from '../../src/library/discover.ts'
import { readPlugin } from '../../src/library/plugins.ts'
import { type Fixture, fixture } from './_fixture.ts'

const $schema = 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json'
const folder = 'project/.agents/plugins'
const official = new Ajv2020({ strict: false }).compile(
  JSON.parse(
    readFileSync(
      fileURLToPath(new URL('../fixtures/agent-plugins/plugin.schema.json', import.meta.url)),
      'utf8',
    ),
  ),
)

function plugin(manifest: unknown, name = 'one', at = fixture()): Fixture {
  const text = typeof manifest === 'string' ? manifest : JSON.stringify(manifest)
  at.write({ [`${folder}/${name}/plugin.json`]: text })
  return at
}

const read = ({ root }: Fixture, name = 'one') => readPlugin(join(root, folder, name))
const namesIn = ({ runtime }: Fixture): string[] =>
  discoverSkills({ runtime }).skills.map(({ name }) => name)
const codesIn = ({ runtime }: Fixture): string[] =>
  discoverSkills({ runtime }).diagnostics.map(({ code }) => code)

describe('a manifest', () => {
  it('is accepted exactly if the official schema accepts it, apart from ignored fields', () => {
    const at = fixture()
    const text = fc.constantFrom(
      'a',
      'a.b-c',
      'A',
      '-a',
      'a--b',
      'a..b',
      '',
      'a'.repeat(65),
      1,
      null,
    )
    const author = fc.record({ name: text, email: text, other: text }, { requiredKeys: [] })
    const manifest = fc.record(
      {
        $schema: fc.constantFrom($schema, 'https://example.org/x.json', 1),
        name: text,
        version: text,
        description: text,
        author: fc.oneof(author, text),
        homepage: text,
        keywords: fc.oneof(fc.array(text), text),
        extensions: fc.dictionary(
          fc.constantFrom('com.example', 'org.other'),
          fc.oneof(fc.constant({ any: [1, null] }), text),
        ),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(manifest, (value) => {
        plugin(value, 'one', at)
        expect(read(at).name !== undefined).toBe(official(value))
      }),
    )
  })

  it('needs $schema and name, and the error names the wrong field', () => {
    expect(read(plugin({})).diagnostics.map(({ message }) => message)).toEqual([
      `"$schema" is not ${$schema}`,
      '"name" is not a text',
    ])
    const keywords = Array.from({ length: 1000 }, (_, at) => at)
    const { diagnostics } = read(plugin({ $schema, name: 'one', keywords }))
    expect(diagnostics.map(({ message }) => message.split(' ')[0])).toEqual(['"keywords.0"'])
    expect(read(plugin('[')).name).toBeUndefined()
    expect(read(plugin([])).name).toBeUndefined()
  })

  it('is refused in another version', () => {
    const other = $schema.replace('1.0.0', '2.0.0')
    const { name, diagnostics } = read(plugin({ $schema: other, name: 'one' }))
    expect(name).toBeUndefined()
    expect(diagnostics[0]?.message).toContain(`it targets ${other}`)
  })

  it('can have unknown fields and other extensions, which are reported or ignored', () => {
    const { name, diagnostics } = read(
      plugin({ $schema, name: 'one', hooks: './x', extensions: [] }),
    )
    expect(name).toBe('one')
    expect(diagnostics.map(({ code }) => code)).toEqual([
      'plugin-field-ignored',
      'plugin-field-ignored',
    ])
    const extensions = { 'com.example': { anything: [{}] } }
    expect(read(plugin({ $schema, name: 'one', extensions })).diagnostics).toEqual([])
  })

  it('is refused if it leads out of the plugin', () => {
    const at = fixture()
    at.write({ 'elsewhere.json': JSON.stringify({ $schema, name: 'one' }) })
    mkdirSync(join(at.root, folder, 'one'), { recursive: true })
    symlinkSync(join(at.root, 'elsewhere.json'), join(at.root, folder, 'one/plugin.json'))
    expect(read(at)).toMatchObject({ name: undefined, diagnostics: [{ code: 'plugin-invalid' }] })
  })
})

describe('skills of a plugin', () => {
  it('are found in their standard folder, and not deeper', () => {
    const at = plugin({ $schema, name: 'one' })
    at.skill(`${folder}/one/skills/deploy`)
    at.skill(`${folder}/one/skills/group/deeper`)
    at.skill(`${folder}/one/other/build`)
    at.write({ [`${folder}/one/skills/SKILL.md`]: 'no skill' })
    expect(namesIn(at)).toEqual(['deploy'])
    expect(codesIn(at)).toEqual([])
  })

  it('are missing without an error', () => {
    const at = plugin({ $schema, name: 'one' })
    expect([namesIn(at), codesIn(at)]).toEqual([[], []])
  })

  it('are all left out if the manifest is invalid', () => {
    const at = plugin({ $schema, name: 'Not Valid' })
    at.skill(`${folder}/one/skills/deploy`)
    expect([namesIn(at), codesIn(at)]).toEqual([[], ['plugin-invalid']])
  })

  it('hide no other skill if they are invalid or lead outside', () => {
    const at = plugin({ $schema, name: 'one' })
    at.skill(`${folder}/one/skills/deploy`)
    at.skill(`${folder}/one/skills/other`, { name: 'not-its-folder' })
    at.write({ [`${folder}/one/skills/broken/SKILL.md`]: 'no frontmatter' })
    const outside = at.skill('elsewhere/away')
    mkdirSync(join(at.root, folder, 'one/skills/away'))
    symlinkSync(join(outside, 'SKILL.md'), join(at.root, folder, 'one/skills/away/SKILL.md'))
    expect(namesIn(at)).toEqual(['deploy'])
    expect(codesIn(at)).toEqual(Array(3).fill('plugin-skill-invalid'))
  })

  it('may be links inside the plugin', () => {
    const at = plugin({ $schema, name: 'one' })
    at.skill(`${folder}/one/shared/deploy`)
    mkdirSync(join(at.root, folder, 'one/skills'))
    symlinkSync('../shared/deploy', join(at.root, folder, 'one/skills/deploy'))
    expect(namesIn(at)).toEqual(['deploy'])
  })

  it.each(['a file', 'a link out of it'])('are none if their folder is %s', (kind) => {
    const at = plugin({ $schema, name: 'one' })
    const place = join(at.root, folder, 'one/skills')
    at.skill('elsewhere/skills/deploy')
    if (kind === 'a file') writeFileSync(place, '')
    else symlinkSync(join(at.root, 'elsewhere/skills'), place)
    expect([namesIn(at), codesIn(at)]).toEqual([[], ['plugin-component-invalid']])
  })

  it("come after the project's own skills", () => {
    const at = plugin({ $schema, name: 'one' })
    const own = at.skill('project/.claude/skills/deploy')
    at.skill(`${folder}/one/skills/deploy`, { body: 'Other.' })
    at.skill('home/.agents/skills/deploy', { body: 'Third.' })
    const { skills, shadowed } = discoverSkills({
      runtime: at.runtime,
      workspaceTrust: 'trusted',
    })
    expect(skills.map(({ directory }) => directory)).toEqual([own])
    expect(shadowed.map(({ source }) => source)).toEqual([
      '.agents/plugins/one',
      '~/.agents/skills',
    ])
  })
})
