import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findSkill, loadSkill, skillAt } from '../../src/library/find-skill.ts'
import type { SkillInfo } from '../../src/library/model.ts'
import {
  SkillConflictError,
  SkillLoadError,
  SkillNotFoundError,
  SkillParseError,
  SkillValidationError,
} from '../../src/skill/errors.ts'
import { type World, world } from './_world.ts'

function find(place: World, reference: string): SkillInfo {
  return findSkill(reference, {
    runtime: place.runtime,
    useIndex: false,
    workspaceTrust: 'trusted',
  })
}

function thrown(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

describe('a skill is found', () => {
  it('by its name', () => {
    const place = world()
    place.skill('project/.claude/skills/a')
    expect(find(place, 'a')).toMatchObject({ name: 'a', scope: 'project' })
  })

  it('by scope and name, also when it is shadowed', () => {
    const place = world()
    place.skill('project/.claude/skills/a')
    place.skill('home/.claude/skills/a')
    expect(find(place, 'a')).toMatchObject({ scope: 'project' })
    expect(find(place, 'user:a')).toMatchObject({ scope: 'user' })
  })

  it.each(['./tools/a', 'tools/a', 'tools/a/', 'tools/a/SKILL.md'])('by path: %s', (reference) => {
    const place = world()
    const directory = place.skill('project/tools/a')
    expect(find(place, reference)).toMatchObject({ name: 'a', directory, scope: 'project' })
  })

  it('by the name of a directory here, when nothing installed has it', () => {
    const place = world()
    place.skill('project/a', { description: 'Here.' })
    expect(find(place, 'a').description).toBe('Here.')
    place.skill('project/.claude/skills/a', { description: 'Installed.' })
    expect(find(place, 'a').description).toBe('Installed.')
    expect(find(place, './a').description).toBe('Here.')
  })
})

describe('the scope of a path', () => {
  it.each([
    ['project/.claude/skills/a', 'project', '.claude/skills'],
    ['project/tools/a', 'project', '.'],
    ['home/.agents/skills/a', 'user', '~/.agents/skills'],
    ['elsewhere/a', 'custom', '/elsewhere/a'],
  ])('%s', (path, scope, source) => {
    const place = world()
    const info = skillAt(place.skill(path), { runtime: place.runtime })
    expect(info.scope).toBe(scope)
    expect(info.source.endsWith(source)).toBe(true)
    expect(info.trustLevel).toBe(scope === 'user' ? 'trusted' : 'untrusted')
  })
})

describe('what is not found', () => {
  it('is answered with what may have been meant, and where was looked', () => {
    const place = world()
    place.skill('project/.claude/skills/code-review')
    const error = thrown(() => find(place, 'code-reveiw'))
    expect(error).toBeInstanceOf(SkillNotFoundError)
    expect(error).toMatchObject({
      exitCode: 3,
      message: 'There is no skill named code-reveiw.',
      hint: `Did you mean code-review? List skills with: skillrail list. Looked in ${join(place.project, '.claude/skills')}.`,
    })
  })

  it('by path says what a path must be', () => {
    const place = world()
    expect(thrown(() => find(place, './gone'))).toMatchObject({
      code: 'skill-not-found',
      message: `There is no skill at ${join(place.project, 'gone')}.`,
    })
  })
})

describe('what cannot be used', () => {
  it('because two have the name', () => {
    const place = world()
    place.skill('project/.claude/skills/one', { name: 'twin' })
    place.skill('project/.claude/skills/two', { name: 'twin', body: 'x' })
    expect(thrown(() => find(place, 'twin'))).toBeInstanceOf(SkillConflictError)
    expect(find(place, '.claude/skills/one').name).toBe('twin')
  })

  it('because its frontmatter is broken, by name and by path', () => {
    const place = world()
    place.write({ 'project/.claude/skills/bad/SKILL.md': '---\nname: bad\n---\n' })
    for (const reference of ['bad', '.claude/skills/bad']) {
      const error = thrown(() => find(place, reference))
      expect(error).toBeInstanceOf(SkillValidationError)
      expect(error).toMatchObject({ code: 'description-missing', diagnostics: [{ line: 2 }] })
    }
  })

  it('any more, because its file changed since it was found', () => {
    const place = world()
    const info = skillAt(place.skill('project/.claude/skills/a'), { runtime: place.runtime })
    writeFileSync(info.path, 'a\0b')
    const error = thrown(() => loadSkill(info))
    expect(error).toBeInstanceOf(SkillParseError)
    expect(error).toMatchObject({ code: 'skill-unusable', diagnostics: [{ code: 'file-nul' }] })
  })

  it('because its file is not a file', () => {
    const place = world()
    place.write({ 'project/.claude/skills/bad/SKILL.md/x': '' })
    expect(thrown(() => find(place, '.claude/skills/bad'))).toBeInstanceOf(SkillLoadError)
    rmSync(join(place.project, '.claude/skills/bad/SKILL.md'), { recursive: true })
    expect(thrown(() => find(place, '.claude/skills/bad'))).toBeInstanceOf(SkillNotFoundError)
  })
})
