import { join } from 'node:path'
import { expect, it } from 'vitest'
import { says } from '../mock-replies.ts'
import { emptyFixture, withAgent } from '../_agent-fixture.ts'

const place = () => {
  const fixture = emptyFixture()
  const more = 'triggers:\n  - match: deploy\n    inject: references/flow.md'
  fixture.skill('shared/ship', { more })
  fixture.write({ 'shared/ship/references/flow.md': 'Deploy with make.\n' })
  return fixture
}

it('injects references of skills in directories that the program trusts', async () => {
  const fixture = place()
  const directory = join(fixture.root, 'shared')
  const options = { skillDirs: [directory], trustedPaths: [directory], discover: false }
  const agent = withAgent(fixture, [says('Done.')], options)
  await agent.ask('please deploy')
  expect(agent.prompted(0)).toContain('Deploy with make.')
  expect(agent.notices()).toEqual([])
})

it('reports once why the references of other directories are left out', async () => {
  const fixture = place()
  const directory = join(fixture.root, 'shared')
  const agent = withAgent(fixture, [says('Done.'), says('Done.')], { skillDirs: [directory] })
  await agent.ask('please deploy')
  await agent.ask('deploy again')
  expect(agent.prompted(1)).toBe('deploy again')
  expect(agent.notices()).toEqual([
    expect.stringMatching(/^Untrusted skills: ship\..*trustedPaths/),
    expect.stringMatching(/references of the skill ship were left out.*trust/),
  ])
})
