import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { explainPrompt } from '../../src/trigger/explain.ts'
import { namesIn } from '../../src/rank/names.ts'
import { prepareRanker } from '../../src/rank/ranker.ts'
import { matchTriggers, skillDocuments } from '../../src/trigger/examples.ts'
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
  expect(deploy).toMatch(/"reason":".*\d+ % sure, by .*`service`/)
  expect(invoice).toMatch(/most like deploy, by .*`service`.*\d+ % sure/)
  expect(reasons('/deploy it')[0]).toContain('calls a skill by its name')
  expect(reasons('')[0]).toContain('no word in common')
})

it('explains why a skill is not certain: another skill, or a name that the skill does not mention', () => {
  const both = 'read the staging invoice, and deploy production'
  expect(reasons(both).join()).toMatch(
    /only \d+ % sure, and fires at 77 % or more; \w+ fits nearly as well/,
  )
  expect(reasons('ship the Boomi connector of the service')[0]).toMatch(
    /nearest to the example `ship the service to staging`, .* does not mention Boomi/,
  )
})

it.each([
  'use the invoice skill',
  'Use skill `invoice` for this',
  'take $invoice for the service that we ship to staging',
])('ranks a skill first that the prompt names: %j', (prompt) => {
  expect(fired(prompt)).toEqual(['invoice'])
})

it.each([
  ['use doca-spcx-cc on this', 'doca-spcx-cc'],
  ['use the doca_spcx_cc skill to ship a service', 'doca-spcx-cc'],
  ['doca spcx cc: ship the service to staging', 'doca-spcx-cc'],
  ['the skill doca-spcx for staging', 'doca-spcx'],
  ["use doca-spcx's checklist to ship the service to staging", 'doca-spcx'],
  ['ship the service to staging with tools:doca-spcx', 'doca-spcx'],
  ['用doca-spcx检查 ship the service to staging', 'doca-spcx'],
  ['doca-spcx를 써서 ship the service to staging', 'doca-spcx'],
])('finds the skill that is named in full: %j', (prompt, expected) => {
  const more = ['doca-spcx-cc', 'doca-spcx', 'test'].map((name) => skill(name, 'Checks things.'))
  const [first] = prepareRanker(skillDocuments([...skills, ...more]))(prompt).ranked
  expect(first?.id).toBe(expected)
})

it('takes one common word for prose', () => {
  expect(namesIn('run a test of the service', ['test', 'service'])).toEqual([])
})

it.each([
  ['Merges PDFs. Do not use it to compress videos.', 'compress the videos'],
  ['Merges PDFs. (NOT for videos or pictures)', 'compress the videos'],
  ["Merges PDFs; don't trigger it for videos", 'compress the videos'],
  ['合并文档。不用于压缩视频。', '压缩视频'],
])('does not rank a skill by what its description excludes: %j', (description, prompt) => {
  const rank = prepareRanker(skillDocuments([...skills, skill('merge', description)]))
  expect(rank(prompt).ranked.map(({ id }) => id)).not.toContain('merge')
})

it('ranks a skill by an exclusion in the description of another skill that names it', () => {
  const merge = skill('merge-files', 'Merges PDFs. Do not use it for videos, see shrink-files.')
  const shrink = skill('shrink-files', 'Makes things smaller.')
  const [first] = prepareRanker(skillDocuments([...skills, merge, shrink]))('cut the videos').ranked
  expect(first?.id).toBe('shrink-files')
})

it.each([
  ['Merges PDFs. Not only texts: it can also compress videos.', 'compress the videos'],
  ['Merges PDFs. No-code tool to compress videos.', 'compress the videos'],
  ['合并文档。不仅合并，也压缩视频。', '压缩视频'],
])('keeps a sentence that only looks like an exclusion: %j', (description, prompt) => {
  const rank = prepareRanker(skillDocuments([...skills, skill('merge', description)]))
  expect(rank(prompt).ranked.map(({ id }) => id)).toContain('merge')
})

it('keeps a first sentence that begins with a negation', () => {
  const backup = skill('backup', 'Never lose a database again. Copies it every night.')
  const [first] = prepareRanker(skillDocuments([...skills, backup]))('lose no database').ranked
  expect(first?.id).toBe('backup')
})

it.each([
  'can you have a look at the weekly report on Monday',
  'can you have a look at our sales',
  'please make the report nicer',
])(
  'ranks the skill of the subject first, not one whose examples only sound alike: %j',
  (prompt) => {
    const rows = [
      skill('report', 'Writes weekly reports about the sales of the team.', [
        'write up what we sold',
        'how many orders came in',
        'sum up the quarter',
        'compare both regions',
      ]),
      skill('slides', 'Makes slides for talks.', [
        'can you have a look at my talk and make it nicer',
        'please make the slides nicer',
        'my talk is on Monday, can you have a look',
        'can you make these pictures bigger',
      ]),
      ...skills.slice(0, 1),
    ]
    expect(prepareRanker(skillDocuments(rows))(prompt).ranked[0]?.id).toBe('report')
  },
)

it('ranks a skill without examples first if examples of the others only ask in the same tone', () => {
  const subjects = [
    'fonts',
    'mails',
    'locks',
    'maps',
    'songs',
    'lamps',
    'roads',
    'seeds',
    'boats',
    'ovens',
    'tents',
  ]
  const others = subjects.map((subject) =>
    skill(`check-${subject}`, `Looks after ${subject}.`, [
      `can you check whether the ${subject} are all right`,
      `please check ${subject} before we publish them`,
      `could you check the ${subject} again today`,
    ]),
  )
  const rank = prepareRanker(skillDocuments([...others, skill('ledger', 'Books invoices.')]))
  const prompt = 'could you check the invoices again before we publish them today'
  expect(rank(prompt).ranked[0]?.id).toBe('ledger')
})

it('fires on a prompt in other words than the examples among many skills', () => {
  const many = Array.from({ length: 40 }, (_, at) => skill(`other-${at}`, `Handles matter ${at}.`))
  const { matches } = matchTriggers('roll out our new api version to production', [
    ...skills,
    ...many,
  ])
  expect(matches.map((match) => match.skill.name)).toEqual(['deploy'])
})

it('does not fire on a prompt in other words than the examples about another matter', () => {
  const many = Array.from({ length: 40 }, (_, at) => skill(`other-${at}`, `Handles matter ${at}.`))
  const firedAmongMany = (prompt: string) => matchTriggers(prompt, [...skills, ...many]).matches
  expect(firedAmongMany('explain what a version of an api is')).toEqual([])
  expect(firedAmongMany('how much tax do I pay on a car')).toEqual([])
})

it('does not fire on a prompt that is like a `not` example', () => {
  const [deploy, ...others] = skills
  const when = { kind: 'examples' as const, examples: deploy?.triggers[0]?.when?.examples ?? [] }
  const firedWith = (not: readonly string[]) => {
    const trigger = { match: 'examples', inject: 'a.md', line: 1, when: { ...when, not } }
    const changed = {
      ...skill('deploy', 'Deploys services to staging and production.'),
      triggers: [trigger],
    }
    const prompt = 'please ship the billing service to staging'
    const { matches } = matchTriggers(prompt, [changed, ...others])
    return matches.map((match) => match.skill.name)
  }
  expect(firedWith([])).toEqual(['deploy'])
  expect(firedWith(['ship the billing service to staging'])).toEqual([])
  expect(firedWith(['please ship the billing service to staging again'])).toEqual([])
  expect(firedWith(['what is the weather'])).toEqual(['deploy'])
})

it.each([
  ['deploy the payment services to staging and production', ['deploy']],
  ['please deploy the payment services to staging and production', ['deploy']],
  ['explain what staging means to me', []],
  ['which of our services run in production', []],
])(
  'fires on a prompt that is nearer to the description than to a `not` example: %j',
  (prompt, expected) => {
    const examples = [
      'roll out the new version',
      'release the api tonight',
      'ship it',
      'bring the fix live',
    ]
    const not = [
      'explain what staging means',
      'who pays for the staging machines',
      'which services run in production',
      'is staging down again',
    ]
    const when = { kind: 'examples' as const, examples, not }
    const deploy = {
      ...skill('deploy', 'Deploys services to staging and production.'),
      triggers: [{ match: 'examples', inject: 'a.md', line: 1, when }],
    }
    const { matches } = matchTriggers(prompt, [deploy, ...skills.slice(1)])
    expect(matches.map((match) => match.skill.name)).toEqual(expected)
  },
)

describe('texts in a script without blanks', () => {
  const tidy = skill('tidy', '整理电脑上的文件：把散落的文件按项目分类到文件夹。', [
    '帮我把桌面上的文件整理一下，按项目分类',
    '下载文件夹太乱了，把里面的文件归一下类',
    '把这些散落的文件整理到各自的项目文件夹',
    '帮我整理一下这个文件夹，图片和文档分开放',
  ])
  const firedBy = (prompt: string) =>
    matchTriggers(prompt, [tidy, ...skills]).matches.map((match) => match.skill.name)

  it.each([
    '帮我看一下这个函数为什么报错',
    '把这个程序解释一下，我看不太明白',
    '帮我把这些数字加一下',
  ])('does not take common characters for meaning: %j', (prompt) =>
    expect(firedBy(prompt)).toEqual([]),
  )

  it('finds the skill by its words', () => {
    expect(firedBy('帮我把下载里的文件整理一下，按项目分类')).toEqual(['tidy'])
  })
})

it('fires on a prompt that is nearly an example', () => {
  expect(fired('roll out the new version tonight')).toEqual(['deploy'])
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
  const prompt = 'please ship the billing service to staging'
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
