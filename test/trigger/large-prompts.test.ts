import { expect, it } from 'vitest'
import { matchPrompt } from '../../src/trigger/match.ts'

it.each([
  ['in one line, the match at its end', `${'x'.repeat(1024 * 1024)} needle`],
  ['in short lines, the match in the first', `needle\n${'filler line\n'.repeat(90_000)}`],
])('a prompt of 1 MiB %s matches', (_what, prompt) => {
  const triggers = ['needle', 'n[e]{2}dle', '(?i)NEEDLE'].map((match, index) => ({
    match,
    inject: `${index}.md`,
    line: 5 + 2 * index,
  }))
  const skill = { name: 'one', directory: '/one', path: '/one/SKILL.md', triggers }
  const { matches } = matchPrompt(prompt, [skill])
  expect(matches.map(({ trigger, text }) => trigger.inject + text)).toEqual([
    '0.mdneedle',
    '1.mdneedle',
    '2.mdneedle',
  ])
})
