import { describe, expect, it } from 'vitest'
import { serverNames } from '../../../src/agent/skills/active-skills.ts'
import { typedSkill } from '../../../src/agent/skills/skill-set.ts'
import { defineSkill } from '../../../src/library/manager.ts'
import { findSkills } from '../../../src/trigger/examples.ts'

describe('a typed skill', () => {
  it.each([
    ['/fix', { name: 'fix', argumentText: '' }],
    ['  /fix  a b ', { name: 'fix', argumentText: 'a b' }],
    ['/fix a\nb', { name: 'fix', argumentText: 'a\nb' }],
    ['/user:fix a', { name: 'user:fix', argumentText: 'a' }],
    ['/fixes', undefined],
    ['/fix/it', undefined],
    ['/', undefined],
    ['please /fix', undefined],
    ['fix', undefined],
  ])('%j', (prompt, expected) => {
    expect(typedSkill(prompt, ['fix', 'user:fix'])).toEqual(expected)
  })
})

describe('a search of skills', () => {
  const skills = [
    { name: 'pdf-forms', description: 'Fills in forms of PDF files.' },
    { name: 'code-review', description: 'Reviews a change and lists findings.' },
    { name: 'release', description: 'Makes a release with notes.' },
  ]
  const found = (query: string): string[] => findSkills(query, skills, 2).map(({ name }) => name)

  it('finds words in any form, the best first, and nothing without a word in common', () => {
    expect(found('reviewing my changes')).toEqual(['code-review'])
    expect(found('fill a form')).toEqual(['pdf-forms'])
    expect(found('release notes for the forms')[0]).toBe('release')
    expect(found('zebra')).toEqual([])
    expect(found('')).toEqual([])
    expect(findSkills('x', [], 3)).toEqual([])
  })
})

it('reads the names of MCP servers in the metadata of a skill', () => {
  const { info } = defineSkill({
    name: 'x',
    description: 'X.',
    body: '',
    metadata: { 'mcp-servers': 'github, memory  github' },
  })
  expect(serverNames(info.fields)).toEqual(['github', 'memory'])
  expect(serverNames({ ...info.fields, metadata: {} })).toEqual([])
})
