import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { skillText, type Fixture, fixture } from '../../library/_fixture.ts'
import { runInProcess } from '../../run-in-process.ts'

interface Result {
  skills: { path: string; valid: boolean; diagnostics: { code: string; message: string }[] }[]
}

async function validate({ project, home }: Fixture, ...args: string[]) {
  const { code, stdout, stderr } = await runInProcess(['validate', '--json', ...args], {
    cwd: project,
    home,
  })
  const { skills = [] }: Partial<Result> = stdout === '' ? {} : JSON.parse(stdout)
  return { code, skills, stderr, paths: skills.map(({ path }) => path).toSorted() }
}

function git(place: Fixture, ...args: string[]): void {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com']
  const options = ['-c', 'protocol.file.allow=always', '-c', 'init.defaultBranch=main']
  execFileSync('git', [...identity, ...options, ...args], {
    cwd: place.project,
    stdio: 'ignore',
    env: { PATH: process.env['PATH'], HOME: place.home },
  })
}

function repository(): Fixture {
  const place = fixture()
  rmSync(join(place.project, '.git'), { recursive: true })
  git(place, 'init')
  place.skill('project/skills/good')
  return place
}

const broken = '---\nname: [\n---\n'

describe('files that Git ignores', () => {
  it.each([
    ['a folder', 'dist\n', 'dist/sample/SKILL.md'],
    ['a hidden folder', '.venv/\n', '.venv/lib/pkg/SKILL.md'],
    ['a pattern', '**/target/\n', 'crates/a/target/doc/SKILL.md'],
    ['a folder with an exception', 'out/*\n!out/keep\n', 'out/gone/SKILL.md'],
  ])('are not validated if %s is ignored, unless the command names them', async (...row) => {
    const [, rules, file] = row
    const place = repository()
    place.write({ 'project/.gitignore': rules, [`project/${file}`]: broken })
    expect(await validate(place)).toMatchObject({ code: 0, paths: ['skills/good/SKILL.md'] })
    expect(await validate(place, '.')).toMatchObject({ code: 0 })
    expect(await validate(place, dirname(file))).toMatchObject({ code: 1, paths: [file] })
    expect(await validate(place, file)).toMatchObject({ code: 1, paths: [file] })
    const [folder = ''] = file.split('/')
    const byFolder = await validate(place, folder)
    expect(byFolder.paths).toEqual(folder === 'crates' || folder === 'out' ? [] : [file])
  })

  it('include files ignored by .git/info/exclude, a nested .gitignore or the user’s own rules', async () => {
    const place = repository()
    place.write({
      'project/.git/info/exclude': 'a/\n',
      'project/b/.gitignore': 'c/\n',
      'home/.config/git/ignore': 'd/\n',
      'project/a/x/SKILL.md': broken,
      'project/b/c/x/SKILL.md': broken,
      'project/d/x/SKILL.md': broken,
    })
    expect(await validate(place)).toMatchObject({ code: 0, paths: ['skills/good/SKILL.md'] })
  })

  it('are validated if they are tracked', async () => {
    const place = repository()
    place.write({ 'project/.gitignore': 'dist\n', 'project/dist/sample/SKILL.md': broken })
    place.write({ 'project/dist/other/SKILL.md': broken })
    git(place, 'add', '-f', 'dist/sample/SKILL.md')
    expect(await validate(place)).toMatchObject({
      code: 1,
      paths: ['dist/sample/SKILL.md', 'skills/good/SKILL.md'],
    })
  })

  it('are validated in a folder that clients read skills from', async () => {
    const place = repository()
    place.write({
      'project/.gitignore': '.claude\n.agents/skills\n',
      'project/.claude/skills/a/SKILL.md': broken,
      'project/.claude/other/a/SKILL.md': broken,
      'project/.agents/skills/b/SKILL.md': broken,
    })
    expect((await validate(place)).paths).toEqual([
      '.agents/skills/b/SKILL.md',
      '.claude/skills/a/SKILL.md',
      'skills/good/SKILL.md',
    ])
  })

  it('are validated if a tracked link leads to them', async () => {
    const place = repository()
    place.write({ 'project/.gitignore': 'build\n', 'project/build/x/SKILL.md': broken })
    mkdirSync(join(place.project, 'linked'))
    symlinkSync('../build/x', join(place.project, 'linked/x'))
    expect((await validate(place)).paths).toContain('linked/x/SKILL.md')
  })

  it('are validated without Git, and outside a repository', async () => {
    const place = fixture()
    place.write({ 'project/.gitignore': 'dist\n', 'project/dist/x/SKILL.md': broken })
    expect(await validate(place)).toMatchObject({ code: 1, paths: ['dist/x/SKILL.md'] })
    const other = repository()
    other.write({ 'project/.gitignore': 'dist\n', 'project/dist/x/SKILL.md': broken })
    const { project: cwd, home } = other
    const { code } = await runInProcess(['validate'], { cwd, home, env: { PATH: '/nowhere' } })
    expect(code).toBe(1)
  })
})

describe('repositories inside a repository', () => {
  it('are left out as linked working trees, also without their data', async () => {
    const place = repository()
    git(place, 'add', '.')
    git(place, 'commit', '-m', 'a')
    git(place, 'worktree', 'add', '.claude/worktrees/feature')
    expect((await validate(place)).paths).toEqual(['skills/good/SKILL.md'])
    rmSync(join(place.project, '.git/worktrees'), { recursive: true })
    expect((await validate(place)).paths).toEqual(['skills/good/SKILL.md'])
    expect((await validate(place, '.claude/worktrees/feature')).paths).toEqual([
      '.claude/worktrees/feature/skills/good/SKILL.md',
    ])
  })

  it("are validated as submodules by the submodule's own rules", async () => {
    const module = repository()
    module.write({ 'project/.gitignore': 'dist\n', 'project/skills/part/SKILL.md': broken })
    git(module, 'add', '.')
    git(module, 'commit', '-m', 'a')
    const place = repository()
    git(place, 'submodule', 'add', module.project, 'vendor/module')
    place.write({ 'project/vendor/module/dist/x/SKILL.md': broken })
    expect((await validate(place)).paths).toEqual([
      'skills/good/SKILL.md',
      'vendor/module/skills/good/SKILL.md',
      'vendor/module/skills/part/SKILL.md',
    ])
  })
})

describe('two skills of one name in one place', () => {
  function conflict(folder: string): Fixture {
    const place = fixture()
    place.skill(`${folder}/one/deploy`, { body: 'One.' })
    place.skill(`${folder}/two/deploy`, { body: 'Two.' })
    place.skill(`${folder}/other`)
    return place
  }

  const conflicts = ({ skills }: { skills: Result['skills'] }) =>
    skills.flatMap(({ path, valid, diagnostics }) =>
      diagnostics.some(({ code }) => code === 'skill-conflict') && !valid ? [path] : [],
    )

  it.each(['.claude/skills', '.agents/skills', 'packages/app/.claude/skills'])(
    'are invalid in %s, as `list` says',
    async (folder) => {
      const place = conflict(`project/${folder}`)
      const expected = [`${folder}/one/deploy/SKILL.md`, `${folder}/two/deploy/SKILL.md`]
      for (const args of [[], [folder], [`${folder}/one`, `${folder}/two/deploy`]]) {
        const result = await validate(place, ...args)
        expect(result.code).toBe(1)
        expect(conflicts(result)).toEqual(expected)
      }
      const one = await validate(place, `${folder}/two/deploy/SKILL.md`)
      expect(conflicts(one)).toEqual([`${folder}/two/deploy/SKILL.md`])
    },
  )

  it('are invalid in the user’s folder, in a configured one and in another project', async () => {
    const place = conflict('home/.claude/skills')
    expect(conflicts(await validate(place, join(place.home, '.claude/skills')))).toHaveLength(2)
    const configured = conflict('project/shared')
    const config = '{ "skills": { "paths": ["shared"] } }'
    configured.write({ 'project/.skillrail/config.json': config })
    configured.write({ 'home/.config/skillrail/config.json': config })
    expect(conflicts(await validate(configured, 'shared'))).toHaveLength(2)
    const other = conflict('other/.claude/skills')
    expect(conflicts(await validate(other, '../other/.claude/skills'))).toHaveLength(2)
  })

  it('are valid as copies, in two places, and in projects of their own', async () => {
    const place = fixture()
    place.skill('project/.claude/skills/one/deploy')
    place.skill('project/.claude/skills/two/deploy')
    place.skill('project/.agents/skills/deploy', { body: 'Other.' })
    place.write({ 'project/a/.claude/skills/deploy/SKILL.md': skillText('deploy') })
    place.write({
      'project/b/.claude/skills/deploy/SKILL.md': skillText('deploy', { body: 'B.' }),
    })
    expect(conflicts(await validate(place))).toEqual([])
  })
})

describe('skills that cannot be told apart', () => {
  const examples = (...texts: string[]) =>
    `triggers:\n  - examples: [${texts.join(', ')}]\n    inject: a.md`

  async function found(first: object, second: object): Promise<string[][]> {
    const place = fixture()
    place.skill('project/.claude/skills/one', { description: 'Makes one.', ...first })
    place.skill('project/.claude/skills/two', { description: 'Makes two.', ...second })
    place.write({
      'project/.claude/skills/one/a.md': 'One.',
      'project/.claude/skills/two/a.md': 'Two.',
    })
    const { skills } = await validate(place)
    const doctor = await runInProcess(['doctor'], { cwd: place.project, home: place.home })
    expect(doctor.stdout.includes('similar skills')).toBe(
      skills.some(({ diagnostics }) => diagnostics.some(({ code }) => code.endsWith('-shared'))),
    )
    return skills.map(({ diagnostics }) =>
      diagnostics.map(({ code }) => code).filter((code) => code.endsWith('-shared')),
    )
  }

  it('are named by validate and doctor, for a description and for an example', async () => {
    const description = { description: 'Makes  charts. Use for charts.' }
    const spaced = { description: 'makes charts. Use for charts.' }
    expect(await found(description, spaced)).toEqual([
      ['description-shared'],
      ['description-shared'],
    ])
    const same = await found(
      { more: examples('make a chart', 'draw a bar') },
      { more: examples('Make a chart', 'paint a house') },
    )
    expect(same).toEqual([['example-shared'], ['example-shared']])
  })

  it('are not reported if their descriptions and examples differ', async () => {
    const different = await found(
      { more: examples('make a chart') },
      { more: examples('make a table') },
    )
    expect(different).toEqual([[], []])
  })
})
