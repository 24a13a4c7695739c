import { expect, test as base } from 'vitest'
import { skillFixtures, skillMatchers } from 'skillrail/testing'

expect.extend(skillMatchers)
const test = base.extend(skillFixtures)
const greetPeople = new URL('greet-people', import.meta.url).pathname

test('the skill follows the specification', async ({ loadSkill }) => {
  expect(await loadSkill(greetPeople)).toBeValidSkill()
})

test('a model is told whom to greet, in which language, and where the style is', async ({
  loadSkill,
}) => {
  const harness = await loadSkill(greetPeople)
  const invocation = await harness.invoke('"Ada Lovelace" French')
  expect(invocation).toInjectContent('welcomes Ada Lovelace, in French.')
  expect(invocation).toInjectContent('references/house-style.md')
  expect(invocation).not.toInjectContent('$')
})

test('it may read without asking, unless nobody trusts it', async ({ loadSkill }) => {
  const trusted = await loadSkill(greetPeople)
  expect(await trusted.invoke('Ada English')).toPreApproveTool('Read')
  const untrusted = await loadSkill(greetPeople, { trust: 'untrusted' })
  expect(await untrusted.invoke('Ada English')).not.toPreApproveTool('Read')
})
