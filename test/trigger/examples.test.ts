import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { explainPrompt } from '../../src/trigger/explain.ts'
import { matchTriggers } from '../../src/trigger/examples.ts'
import { makeFixture } from '../hooks/_fixture.ts'

function skill(name: string, description: string, examples: readonly string[] = []) {
  const when = { kind: 'examples' as const, examples }
  const trigger = { match: 'examples', inject: 'a.md', line: 1, when }
  const triggers = examples.length === 0 ? [] : [trigger]
  return { name, directory: '/s', path: `/s/${name}/SKILL.md`, description, triggers }
}

const skills = [
  skill('deploy', 'Deploys services to staging and production.', [
    'ship the service to staging',
    'roll out the new version',
    'put the billing service into production',
    'release the api to production tonight',
  ]),
  skill('invoice', 'Reads invoices and books them.', [
    'book this invoice from the supplier',
    'how much tax is on the bill',
    'enter the receipts of last month',
    'read the total of the invoice',
  ]),
  skill('translate', 'Translates texts into other languages.'),
]

const fired = (prompt: string): string[] =>
  matchTriggers(prompt, skills).matches.map((match) => match.skill.name)

it.each([
  ['ship the service to staging', ['deploy']],
  ['please ship the billing service to staging', ['deploy']],
  ['Book this invoice from the supplier!', ['invoice']],
  ['what is the weather in Paris', []],
  ['translate the readme into French', []],
  ['/deploy ship the service to staging', []],
  ['', []],
])('finds the skill that a prompt means: %j means %j', (prompt, expected) => {
  expect(fired(prompt)).toEqual(expected)
})

const reasons = (prompt: string): string[] =>
  explainPrompt(prompt, skills).flatMap((one) =>
    one.verdicts.map((verdict) => JSON.stringify(verdict)),
  )

it('explains which words and which example select a skill, and the probability', () => {
  const [deploy = '', invoice = ''] = reasons('please ship the billing service to staging')
  expect(deploy).toContain('"outcome":"fired","text":"ship the service to staging"')
  expect(deploy).toMatch(/"reason":".*\d+ % sure, by `service`/)
  expect(invoice).toMatch(/most like deploy, by `service`.*\d+ % sure/)
  expect(reasons('/deploy it')[0]).toContain('calls a skill by its name')
  expect(reasons('')[0]).toContain('no word in common')
})

it('explains why a skill is not certain: another skill, or a name that the skill does not mention', () => {
  const both = 'read the staging invoice, and deploy production'
  expect(reasons(both).join()).toMatch(
    /only \d+ % sure and fires from 80 % on; \w+ is nearly as like it/,
  )
  expect(reasons('ship the Boomi connector of the service')[0]).toMatch(
    /nearest to the example `ship the service to staging`, .* does not mention Boomi/,
  )
})

it('needs more than one word in common with an example', () => {
  expect(fired('service')).toEqual([])
  expect(fired('new service')).toEqual([])
})

it('fires on an example of one word', () => {
  const one = skill('release', 'Releases the package.', ['publish', 'cut a release of the package'])
  const { matches } = matchTriggers('Publish!', [one, ...skills])
  expect(matches.map((match) => match.skill.name)).toEqual(['release'])
})

it('does not fire on the name of another product', () => {
  const prompt = 'please roll out the new version of the service'
  expect(fired(prompt)).toEqual(['deploy'])
  expect(fired(`${prompt} on Boomi Atomsphere Runtime`)).toEqual([])
})

it('fires in the hook too, and among a thousand other skills', async () => {
  const { ask, skill: make, write, home } = makeFixture()
  for (let at = 0; at < 70; at++) make(`other-${at}`, [])
  const list = '["ship the service to staging", "roll out the new version"]'
  write(
    '.agents/skills/deploy/SKILL.md',
    `---\nname: deploy\ndescription: Deploys.\ntriggers:\n  - examples: ${list}\n    inject: a.md\n---\n`,
  )
  write('.agents/skills/deploy/a.md', 'DEPLOY FLOW')
  expect((await ask('claude', 'Ship the service to staging')).stdout).toContain('DEPLOY FLOW')
  expect((await ask('claude', 'what is new in the kitchen')).stdout).toBe('')
  const directory = join(home, '.cache/skillrail/hooks')
  const indexes = readdirSync(directory).filter((name) => name.endsWith('.index'))
  expect(indexes).toHaveLength(1)
  expect((await ask('claude', 'roll out the new version')).stdout).toContain('DEPLOY FLOW')
  for (const name of indexes) rmSync(join(directory, name))
  expect((await ask('claude', 'Roll out the new version!')).stdout).toContain('DEPLOY FLOW')
})
