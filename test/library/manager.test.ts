import { rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  SkillManager,
  type SkillManagerOptions,
  type SkillTool,
  defineSkill,
} from '../../src/library/manager.ts'
import {
  SkillConflictError,
  SkillInvocationError,
  SkillLoadError,
  SkillNotFoundError,
  SkillParseError,
  SkillValidationError,
} from '../../src/skill/errors.ts'
import { collectActingParts } from '../../src/trust/acting-parts.ts'
import { TrustStore } from '../../src/trust/store.ts'
import { runCli } from '../cli/run-cli.ts'
import { type Fixture, fixture } from './_fixture.ts'

function manager({ runtime }: Fixture, options: SkillManagerOptions = {}): SkillManager {
  return new SkillManager({ runtime, useIndex: false, workspaceTrust: 'trusted', ...options })
}

const greet = defineSkill({ name: 'greet', description: 'Greets.', body: 'Greet $0.' })

describe('discovery', () => {
  it('starts with the first call', async () => {
    const place = fixture()
    place.skill('project/.claude/skills/a')
    const skills = manager(place)
    expect((await skills.list()).map(({ name }) => name)).toEqual(['a'])
    place.skill('project/.claude/skills/b')
    expect(await skills.list()).toHaveLength(1)
    expect((await skills.discover()).skills).toHaveLength(2)
    expect(await skills.list()).toHaveLength(2)
  })

  it('does not start by itself if autoDiscover is off', async () => {
    const place = fixture()
    place.skill('project/.claude/skills/a')
    const skills = manager(place, { autoDiscover: false })
    expect(await skills.list()).toEqual([])
    await skills.discover()
    expect(await skills.list()).toHaveLength(1)
  })

  it('discovers skills in the directories of its options', async () => {
    const place = fixture()
    place.skill('project/skills/a')
    place.skill('home/mine/b')
    place.skill('more/c')
    const skills = manager(place, {
      skillsDirs: ['skills'],
      userSkillsDir: '~/mine',
      customPaths: [join(place.root, 'more')],
    })
    expect((await skills.list()).map(({ name, scope }) => [name, scope])).toEqual([
      ['a', 'project'],
      ['b', 'user'],
      ['c', 'custom'],
    ])
  })
})

describe('get', () => {
  it('reads the body of a skill in get and not before', async () => {
    const place = fixture()
    const directory = place.skill('project/.claude/skills/a', { body: 'First.' })
    place.write({ 'project/.claude/skills/a/references/x.md': 'x' })
    const skills = manager(place)
    await skills.list()
    place.skill('project/.claude/skills/a', { body: 'Second.' })
    const skill = await skills.get('a')
    expect(skill).toMatchObject({ body: 'Second.', info: { directory } })
    expect(skill?.digest).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(skill?.resources.files.map(({ path }) => path)).toEqual(['references/x.md'])
  })

  it('returns undefined for an unknown name', async () => {
    expect(await manager(fixture()).get('a')).toBeUndefined()
  })

  it('throws for skills that cannot be used', async () => {
    const place = fixture()
    place.write({ 'project/.claude/skills/bad/SKILL.md': 'x' })
    place.skill('project/.claude/skills/one', { name: 'twin' })
    place.skill('project/.claude/skills/two', { name: 'twin', body: 'x' })
    place.skill('project/.claude/skills/loop', { more: 'metadata:\n  chain: loop' })
    place.skill('project/.claude/skills/self', { body: 'Read [this](SKILL.md#top) again.' })
    place.skill('project/.claude/skills/large', { body: 'x'.repeat(1024 * 1024) })
    const skills = manager(place)
    await expect(skills.get('bad')).rejects.toThrow(SkillParseError)
    await expect(skills.get('twin')).rejects.toThrow(SkillConflictError)
    await expect(skills.get('loop')).rejects.toThrow('the chain names its own skill, loop')
    await expect(skills.get('self')).rejects.toThrow('its body links to its own SKILL.md')
    await expect(skills.get('large')).rejects.toThrow(SkillLoadError)
    expect(await skills.list()).toHaveLength(2)
  })

  it('throws if a skill was removed or broken after the search', async () => {
    const place = fixture()
    const gone = place.skill('project/.claude/skills/gone')
    const broken = place.skill('project/.claude/skills/broken')
    const skills = manager(place)
    await skills.list()
    rmSync(gone, { recursive: true })
    writeFileSync(join(broken, 'SKILL.md'), 'nothing')
    await expect(skills.get('gone')).rejects.toThrow(SkillNotFoundError)
    await expect(skills.get('gone')).rejects.toThrow(
      `Skill gone was found, but ${join(gone, 'SKILL.md')} does not exist any more.`,
    )
    await expect(skills.get('broken')).rejects.toThrow(SkillParseError)
  })
})

describe('trust', () => {
  it("trusts the user's skills and the skills of an accepted project, and no others", async () => {
    const place = fixture()
    place.skill('home/.claude/skills/mine')
    place.skill('project/.claude/skills/theirs')
    place.skill('project/more/other')
    const levels = async (): Promise<string[]> => {
      const skills = manager(place, { workspaceTrust: 'ask', customPaths: ['more'] })
      return (await skills.list()).map(({ name, trustLevel }) => `${name} ${trustLevel}`)
    }
    const trust = (...args: string[]) => runCli(args, { cwd: place.project, home: place.home })
    const before = ['theirs untrusted', 'mine trusted', 'other untrusted']
    expect(await levels()).toEqual(before)
    expect(await trust('trust', '--yes')).toMatchObject({ code: 0 })
    expect(await levels()).toEqual(['theirs trusted', 'mine trusted', 'other untrusted'])
    expect(await trust('trust', '--revoke')).toMatchObject({ code: 0 })
    expect(await levels()).toEqual(before)
  })

  it('trusts skills below a trusted path, by real paths', async () => {
    const { root, runtime, skill } = fixture()
    for (const directory of ['good/a', 'good-evil/b', 'evil/c']) skill(directory)
    symlinkSync(join(root, 'evil/c'), join(root, 'good/c'))
    symlinkSync(join(root, 'good'), join(root, 'alias'))
    const skills = new SkillManager({
      runtime,
      customPaths: [join(root, 'good'), join(root, 'good-evil')],
      trustedPaths: [join(root, 'alias')],
    })
    const levels = (await skills.list()).map(({ name, trustLevel }) => `${name} ${trustLevel}`)
    expect(levels).toEqual(['a trusted', 'c untrusted', 'b untrusted'])
  })
})

describe('register', () => {
  it('registers a skill from code as trusted and with precedence', async () => {
    const place = fixture()
    place.skill('project/.claude/skills/greet')
    const skills = manager(place, { workspaceTrust: 'ask' })
    await skills.register(greet)
    expect(await skills.list()).toMatchObject([
      { name: 'greet', scope: 'code', trustLevel: 'trusted' },
    ])
    expect((await skills.get('greet'))?.body).toBe('Greet $0.')
    expect((await skills.discover()).shadowed).toMatchObject([{ scope: 'project' }])
  })

  it('registers a path as untrusted unless the path is trusted', async () => {
    const place = fixture()
    const directory = place.skill('elsewhere/a')
    const skills = manager(place)
    expect(await skills.register(directory)).toMatchObject({
      scope: 'custom',
      trustLevel: 'untrusted',
    })
    const trusting = manager(place, { trustedPaths: [join(place.root, 'elsewhere')] })
    expect(await trusting.register(directory)).toMatchObject({ trustLevel: 'trusted' })
  })

  it('registers a skill from another search', async () => {
    const place = fixture()
    place.skill('project/.claude/skills/a')
    const [info] = await manager(place).list()
    const skills = manager(place, { autoDiscover: false })
    if (info !== undefined) await skills.register(info)
    expect((await skills.list()).map(({ name }) => name)).toEqual(['a'])
  })

  it('accepts a skill twice and refuses another skill of its name', async () => {
    const place = fixture()
    const skills = manager(place)
    await skills.register(greet)
    await skills.register(greet)
    const other = defineSkill({ name: 'greet', description: 'Greets.', body: 'Other.' })
    await expect(skills.register(other)).rejects.toThrow(SkillConflictError)
    await skills.register(place.skill('one/a'))
    await skills.register(join(place.root, 'one/a'))
    await expect(skills.register(place.skill('two/a', { body: 'x' }))).rejects.toThrow(
      SkillConflictError,
    )
    await expect(skills.register(place.skill('two/greet'))).rejects.toThrow(SkillConflictError)
  })

  it.each([
    ['that does not exist', {}, SkillNotFoundError],
    ['that is broken', { 'x/a/SKILL.md': '---\nname: [\n---\n' }, SkillParseError],
    ['that lacks a field', { 'x/a/SKILL.md': '---\nname: a\n---\n' }, SkillValidationError],
    [
      'that leads to itself',
      { 'x/a/SKILL.md': '---\nname: a\ndescription: D.\nmetadata:\n  chain: a\n---\n' },
      SkillLoadError,
    ],
  ])('refuses to register a path %s', async (_case, files, error) => {
    const place = fixture()
    place.write(files)
    await expect(manager(place).register(join(place.root, 'x/a'))).rejects.toThrow(error)
  })

  it('removes a skill, its tools and its activation in deregister', async () => {
    const place = fixture()
    place.skill('project/.claude/skills/a')
    const skills = manager(place)
    await skills.register(greet)
    skills.registerTool('greet', tool('wave'))
    await skills.activate('greet')
    expect(await skills.deregister('greet')).toBe(true)
    expect(await skills.deregister('greet')).toBe(false)
    expect(skills.getAllTools()).toEqual([])
    expect(skills.activeSkills).toEqual([])
    expect(await skills.deregister('a')).toBe(true)
    await skills.discover()
    expect(await skills.list()).toEqual([])
  })
})

it.each([
  [{ name: 'Bad Name' }, '"Bad Name"'],
  [{ name: 'a--b' }, 'a name is'],
  [{ name: '' }, 'a name is'],
  [{ description: ' ' }, 'a description'],
  [{ description: 'x'.repeat(1025) }, 'a description'],
])('refuses to define a skill with %j', (wrong, message) => {
  const define = (): unknown => defineSkill({ name: 'a', description: 'D.', body: '', ...wrong })
  expect(define).toThrow(SkillValidationError)
  expect(define).toThrow(message)
})

describe('activate', () => {
  it('checks who invokes a skill before anything else', async () => {
    const place = fixture()
    place.skill('project/.claude/skills/a', {
      more: 'disable-model-invocation: true',
      body: 'Do $ARGUMENTS.',
    })
    const skills = manager(place)
    await expect(skills.activate('a', '', { source: 'model' })).rejects.toThrow(
      SkillInvocationError,
    )
    expect(skills.activeSkills).toEqual([])
    const { content } = await skills.activate('a', 'it now', { source: 'user' })
    expect(content).toContain('Do it now.')
    expect(skills.activeSkills).toEqual(['a'])
  })

  it('suggests a name for one that does not exist', async () => {
    const place = fixture()
    place.skill('project/.claude/skills/deploy')
    await expect(manager(place).activate('deplyo')).rejects.toMatchObject({
      code: 'skill-not-found',
      hint: expect.stringContaining('Did you mean deploy?'),
    })
  })

  it('names the searched places: existing ones, and those in the options', async () => {
    const place = fixture()
    place.skill('project/.claude/skills/deploy')
    place.skill('project/elsewhere/other')
    const places = [join(place.project, '.claude/skills'), join(place.project, 'elsewhere')]
    await expect(
      manager(place, { customPaths: ['elsewhere'] }).activate('missing'),
    ).rejects.toMatchObject({
      hint: expect.stringMatching(new RegExp(`Looked in ${places.join(', ')}\\.$`)),
    })
  })

  it('repeats content only if the conversation has lost it', async () => {
    const place = fixture()
    place.skill('project/.claude/skills/a', { body: 'First.' })
    const skills = manager(place)
    const repeated = async (stillInContext: boolean, args = ''): Promise<boolean> =>
      (await skills.activate('a', args, { stillInContext })).repeated
    expect(await repeated(true)).toBe(false)
    expect(await repeated(true)).toBe(true)
    expect(await repeated(false)).toBe(false)
    expect(await repeated(true, 'x')).toBe(false)
    place.skill('project/.claude/skills/a', { body: 'Other.' })
    expect(await repeated(true, 'x')).toBe(false)
  })

  it('withholds hooks and approvals after an acting part changed in a trusted workspace', async () => {
    const place = fixture()
    place.skill('project/.claude/skills/a', { more: 'allowed-tools: Read' })
    const skills = manager(place, { workspaceTrust: 'ask' })
    const [info] = await skills.list()
    const acting = info === undefined ? [] : [info]
    await new TrustStore(place.runtime).accept(
      place.project,
      collectActingParts(place.project, acting),
    )
    await skills.discover()
    expect((await skills.activate('a')).effects.preApproved).toEqual([{ tool: 'Read' }])
    place.skill('project/.claude/skills/a', { more: 'allowed-tools: Read Bash' })
    expect(await skills.activate('a')).toMatchObject({
      trustLevel: 'untrusted',
      effects: { preApproved: [] },
    })
  })
})

describe('tools and approvals', () => {
  it("returns a skill's tools while the skill is active, and the earlier tools afterwards", async () => {
    const place = fixture()
    place.skill('project/.claude/skills/a', { more: 'allowed-tools: Read Bash(git:*)' })
    place.skill('project/.claude/skills/b', { more: 'allowed-tools: Read' })
    place.skill('outside/c', { more: 'allowed-tools: Grep' })
    const skills = manager(place, { customPaths: [join(place.root, 'outside')] })
    skills.registerTool('a', tool('search'))
    skills.registerTool('b', tool('search'))
    const state = (): unknown => ({
      tools: skills.getAllTools().map(({ name }) => name),
      permissions: skills.permissions(),
    })
    const empty = state()
    await skills.activate('b')
    const withB = state()
    await skills.activate('a')
    await skills.activate('c')
    expect(state()).toEqual({
      tools: ['b.search', 'a.search'],
      permissions: {
        preApproved: [{ tool: 'Read' }, { tool: 'Read' }, { tool: 'Bash', pattern: 'git:*' }],
        narrowedTo: [[{ tool: 'Grep' }]],
      },
    })
    await skills.deactivate('a')
    expect(await skills.deactivate('c')).toBe(true)
    expect(state()).toEqual(withB)
    expect(await skills.deactivate('b')).toBe(true)
    expect(await skills.deactivate('b')).toBe(false)
    expect(state()).toEqual(empty)
  })

  it('prefixes tools with the name of their skill, unless namespaceTools is false', async () => {
    const place = fixture()
    const prefixed = manager(place)
    const bare = manager(place, { namespaceTools: false })
    for (const skills of [prefixed, bare]) skills.registerTool('a', tool('search'))
    expect(prefixed.getTools('a')).toMatchObject([
      { name: 'a.search', toolName: 'search', skill: 'a' },
    ])
    expect(bare.getTools('a')).toMatchObject([{ name: 'search' }])
    expect(prefixed.getTools('other')).toEqual([])
  })

  it("run the program's function", async () => {
    const skills = manager(fixture())
    skills.registerTool('a', { ...tool('double'), execute: (input) => Number(input) * 2 })
    expect(await skills.getTools('a')[0]?.execute(21)).toBe(42)
  })

  it('conflict if one skill has two tools of one name', () => {
    const skills = manager(fixture())
    skills.registerTool('a', tool('x'))
    expect(() => skills.registerTool('a', tool('x'))).toThrow(SkillConflictError)
    skills.deregisterTool('a', 'x')
    skills.registerTool('a', tool('x'))
  })
})

describe('validate', () => {
  it('validates a skill by its directory and by its file', async () => {
    const place = fixture()
    place.skill('project/Bad')
    const skills = manager(place)
    for (const path of ['Bad', './Bad/SKILL.md', join(place.project, 'Bad')]) {
      expect(await skills.validate(path)).toMatchObject({ valid: false, name: 'Bad' })
    }
    place.skill('project/fine', { body: '# Fine\n\nDo it.' })
    expect(await skills.validate('fine')).toMatchObject({ valid: true })
  })

  it('reports a file that cannot be read', async () => {
    const place = fixture()
    place.write({ 'project/dir/SKILL.md/x': '' })
    expect(await manager(place).validate('dir')).toMatchObject({
      valid: false,
      diagnostics: [{ code: 'file-not-regular' }],
    })
    expect(await manager(place).validate('gone')).toMatchObject({
      valid: false,
      diagnostics: [{ code: 'skill-file-missing' }],
    })
  })
})

it('reads a resource of a skill', async () => {
  const place = fixture()
  place.skill('project/.claude/skills/a')
  place.write({ 'project/.claude/skills/a/references/x.md': 'Text.' })
  const skills = manager(place)
  expect(await skills.readResource('a', 'references/x.md')).toMatchObject({ text: 'Text.' })
  await expect(skills.readResource('a', '../b')).rejects.toThrow(SkillLoadError)
  await expect(skills.readResource('b', 'x')).rejects.toThrow(SkillNotFoundError)
})

function tool(name: string): SkillTool {
  return { name, execute: () => undefined }
}
