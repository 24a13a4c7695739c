import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Discovery } from '../../src/library/model.ts'
import { discoverSkills, type DiscoverOptions } from '../../src/library/discover.ts'
import { SkillManager, type SkillManagerOptions } from '../../src/library/manager.ts'
import { collectActingParts } from '../../src/trust/acting-parts.ts'
import { TrustStore } from '../../src/trust/store.ts'
import { skillText, type Fixture, fixture } from './_fixture.ts'

function discover({ runtime }: Fixture, options: Partial<DiscoverOptions> = {}): Discovery {
  return discoverSkills({ runtime, useIndex: false, ...options })
}

const names = ({ skills }: Discovery): string[] => skills.map(({ name }) => name)
const codes = ({ diagnostics }: { diagnostics: readonly { code: string }[] }): string[] =>
  diagnostics.map(({ code }) => code)

/** As a program sees it. */
async function found({ runtime }: Fixture, options: SkillManagerOptions = {}): Promise<Discovery> {
  return await new SkillManager({ runtime, ...options }).discover()
}

it('finds nothing and reports nothing in a project without skills', async () => {
  const place = fixture()
  mkdirSync(join(place.project, '.claude/skills'), { recursive: true })
  expect(await found(place)).toEqual({
    skills: [],
    shadowed: [],
    conflicts: [],
    broken: [],
    diagnostics: [],
  })
})

it('returns the place, the tokens and the fields of each skill', () => {
  const place = fixture()
  const body = 'x'.repeat(4000)
  const directory = place.skill('project/.claude/skills/a', { more: 'license: MIT', body })
  const [info] = discover(place).skills
  expect(info).toMatchObject({
    name: 'a',
    description: 'Does a. Use when asked for a.',
    path: join(directory, 'SKILL.md'),
    directory,
    realDirectory: directory,
    scope: 'project',
    source: '.claude/skills',
    trustLevel: 'untrusted',
    tokens: { metadata: 8, body: 1001 },
    shadows: [],
    diagnostics: [],
  })
  expect(info?.fields.license).toBe('MIT')
})

it('orders skills by location, and within a location by code point', () => {
  const place = fixture()
  place.skill('home/.claude/skills/c')
  place.skill('project/.claude/skills/b')
  place.skill('project/.claude/skills/Z')
  place.skill('project/.agents/skills/y')
  place.skill('project/.skillrail/skills/x')
  expect(names(discover(place))).toEqual(['x', 'y', 'Z', 'b', 'c'])
})

async function both(
  options: SkillManagerOptions = {},
): Promise<{ discovery: Discovery; place: Fixture }> {
  const place = fixture()
  place.skill('project/.claude/skills/a', { body: 'project' })
  place.skill('home/.claude/skills/a', { body: 'user' })
  return { discovery: await found(place, { workspaceTrust: 'trusted', ...options }), place }
}

describe('skills of one name', () => {
  it('prefers the project over the user for one name and reports which skill is hidden', async () => {
    const { discovery, place } = await both()
    expect(discovery.skills).toMatchObject([
      { scope: 'project', shadows: [join(place.home, '.claude/skills/a/SKILL.md')] },
    ])
    expect(discovery.shadowed).toMatchObject([{ scope: 'user' }])
  })

  it('prefers the user in two scopes if the options say so', async () => {
    const { discovery } = await both({ precedence: 'user' })
    expect(discovery.skills).toMatchObject([{ scope: 'user' }])
  })

  it('never lets an untrusted skill hide a trusted skill', async () => {
    const { discovery } = await both({ workspaceTrust: 'ask' })
    expect(discovery.skills).toMatchObject([{ scope: 'user', trustLevel: 'trusted' }])
    expect(discovery.shadowed).toMatchObject([{ scope: 'project', trustLevel: 'untrusted' }])
  })

  it('prefers the earlier location, and the nearer directory, within a scope', () => {
    const place = fixture()
    place.skill('project/.claude/skills/a')
    place.skill('project/.skillrail/skills/a')
    place.skill('project/app/.mamba/skills/a')
    const runtime = { ...place.runtime, cwd: join(place.project, 'app') }
    const { skills, shadowed } = discover({ ...place, runtime })
    expect(skills.map(({ source }) => source)).toEqual(['.mamba/skills'])
    expect(shadowed.map(({ source }) => source)).toEqual(['.skillrail/skills', '.claude/skills'])
  })

  it('reports a conflict for different skills in one location, and keeps all others usable', () => {
    const place = fixture()
    place.skill('project/.claude/skills/one', { name: 'twin' })
    place.skill('project/.claude/skills/two', { name: 'twin', body: 'other' })
    place.skill('project/.claude/skills/fine')
    place.skill('home/.claude/skills/twin')
    const discovery = discover(place, { workspaceTrust: 'trusted' })
    expect(names(discovery)).toEqual(['fine'])
    expect(discovery.conflicts.map(codes)).toEqual([
      ['name-directory-mismatch', 'skill-conflict'],
      ['name-directory-mismatch', 'skill-conflict'],
    ])
    expect(discovery.conflicts[0]?.diagnostics[1]?.message).toContain('two/SKILL.md')
    expect(discovery.shadowed).toMatchObject([{ scope: 'user' }])
  })

  it('uses one of two copies in one location', () => {
    const place = fixture()
    const text = skillText('twin')
    place.write({
      'project/.claude/skills/twin/SKILL.md': text,
      'project/.claude/skills/copy/SKILL.md': text,
    })
    const { skills, conflicts } = discover(place)
    expect(skills).toMatchObject([{ directory: join(place.project, '.claude/skills/copy') }])
    expect(conflicts).toEqual([])
  })

  it('counts a real directory once, without a hidden skill', () => {
    const place = fixture()
    place.skill('project/.agents/skills/a')
    mkdirSync(join(place.project, '.claude'))
    symlinkSync('../.agents/skills', join(place.project, '.claude/skills'))
    const { skills, shadowed } = discover(place)
    expect(skills).toMatchObject([{ source: '.agents/skills', shadows: [] }])
    expect(shadowed).toEqual([])
  })

  it('treats names that differ only in case as two skills', () => {
    const place = fixture()
    place.skill('project/.claude/skills/Deploy')
    place.skill('project/.claude/skills/deploy')
    const discovery = discover(place)
    expect(names(discovery)).toEqual(['Deploy', 'deploy'])
  })
})

describe('trust by place', () => {
  it('comes from the record of the workspace, the trusted paths and the scope', async () => {
    const place = fixture()
    place.skill('project/.claude/skills/a')
    place.skill('custom/b')
    place.skill('vouched/c')
    place.skill('home/.claude/skills/d')
    const options = {
      customPaths: [join(place.root, 'custom'), join(place.root, 'vouched')],
      trustedPaths: [join(place.root, 'vouched')],
    }
    const levels = (): string[] => discover(place, options).skills.map((info) => info.trustLevel)
    expect(levels()).toEqual(['untrusted', 'trusted', 'untrusted', 'trusted'])
    const parts = collectActingParts(place.project, [])
    await new TrustStore(place.runtime).accept(place.project, parts)
    expect(levels()).toEqual(['trusted', 'trusted', 'untrusted', 'trusted'])
  })

  it('does not come from a link out of a trusted workspace', () => {
    const place = fixture()
    place.skill('elsewhere/a')
    mkdirSync(join(place.project, '.claude/skills'), { recursive: true })
    symlinkSync(join(place.root, 'elsewhere/a'), join(place.project, '.claude/skills/a'))
    const { skills } = discover(place, { workspaceTrust: 'trusted' })
    expect(skills).toMatchObject([{ name: 'a', trustLevel: 'untrusted' }])
  })
})

describe('names', () => {
  it.each([
    ['of another directory', 'name: other', 'other', 'name-directory-mismatch'],
    ['that is missing', 'license: MIT', 'dir', 'name-missing'],
    ['that looks like a path', 'name: ../../etc', 'dir', 'name-unusable'],
    ['that is two dots', 'name: ..', 'dir', 'name-unusable'],
  ])('loads a name with a warning: %s', (_case, line, name, code) => {
    const place = fixture()
    place.write({ 'project/.claude/skills/dir/SKILL.md': `---\n${line}\ndescription: D.\n---\n` })
    const [info] = discover(place).skills
    expect(info?.name).toBe(name)
    expect(info?.diagnostics).toMatchObject([{ code, severity: 'warning' }])
  })
})

it('reports a name with a control character if its directory has the same name', () => {
  const place = fixture()
  const text = '---\nname: "a\\x01b"\ndescription: D.\n---\n'
  place.write({ 'project/.claude/skills/a\u0001b/SKILL.md': text })
  expect(discover(place).skills[0]?.diagnostics).toMatchObject([{ code: 'name-unusable' }])
})

describe('a broken skill hides no other one', () => {
  const broken: readonly [string, string | Buffer, string][] = [
    ['without frontmatter', '# Hello\n', 'frontmatter-missing'],
    ['with an open frontmatter', '---\nname: bad\n', 'frontmatter-unclosed'],
    ['without a description', '---\nname: bad\n---\n', 'description-missing'],
    ['with a list', '---\n- a\n---\n', 'frontmatter-not-mapping'],
    ['that is empty', '', 'frontmatter-missing'],
    ['that is not UTF-8', Buffer.from([0x2d, 0x2d, 0x2d, 0x0a, 0xff, 0xfe]), 'file-not-utf8'],
    [
      'with more frontmatter than anybody reads',
      `---\na: ${'x'.repeat(70_000)}\n---\n`,
      'frontmatter-too-large',
    ],
  ]
  it.each(broken)('finds the other skills beside a skill %s', async (_case, content, code) => {
    const place = fixture()
    place.skill('project/.claude/skills/good')
    mkdirSync(join(place.project, '.claude/skills/bad'))
    writeFileSync(join(place.project, '.claude/skills/bad/SKILL.md'), content)
    const discovery = await found(place)
    expect(names(discovery)).toEqual(['good'])
    expect(discovery.broken).toMatchObject([{ name: 'bad', scope: 'project' }])
    expect(codes(discovery)).toEqual([code])
  })

  it.skipIf(process.platform === 'win32')(
    'finds the other skills beside a link to a named pipe',
    () => {
      const place = fixture()
      place.skill('project/.claude/skills/good')
      mkdirSync(join(place.project, '.claude/skills/bad'))
      execFileSync('mkfifo', [join(place.root, 'pipe')])
      symlinkSync(join(place.root, 'pipe'), join(place.project, '.claude/skills/bad/SKILL.md'))
      const discovery = discover(place)
      expect(names(discovery)).toEqual(['good'])
      expect(discovery.diagnostics).toMatchObject([
        { code: 'file-not-regular', message: 'the file is no regular file' },
      ])
    },
  )

  it('finds the other skills beside a link that leads in a circle', () => {
    const place = fixture()
    place.skill('project/.claude/skills/good')
    mkdirSync(join(place.project, '.claude/skills/bad'))
    symlinkSync('SKILL.md', join(place.project, '.claude/skills/bad/SKILL.md'))
    const discovery = discover(place)
    expect(names(discovery)).toEqual(['good'])
    expect(codes(discovery)).toEqual(['file-not-regular'])
  })

  it('finds the other skills beside an unusually long frontmatter', () => {
    const place = fixture()
    const more = Array.from({ length: 200 }, (_, index) => `# ${index} ${'é'.repeat(40)}`).join(
      '\n',
    )
    place.skill('project/.claude/skills/long', { more, body: 'x'.repeat(400) })
    expect(discover(place).skills).toMatchObject([{ name: 'long', tokens: { body: 101 } }])
  })
})

describe('files that this user may not read', () => {
  const isRoot = process.getuid?.() === 0
  const script = `
    import { discoverSkills } from ${JSON.stringify(new URL('../../src/library/discover.ts', import.meta.url).href)}
    import { systemRuntime } from ${JSON.stringify(new URL('../../src/core/runtime.ts', import.meta.url).href)}
    const [cwd, home] = process.argv.slice(1)
    const runtime = systemRuntime({ cwd, home, env: {} })
    const { skills, diagnostics } = discoverSkills({ runtime })
    console.log(JSON.stringify({ names: skills.map((s) => s.name), codes: diagnostics.map((d) => d.code) }))
  `
  const nobody = 65_534
  const canBeNobody = ((): boolean => {
    try {
      execFileSync(
        process.execPath,
        [
          '--input-type=module',
          '-e',
          `await import(${JSON.stringify(new URL('../../src/library/discover.ts', import.meta.url).href)})`,
        ],
        {
          stdio: 'ignore',
          ...(isRoot ? { uid: nobody, gid: nobody } : {}),
        },
      )
      return process.platform !== 'win32'
    } catch {
      return false
    }
  })()

  it.skipIf(!canBeNobody)('are reported, like directories, and the rest is found', () => {
    const place = fixture()
    place.skill('project/.claude/skills/good')
    const file = place.skill('project/.claude/skills/secret-file')
    const directory = place.skill('project/.claude/skills/secret-directory')
    for (const path of [place.root, place.home]) chmodSync(path, 0o755)
    chmodSync(join(file, 'SKILL.md'), 0o000)
    chmodSync(directory, 0o000)
    const output = execFileSync(
      process.execPath,
      ['--input-type=module', '-e', script, place.project, place.home],
      { encoding: 'utf8', ...(isRoot ? { uid: nobody, gid: nobody } : {}) },
    )
    chmodSync(directory, 0o755)
    expect(JSON.parse(output)).toEqual({
      names: ['good'],
      codes: ['directory-unreadable', 'file-unreadable'],
    })
  })
})

it('finds the steps of a chain inside its folder, and no samples inside other skills', () => {
  const place = fixture()
  place.skill('project/.claude/skills/release', { more: 'metadata:\n  chain: build publish' })
  place.skill('project/.claude/skills/release/build')
  place.skill('project/.claude/skills/release/assets/sample')
  place.skill('project/.claude/skills/creator')
  place.skill('project/.claude/skills/creator/examples/sample')
  expect(names(discover(place))).toEqual(['creator', 'release', 'build'])
})

it('reports a directory of skills without a SKILL.md', async () => {
  const place = fixture()
  place.skill('project/.claude/skills/group/deep/a')
  for (const name of ['empty', '_drafts', '.hidden']) {
    mkdirSync(join(place.project, '.claude/skills', name))
  }
  const discovery = await found(place)
  expect(names(discovery)).toEqual(['a'])
  expect(discovery.diagnostics).toMatchObject([
    { code: 'skill-file-missing', path: join(place.project, '.claude/skills/empty') },
  ])
})

it('reports a missing custom path, but no missing standard path', () => {
  const place = fixture()
  const discovery = discover(place, { customPaths: ['gone'] })
  expect(discovery.diagnostics).toMatchObject([
    { code: 'directory-missing', path: join(place.project, 'gone') },
  ])
})

it('reports a skill that leads to itself, and still lists it', () => {
  const place = fixture()
  place.skill('project/.claude/skills/loop', { more: 'metadata:\n  chain: a loop' })
  const { skills } = discover(place)
  expect(skills.map(codes)).toEqual([['skill-refers-to-itself']])
})

it('finishes if a skill disappears during the search', () => {
  const place = fixture()
  place.skill('project/.claude/skills/stays')
  const going = place.skill('project/.claude/skills/goes')
  rmSync(join(going, 'SKILL.md'))
  expect(names(discover(place))).toEqual(['stays'])
})
