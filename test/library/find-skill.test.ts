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
import { type Fixture, fixture } from './_fixture.ts'

function find(place: Fixture, reference: string): SkillInfo {
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

describe('a skill', () => {
  it('is found by its name', () => {
    const place = fixture()
    place.skill('project/.claude/skills/a')
    expect(find(place, 'a')).toMatchObject({ name: 'a', scope: 'project' })
  })

  it('is found by scope and name, even if it is shadowed', () => {
    const place = fixture()
    place.skill('project/.claude/skills/a')
    place.skill('home/.claude/skills/a')
    expect(find(place, 'a')).toMatchObject({ scope: 'project' })
    expect(find(place, 'user:a')).toMatchObject({ scope: 'user' })
  })

  it.each(['./tools/a', 'tools/a', 'tools/a/', 'tools/a/SKILL.md'])(
    'is found by its path: %s',
    (reference) => {
      const place = fixture()
      const directory = place.skill('project/tools/a')
      expect(find(place, reference)).toMatchObject({ name: 'a', directory, scope: 'project' })
    },
  )

  it('is found by the name of a local directory if no installed skill has that name', () => {
    const place = fixture()
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
  ])('follows from its location: %s', (path, scope, source) => {
    const place = fixture()
    const info = skillAt(place.skill(path), { runtime: place.runtime })
    expect(info.scope).toBe(scope)
    expect(info.source.endsWith(source)).toBe(true)
    expect(info.trustLevel).toBe(scope === 'user' ? 'trusted' : 'untrusted')
  })
})

describe('a skill that is not found', () => {
  it('gets an error with a similar name and the searched places', () => {
    const place = fixture()
    place.skill('project/.claude/skills/code-review')
    const error = thrown(() => find(place, 'code-reveiw'))
    expect(error).toBeInstanceOf(SkillNotFoundError)
    expect(error).toMatchObject({
      exitCode: 3,
      message: 'There is no skill named code-reveiw.',
      hint: `Did you mean code-review? List skills with: skillrail list. Looked in ${join(place.project, '.claude/skills')}.`,
    })
  })

  it('gets an error that says what a path must be', () => {
    const place = fixture()
    expect(thrown(() => find(place, './gone'))).toMatchObject({
      code: 'skill-not-found',
      message: `There is no skill at ${join(place.project, 'gone')}.`,
    })
  })
})

describe('a skill that cannot be used', () => {
  it('is refused because two skills have the name', () => {
    const place = fixture()
    place.skill('project/.claude/skills/one', { name: 'twin' })
    place.skill('project/.claude/skills/two', { name: 'twin', body: 'x' })
    expect(thrown(() => find(place, 'twin'))).toBeInstanceOf(SkillConflictError)
    expect(find(place, '.claude/skills/one').name).toBe('twin')
  })

  it('is refused by name and by path because its frontmatter is broken', () => {
    const place = fixture()
    place.write({ 'project/.claude/skills/bad/SKILL.md': '---\nname: bad\n---\n' })
    for (const reference of ['bad', '.claude/skills/bad']) {
      const error = thrown(() => find(place, reference))
      expect(error).toBeInstanceOf(SkillValidationError)
      expect(error).toMatchObject({ code: 'description-missing', diagnostics: [{ line: 2 }] })
    }
  })

  it('is refused because its file changed since the search', () => {
    const place = fixture()
    const info = skillAt(place.skill('project/.claude/skills/a'), { runtime: place.runtime })
    writeFileSync(info.path, 'a\0b')
    const error = thrown(() => loadSkill(info))
    expect(error).toBeInstanceOf(SkillParseError)
    expect(error).toMatchObject({ code: 'skill-unusable', diagnostics: [{ code: 'file-nul' }] })
  })

  it('is refused because its SKILL.md is not a file', () => {
    const place = fixture()
    place.write({ 'project/.claude/skills/bad/SKILL.md/x': '' })
    expect(thrown(() => find(place, '.claude/skills/bad'))).toBeInstanceOf(SkillLoadError)
    rmSync(join(place.project, '.claude/skills/bad/SKILL.md'), { recursive: true })
    expect(thrown(() => find(place, '.claude/skills/bad'))).toBeInstanceOf(SkillNotFoundError)
  })
})
