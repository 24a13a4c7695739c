import { join } from 'node:path'
import { expect, it } from 'vitest'
import { says } from '../mock-replies.ts'
import { emptyWorld, withAgent } from '../_agent-world.ts'

const place = () => {
  const world = emptyWorld()
  const more = 'triggers:\n  - match: deploy\n    inject: references/flow.md'
  world.skill('shared/ship', { more })
  world.write({ 'shared/ship/references/flow.md': 'Deploy with make.\n' })
  return world
}

it('gives the references of skills in directories that the program trusts', async () => {
  const world = place()
  const directory = join(world.root, 'shared')
  const options = { skillDirs: [directory], trustedPaths: [directory], discover: false }
  const agent = withAgent(world, [says('Done.')], options)
  await agent.ask('please deploy')
  expect(agent.prompted(0)).toContain('Deploy with make.')
  expect(agent.notices()).toEqual([])
})

it('says why the references of other directories are left out, once', async () => {
  const world = place()
  const directory = join(world.root, 'shared')
  const agent = withAgent(world, [says('Done.'), says('Done.')], { skillDirs: [directory] })
  await agent.ask('please deploy')
  await agent.ask('deploy again')
  expect(agent.prompted(1)).toBe('deploy again')
  expect(agent.notices()).toEqual([
    expect.stringMatching(/references of the skill ship were left out.*trust/),
  ])
})
