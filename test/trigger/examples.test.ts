import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { explainPrompt } from '../../src/trigger/explain.ts'
import { matchTriggers } from '../../src/trigger/examples.ts'
import { makeWorld } from '../hooks/_world.ts'

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
])('%j means %j', (prompt, expected) => {
  expect(fired(prompt)).toEqual(expected)
})

it('explains what a prompt means, by which words, and how sure that is', () => {
  const verdicts = (prompt: string) =>
    explainPrompt(prompt, skills).flatMap((one) =>
      one.verdicts.map((verdict) => JSON.stringify(verdict)),
    )
  const [deploy = '', invoice = ''] = verdicts('ship the service to staging')
  expect(deploy).toContain('"outcome":"fired"')
  expect(invoice).toMatch(/more like deploy, most by `\w+`/)
  const both = 'put the invoice of the supplier into staging tonight'
  expect(verdicts(both).join()).toMatch(/only \d+ % sure; it fires from 85 % on/)
  expect(verdicts('new service')[0]).toContain('no example has two words of the prompt')
})

it('fires in the hook, too, and with a thousand other skills', async () => {
  const { ask, skill: make, write, home } = makeWorld()
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
