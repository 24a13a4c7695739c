import { expect, it } from 'vitest'
import { discoverSkills } from '../../src/library/discover.ts'
import { SkillManager } from '../../src/library/manager.ts'
import { makeFixture } from '../hooks/_fixture.ts'

const overlay = 'saw:\n  - match: ^/saw\n    inject: rules/saw.md\nnone:\n  - "x => y.md"\n'

it('adds triggers to a foreign skill, in the hook too, with paths relative to the overlay', async () => {
  const { ask, skill, write, runtime } = makeFixture()
  skill('saw', [])
  write('.config/skillrail/triggers.yaml', overlay)
  write('.config/skillrail/rules/saw.md', 'OUR RULES')
  expect((await ask('claude', '/saw x')).stdout).toContain('OUR RULES')
  const [known] = await new SkillManager({ runtime }).list()
  expect(known?.fields.triggers.map(({ inject }) => inject)).toEqual(['rules/saw.md'])
  const { diagnostics } = discoverSkills({ runtime })
  expect(diagnostics.map(({ code }) => code)).toEqual(['trigger-form', 'overlay-unused'])
})

it("adds a project's triggers only if the overlay is trusted", async () => {
  const { ask, skill, write, runtime } = makeFixture()
  skill('saw', [])
  write('project/.skillrail/triggers.yaml', 'saw:\n  - match: ^/saw\n    inject: saw.md\n')
  write('project/.skillrail/saw.md', 'PROJECT RULES')
  expect((await ask('claude', '/saw x')).stdout).toBe('')
  const { skills, diagnostics } = discoverSkills({ runtime })
  expect(skills[0]?.fields.triggers).toEqual([])
  expect(diagnostics[0]?.message).toContain('not trusted')
  const trusted = discoverSkills({ runtime, workspaceTrust: 'trusted' })
  expect(trusted.skills[0]?.fields.triggers).toHaveLength(1)
})
