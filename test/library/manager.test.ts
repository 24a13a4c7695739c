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
import { type World, world } from './_world.ts'

function manager({ runtime }: World, options: SkillManagerOptions = {}): SkillManager {
  return new SkillManager({ runtime, useIndex: false, workspaceTrust: 'trusted', ...options })
}

const greet = defineSkill({ name: 'greet', description: 'Greets.', body: 'Greet $0.' })

describe('discovery', () => {
  it('happens by itself with the first question', async () => {
    const place = world()
    place.skill('project/.claude/skills/a')
    const skills = manager(place)
    expect((await skills.list()).map(({ name }) => name)).toEqual(['a'])
    place.skill('project/.claude/skills/b')
    expect(await skills.list()).toHaveLength(1)
    expect((await skills.discover()).skills).toHaveLength(2)
    expect(await skills.list()).toHaveLength(2)
  })

  it('does not happen by itself where that is switched off', async () => {
    const place = world()
    place.skill('project/.claude/skills/a')
    const skills = manager(place, { autoDiscover: false })
    expect(await skills.list()).toEqual([])
    await skills.discover()
    expect(await skills.list()).toHaveLength(1)
  })

  it('US-002 AC1, US-002 AC2, US-002 AC3: takes the directories of its options', async () => {
    const place = world()
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
  it('US-002 AC5, US-003 AC4, defect 9: reads the body when it is asked for', async () => {
    const place = world()
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

  it('knows no skill of another name', async () => {
    expect(await manager(world()).get('a')).toBeUndefined()
  })

  it('5.2 edge 3, 6.2 validation 1: throws for what is there and cannot be used', async () => {
    const place = world()
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

  it('says so when a skill is gone, or broken, since it was listed', async () => {
    const place = world()
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
  it('US-006 AC2: comes by place: the user’s are trusted, a project’s once it is accepted, others not', async () => {
    const place = world()
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

  it('US-006 AC8: holds below a trusted path, by real paths only', async () => {
    const { root, runtime, skill } = world()
    for (const directory of ['good/a', 'good-evil/b', 'evil/c']) skill(directory)
    symlinkSync(join(root, 'evil/c'), join(root, 'good/c'))
    symlinkSync(join(root, 'good'), join(root, 'alias'))
    const skills = new SkillManager({
      runtime,
      customPaths: [join(root, 'good'), join(root, 'good-evil')],
      trustedPaths: [join(root, 'alias'), join(root, 'missing')],
    })
    const levels = (await skills.list()).map(({ name, trustLevel }) => `${name} ${trustLevel}`)
    expect(levels).toEqual(['a trusted', 'c untrusted', 'b untrusted'])
  })
})

describe('register', () => {
  it('US-003 AC1, US-003 AC3: takes a skill that was made in code, which is trusted and wins', async () => {
    const place = world()
    place.skill('project/.claude/skills/greet')
    const skills = manager(place, { workspaceTrust: 'ask' })
    await skills.register(greet)
    expect(await skills.list()).toMatchObject([
      { name: 'greet', scope: 'code', trustLevel: 'trusted' },
    ])
    expect((await skills.get('greet'))?.body).toBe('Greet $0.')
    expect((await skills.discover()).shadowed).toMatchObject([{ scope: 'project' }])
  })

  it('defect 7: takes a path, whose skill is untrusted unless its place is trusted', async () => {
    const place = world()
    const directory = place.skill('elsewhere/a')
    const skills = manager(place)
    expect(await skills.register(directory)).toMatchObject({
      scope: 'custom',
      trustLevel: 'untrusted',
    })
    const trusting = manager(place, { trustedPaths: [join(place.root, 'elsewhere')] })
    expect(await trusting.register(directory)).toMatchObject({ trustLevel: 'trusted' })
  })

  it('takes what another search found', async () => {
    const place = world()
    place.skill('project/.claude/skills/a')
    const [info] = await manager(place).list()
    const skills = manager(place, { autoDiscover: false })
    if (info !== undefined) await skills.register(info)
    expect((await skills.list()).map(({ name }) => name)).toEqual(['a'])
  })

  it('US-003 AC5: takes the same skill twice, and refuses another one of its name', async () => {
    const place = world()
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
  ])('5.1 error 1, 5.2 edge 5: refuses a path %s', async (_case, files, error) => {
    const place = world()
    place.write(files)
    await expect(manager(place).register(join(place.root, 'x/a'))).rejects.toThrow(error)
  })

  it('US-003 AC2: goes back with deregister, with tools and activation', async () => {
    const place = world()
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
  it('US-004 AC1, US-004 AC4: is for everybody the skill allows', async () => {
    const place = world()
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
    const place = world()
    place.skill('project/.claude/skills/deploy')
    await expect(manager(place).activate('deplyo')).rejects.toMatchObject({
      code: 'skill-not-found',
      hint: expect.stringContaining('Did you mean deploy?'),
    })
  })

  it('says where it looked: places that exist, and those that the program named', async () => {
    const place = world()
    place.skill('project/.claude/skills/deploy')
    const places = [join(place.project, '.claude/skills'), join(place.project, 'elsewhere')]
    await expect(
      manager(place, { customPaths: ['elsewhere'] }).activate('missing'),
    ).rejects.toMatchObject({
      hint: expect.stringMatching(new RegExp(`Looked in ${places.join(', ')}\\.$`)),
    })
  })

  it('repeats content only when the conversation has lost it', async () => {
    const place = world()
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

  it('withholds what acts once it has changed in a trusted workspace', async () => {
    const place = world()
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
  it('US-004 AC7, US-004 AC9, 10.2 loading 4: are there while the skill is active, and exactly as before afterwards', async () => {
    const place = world()
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

  it('US-003 AC6: have the name of their skill in front, unless that is switched off', async () => {
    const place = world()
    const prefixed = manager(place)
    const bare = manager(place, { namespaceTools: false })
    for (const skills of [prefixed, bare]) skills.registerTool('a', tool('search'))
    expect(prefixed.getTools('a')).toMatchObject([
      { name: 'a.search', toolName: 'search', skill: 'a' },
    ])
    expect(bare.getTools('a')).toMatchObject([{ name: 'search' }])
    expect(prefixed.getTools('other')).toEqual([])
  })

  it('run what the program gave', async () => {
    const skills = manager(world())
    skills.registerTool('a', { ...tool('double'), execute: (input) => Number(input) * 2 })
    expect(await skills.getTools('a')[0]?.execute(21)).toBe(42)
  })

  it('of one name in one skill are a conflict', () => {
    const skills = manager(world())
    skills.registerTool('a', tool('x'))
    expect(() => skills.registerTool('a', tool('x'))).toThrow(SkillConflictError)
    skills.deregisterTool('a', 'x')
    skills.registerTool('a', tool('x'))
  })
})

describe('validate', () => {
  it('US-006 AC7: checks a skill by the specification, by directory and by file', async () => {
    const place = world()
    place.skill('project/Bad')
    const skills = manager(place)
    for (const path of ['Bad', './Bad/SKILL.md', join(place.project, 'Bad')]) {
      expect(await skills.validate(path)).toMatchObject({ valid: false, name: 'Bad' })
    }
    place.skill('project/fine', { body: '# Fine\n\nDo it.' })
    expect(await skills.validate('fine')).toMatchObject({ valid: true })
  })

  it('says what is wrong with what cannot be read', async () => {
    const place = world()
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
  const place = world()
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
