import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  defineSkill,
  SkillConflictError,
  SkillManager,
  SkillNotFoundError,
} from '../../src/entries/index.ts'
import { type Fixture, fixture } from '../library/_fixture.ts'

const greet = defineSkill({ name: 'greet', description: 'Greets.', body: 'Greet $0.' })

function skillsOf({ runtime }: Fixture): SkillManager {
  return new SkillManager({ runtime, workspaceTrust: 'trusted' })
}

describe('the methods of a SkillManager', () => {
  it('constructs one without options', async () => {
    const skills = new SkillManager()
    await skills.register(greet)
    expect(await skills.get('greet')).toMatchObject({ info: { name: 'greet' } })
  })

  it('discover returns the metadata of every skill and finds new ones', async () => {
    const place = fixture()
    const skills = skillsOf(place)
    expect(await skills.discover()).toMatchObject({ skills: [], broken: [] })
    place.skill('project/.agents/skills/late', { description: 'Comes late. Use when asked.' })
    const { skills: found } = await skills.discover()
    expect(found).toMatchObject([{ name: 'late', description: 'Comes late. Use when asked.' }])
    expect(found[0]).not.toHaveProperty('body')
  })

  it('register accepts a skill, the metadata of one and a path', async () => {
    const place = fixture()
    const elsewhere = place.skill('elsewhere/by-path')
    place.skill('project/.agents/skills/by-info')
    const [info] = await skillsOf(place).list()
    const skills = new SkillManager({ runtime: place.runtime, autoDiscover: false })
    await skills.register(greet)
    if (info) await skills.register(info)
    await skills.register(elsewhere)
    expect((await skills.list()).map(({ name }) => name).toSorted()).toEqual([
      'by-info',
      'by-path',
      'greet',
    ])
    const other = defineSkill({ name: 'greet', description: 'Greets.', body: 'Other.' })
    await expect(skills.register(other)).rejects.toThrow(SkillConflictError)
  })

  it('deregister removes a skill, also in later searches', async () => {
    const place = fixture()
    place.skill('project/.agents/skills/ours')
    const skills = skillsOf(place)
    await skills.register(greet)
    expect(await skills.deregister('greet')).toBe(true)
    expect(await skills.deregister('ours')).toBe(true)
    expect(await skills.deregister('never')).toBe(false)
    await skills.discover()
    expect(await skills.list()).toEqual([])
  })

  it('get returns a skill with its body, and undefined for another name', async () => {
    const place = fixture()
    place.skill('project/.agents/skills/ours', { body: 'Do it.' })
    expect(await skillsOf(place).get('ours')).toMatchObject({ body: 'Do it.' })
    expect(await skillsOf(place).get('other')).toBeUndefined()
  })

  it('list returns the metadata of every registered skill', async () => {
    const place = fixture()
    place.skill('project/.agents/skills/ours')
    const skills = skillsOf(place)
    await skills.register(greet)
    expect(await skills.list()).toMatchObject([
      { name: 'greet', description: 'Greets.', scope: 'code' },
      { name: 'ours', path: join(place.project, '.agents/skills/ours/SKILL.md') },
    ])
  })

  it('activate returns the content with its arguments and makes the skill active', async () => {
    const skills = skillsOf(fixture())
    await skills.register(greet)
    const { content } = await skills.activate('greet', '"Ada Lovelace"')
    expect(content).toContain('Greet Ada Lovelace.')
    expect(skills.activeSkills).toEqual(['greet'])
    await expect(skills.activate('gret')).rejects.toThrow(SkillNotFoundError)
  })

  it('deactivate restores the tools and approvals of before', async () => {
    const place = fixture()
    place.skill('project/.agents/skills/ours', { more: 'allowed-tools: Read' })
    const skills = skillsOf(place)
    skills.registerTool('ours', { name: 'count', execute: () => 1 })
    const before = [skills.getAllTools(), skills.permissions()]
    await skills.activate('ours')
    expect([skills.getAllTools(), skills.permissions()]).not.toEqual(before)
    expect(await skills.deactivate('ours')).toBe(true)
    expect([skills.getAllTools(), skills.permissions()]).toEqual(before)
    expect(await skills.deactivate('ours')).toBe(false)
  })

  it('validate reports on the skill at a path', async () => {
    const place = fixture()
    const good = place.skill('project/good')
    const bad = place.skill('project/bad', { name: 'Not-Bad' })
    expect(await skillsOf(place).validate(good)).toMatchObject({ valid: true, name: 'good' })
    const { valid, diagnostics } = await skillsOf(place).validate(bad)
    expect(valid).toBe(false)
    expect(diagnostics.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['name-uppercase', 'name-directory-mismatch']),
    )
  })

  it('getTools returns the tools of one skill, active or not', async () => {
    const skills = skillsOf(fixture())
    await skills.register(greet)
    skills.registerTool('greet', { name: 'wave', execute: (input) => `waved ${String(input)}` })
    const [wave] = skills.getTools('greet')
    expect(wave).toMatchObject({ name: 'greet.wave', toolName: 'wave', skill: 'greet' })
    expect(await wave?.execute('twice')).toBe('waved twice')
    expect(skills.getTools('other')).toEqual([])
  })

  it('getAllTools returns the tools of active skills, with prefixes', async () => {
    const skills = skillsOf(fixture())
    const wave = defineSkill({ name: 'wave', description: 'Waves.', body: 'Wave.' })
    for (const skill of [greet, wave]) {
      await skills.register(skill)
      skills.registerTool(skill.info.name, { name: 'run', execute: () => 1 })
    }
    expect(skills.getAllTools()).toEqual([])
    await skills.activate('wave')
    expect(skills.getAllTools().map(({ name }) => name)).toEqual(['wave.run'])
    await skills.activate('greet')
    expect(skills.getAllTools().map(({ name }) => name)).toEqual(['wave.run', 'greet.run'])
  })
})
