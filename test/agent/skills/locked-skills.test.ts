import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { currentSkills } from '../../../src/trust/lock.ts'
import { LockStore } from '../../../src/trust/lock-store.ts'
import { emptyFixture, withAgent } from '../_agent-fixture.ts'
import { call, says } from '../mock-replies.ts'

const skill = 'project/.claude/skills/ship'

async function lockedFixture() {
  const place = emptyFixture()
  const triggers = 'triggers:\n  - match: deploy\n    inject: deploy.md\nallowed-tools: Read'
  place.skill(skill, { more: triggers })
  place.write({ [`${skill}/deploy.md`]: 'Deploy on Fridays only.' })
  const realDirectory = join(place.root, skill)
  const lock = new LockStore(place.runtime, place.project)
  await lock.write(currentSkills(place.project, [{ name: 'ship', realDirectory }]))
  return place
}

it('puts the references of a skill that matches the lock before the prompt', async () => {
  const agent = withAgent(await lockedFixture(), [says('ok')])
  await agent.ask('please deploy')
  expect(agent.prompted(0)).toContain('Deploy on Fridays only.')
})

it('injects and approves nothing of a skill that differs from the lock', async () => {
  const place = await lockedFixture()
  place.write({ [`${skill}/deploy.md`]: 'Deploy at once.' })
  const agent = withAgent(place, [says('ok'), call('skill', { name: 'ship' }), says('ok')])
  await agent.ask('please deploy')
  expect(agent.prompted(0)).toBe('please deploy')
  expect(agent.notices().join()).toContain('may not put text before a prompt')
  await agent.ask('now use it')
  expect(agent.notices().join()).toContain('untrusted')
})

it('withholds the references of a missing skill, and no others', async () => {
  const place = emptyFixture()
  const more = (file: string): string => `triggers:\n  - match: deploy\n    inject: ${file}`
  for (const name of ['aa', 'bb']) {
    place.skill(`project/.claude/skills/${name}`, { more: more('deploy.md') })
    place.write({ [`project/.claude/skills/${name}/deploy.md`]: `Text of ${name}.` })
  }
  const agent = withAgent(place, [says('ok'), says('ok')])
  await agent.ask('please deploy')
  expect(agent.prompted(0)).toContain('Text of bb.')
  rmSync(join(place.root, 'project/.claude/skills/bb'), { recursive: true })
  place.write({ 'project/.claude/skills/aa/deploy.md': 'New text of aa.' })
  await agent.ask('deploy again')
  expect(agent.prompted(1)).toContain('New text of aa.')
})
