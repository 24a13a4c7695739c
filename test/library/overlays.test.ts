import { expect, it } from 'vitest'
import { discoverSkills } from '../../src/library/discover.ts'
import { SkillManager } from '../../src/library/manager.ts'
import { makeWorld } from '../hooks/_world.ts'

const overlay = 'saw:\n  - match: ^/saw\n    inject: rules/saw.md\nnone:\n  - "x => y.md"\n'

it('adds triggers to a skill of others, in the hook too, relative to the overlay', async () => {
  const { ask, skill, write, runtime } = makeWorld()
  skill('saw', [])
  write('.config/skillrail/triggers.yaml', overlay)
  write('.config/skillrail/rules/saw.md', 'OUR RULES')
  expect((await ask('claude', '/saw x')).stdout).toContain('OUR RULES')
  const [known] = await new SkillManager({ runtime }).list()
  expect(known?.fields.triggers.map(({ inject }) => inject)).toEqual(['rules/saw.md'])
  const { diagnostics } = discoverSkills({ runtime })
  expect(diagnostics.map(({ code }) => code)).toEqual(['trigger-form', 'overlay-unused'])
})

it('takes those of a project only where it is trusted', async () => {
  const { ask, skill, write, runtime } = makeWorld()
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
