import fc from 'fast-check'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkLibrary } from '../../src/library/check.ts'
import { discoverSkills } from '../../src/library/discover.ts'
import { locationTable } from '../../src/library/locations.ts'
import { loadConfiguration } from '../../src/core/configuration.ts'
import { runInProcess } from '../run-in-process.ts'
import { skillText, type Fixture, fixture } from './_fixture.ts'

function link({ root }: Fixture, path: string, target: string): void {
  const place = join(root, path)
  mkdirSync(dirname(place), { recursive: true })
  symlinkSync(join(root, target), place)
}

async function list({ project, home }: Fixture, ...options: string[]) {
  const { stdout } = await runInProcess(['list', '--json', ...options], { cwd: project, home })
  const result: {
    skills: { name: string; path: string; clients: string[]; standing?: string }[]
    broken: object[]
    shadowed: number
  } = JSON.parse(stdout)
  return result
}

type Way = (place: Fixture, from: string, to: string) => void

const ways: readonly (readonly [string, Way])[] = [
  ['the folder of the skill', (at, from, to) => link(at, `${from}/skills/one`, `${to}/skills/one`)],
  [
    'its SKILL.md',
    (at, from, to) => link(at, `${from}/skills/one/SKILL.md`, `${to}/skills/one/SKILL.md`),
  ],
  ['the whole folder of skills', (at, from, to) => link(at, `${from}/skills`, `${to}/skills`)],
  ['the folder of the client', (at, from, to) => link(at, from, to)],
  [
    'a link to a link',
    (at, from, to) => {
      link(at, 'between', `${to}/skills/one`)
      link(at, `${from}/skills/one`, 'between')
    },
  ],
]

describe('a skill that several folders reach by links', () => {
  const scopes = ['project', 'home']
  const cases = ways.flatMap(([name, way]) => scopes.map((scope) => [name, scope, way] as const))

  it.each(cases)(
    'is one skill for all clients that reach the skill through %s, in the %s',
    async (...c) => {
      const [, scope, way] = c
      const place = fixture()
      place.skill(`${scope}/.agents/skills/one`)
      way(place, `${scope}/.claude`, `${scope}/.agents`)
      const { skills, shadowed } = await list(place, '--all')
      expect(skills).toMatchObject([
        { name: 'one', clients: expect.arrayContaining(['codex', 'claude', 'gemini']) },
      ])
      expect(shadowed).toBe(0)
      const table = await runInProcess(['list', '--clients'], {
        cwd: place.project,
        home: place.home,
      })
      expect(table.stdout).toMatch(/one .*codex.*claude/)
    },
  )

  it('is read by exactly the clients of all folders with a link to the skill', () => {
    const rows = locationTable.flatMap(({ project, clients }) =>
      project === undefined ? [] : [{ folder: project, clients }],
    )
    fc.assert(
      fc.property(fc.shuffledSubarray(rows, { minLength: 1 }), ([first, ...others]) => {
        if (!first) return
        const place = fixture()
        place.skill(`project/${first.folder}/one`)
        for (const { folder } of others) {
          link(place, `project/${folder}/one`, `project/${first.folder}/one`)
        }
        const found = discoverSkills({ runtime: place.runtime, useIndex: false })
        expect(found.skills).toHaveLength(1)
        expect(found.shadowed).toEqual([])
        const clients = found.skills.flatMap((info) => info.clients)
        expect(new Set(clients)).toEqual(
          new Set([first, ...others].flatMap((row) => [...row.clients])),
        )
      }),
      { numRuns: 25 },
    )
  })

  it("stays the user's trusted skill if a project links to it", async () => {
    const place = fixture()
    place.skill('home/.agents/skills/one')
    link(place, 'project/.claude/skills/one', 'home/.agents/skills/one')
    const [info] = discoverSkills({ runtime: place.runtime, useIndex: false }).skills
    expect(info).toMatchObject({ scope: 'user', trustLevel: 'trusted' })
    expect(info?.clients).toEqual(expect.arrayContaining(['codex', 'claude']))
  })

  it('stays two skills if the contents differ', async () => {
    const place = fixture()
    place.skill('project/.agents/skills/one')
    place.skill('project/.claude/skills/one', { body: 'Something else.' })
    const { skills, shadowed } = await list(place)
    expect(skills).toHaveLength(1)
    expect(skills[0]?.clients).not.toContain('claude')
    expect(shadowed).toBe(1)
  })

  it('keeps the warning about a link with another name than the skill', () => {
    const place = fixture()
    place.skill('project/.agents/skills/one')
    link(place, 'project/.claude/skills/other', 'project/.agents/skills/one')
    const [info] = discoverSkills({ runtime: place.runtime, useIndex: false }).skills
    expect(info?.linkedFrom).toHaveLength(1)
    expect(info?.diagnostics).toMatchObject([
      {
        code: 'name-directory-mismatch',
        path: join(place.project, '.claude/skills/other/SKILL.md'),
      },
    ])
  })

  it('has the name of its real folder if a link in the same folder leads to the skill', () => {
    const place = fixture()
    place.skill('project/.claude/skills/one')
    link(place, 'project/.claude/skills/alias', 'project/.claude/skills/one')
    const { skills } = discoverSkills({ runtime: place.runtime, useIndex: false })
    expect(skills).toMatchObject([
      { directory: join(place.project, '.claude/skills/one'), diagnostics: [] },
    ])
  })

  it('is one broken skill if it cannot be read', async () => {
    const place = fixture()
    place.write({ 'project/.agents/skills/one/SKILL.md': '---\nname: [\n---\n' })
    link(place, 'project/.claude/skills/one', 'project/.agents/skills/one')
    expect((await list(place)).broken).toHaveLength(1)
  })

  it('counts once in the catalogue of every client that reads it', () => {
    const place = fixture()
    for (let at = 0; at < 300; at++) {
      place.skill(`project/.agents/skills/s${at}`, { description: 'x'.repeat(266) })
    }
    link(place, 'project/.claude/skills', 'project/.agents/skills')
    const { runtime } = place
    const { settings } = loadConfiguration(runtime)
    const checks = checkLibrary({ runtime, settings })
    const named = checks.flatMap(({ name, found }) =>
      name.startsWith('catalogue') ? [`${name}: ${found.split(' ', 1)[0]}`] : [],
    )
    expect(named).toEqual([
      'catalogue of Claude Code: 300',
      'catalogue of Codex: 300',
      'catalogue of Copilot CLI: 300',
    ])
  })
})

describe('links that lead to no skill', () => {
  it('are reported as circles or dangling links, and the other skills stay', () => {
    const place = fixture()
    place.skill('project/.claude/skills/one')
    link(place, 'project/.claude/skills/gone', 'project/nowhere')
    link(place, 'project/.claude/skills/circle', 'project/.claude/skills')
    link(place, 'project/.claude/skills/self', 'project/.claude/skills/self')
    link(place, 'project/.claude/skills/file/SKILL.md', 'project/nowhere/SKILL.md')
    const { skills, broken, diagnostics } = discoverSkills({
      runtime: place.runtime,
      useIndex: false,
    })
    expect(skills.map(({ name }) => name)).toEqual(['one'])
    expect(broken).toMatchObject([{ name: 'file' }])
    expect(diagnostics.filter(({ code }) => code === 'link-broken')).toHaveLength(2)
  })
})

describe('a SKILL.md that is not in a folder of its own', () => {
  const folders = ['project/.claude/skills', 'project/.agents/skills', 'home/.claude/skills']

  it.each(folders)('is a warning in %s, and the skills below stay', async (folder) => {
    const place = fixture()
    place.skill(`${folder}/one`)
    place.skill(`${folder}/group/two`)
    place.write({ [`${folder}/SKILL.md`]: skillText('stray') })
    const found = discoverSkills({ runtime: place.runtime, useIndex: false })
    expect(found.skills.map(({ name }) => name)).toEqual(['two', 'one'])
    expect(found.diagnostics).toMatchObject([
      { code: 'skill-file-stray', severity: 'warning', path: join(place.root, folder, 'SKILL.md') },
    ])
    const { stdout } = await runInProcess(['doctor', '--json'], {
      cwd: place.project,
      home: place.home,
    })
    expect(stdout).toContain('2 skills usable')
  })

  it('is a warning if it is the only SKILL.md', () => {
    const place = fixture()
    place.write({ 'project/.claude/skills/SKILL.md': skillText('stray') })
    const found = discoverSkills({ runtime: place.runtime, useIndex: false })
    expect(found.skills).toEqual([])
    expect(found.diagnostics.map(({ code }) => code)).toEqual(['skill-file-stray'])
  })

  it('hides no skill in an explicit folder, and such a folder can be a skill', () => {
    const place = fixture()
    place.skill('project/collection/one')
    place.write({ 'project/collection/SKILL.md': skillText('stray') })
    place.skill('project/tool')
    writeFileSync(join(place.project, 'tool/notes.md'), '')
    place.skill('project/tool/samples/sample')
    const names = (path: string) =>
      discoverSkills({ runtime: place.runtime, useIndex: false, customPaths: [path] }).skills.map(
        ({ name }) => name,
      )
    expect(names('collection')).toEqual(['stray', 'one'])
    expect(names('tool')).toEqual(['tool'])
  })
})
