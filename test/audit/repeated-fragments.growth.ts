import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { auditSkill } from '../../src/audit/audit-skill.ts'
import { wordRules } from '../../src/audit/word-rules.ts'
import { skillFolder } from './_skill-folder.ts'

/** Returns the literal words of a pattern: a text of only these gives its rule the most work. */
function literalsOf(pattern: RegExp): string[] {
  const runs = pattern.source.match(/(?:\\[^\w\s]|[\w:/ -]){2,}/g) ?? []
  return runs.map((run) => run.replaceAll(/\\(.)/g, '$1').trim()).filter((run) => run.length > 3)
}

const secret = ['sk', 'aB3dE5fG7hJ9kL1mN3pQ'].join('-')

/** Fragments that the other checks search: each opens something, closes nothing, or does both. */
const otherFragments = [
  '<!-- ',
  '<!-- you must --> ',
  '<p style="color:',
  '<div hidden ',
  '[//]: # ',
  '`',
  '```\n',
  '\u200b\u200b ',
  '\u{e0041}',
  '\u202e',
  ' ',
  '\n',
  'A',
  'eyJ',
  'eyJhbGciOi.',
  `${secret} token=qW3rT5yU7iO9 `,
  'token=',
  'password="',
  '-----BEGIN PRIVATE KEY-----',
  'https://',
  'https://a:',
  '"__proto__":',
  '{"hooks":',
  '!`',
  'ab12'.repeat(16),
]

const groups: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    wordRules.map(({ code, patterns }, index) => [
      `the rule ${code} (${index})`,
      [...new Set(patterns.flatMap(literalsOf))].map((word) => `${word} `),
    ]),
  ),
  'the other checks': otherFragments,
}

/** CPU seconds of one audit, the lower of two: other work on the machine only adds to them. */
function cost(directory: string, fragments: readonly string[], length: number): number {
  for (const [index, fragment] of fragments.entries()) {
    const text = fragment.repeat(Math.ceil(length / fragment.length))
    writeFileSync(join(directory, `${index}.md`), text)
  }
  const times = [1, 2].map(() => {
    const start = process.cpuUsage()
    auditSkill(directory)
    const { user } = process.cpuUsage(start)
    return user / 1e6
  })
  return Math.min(...times)
}

describe('an audit of a text that repeats one fragment', () => {
  it.each(Object.entries(groups))(
    'costs in proportion to the text: %s',
    (_, fragments) => {
      const directory = skillFolder()
      const short = cost(directory, fragments, 6_000)
      const long = cost(directory, fragments, 96_000)
      // Sixteen times as much text; quadratic growth would cost 256 times as much. Below the floor,
      // the cost of a file hides the growth.
      const floor = fragments.length * 0.001
      expect(long / Math.max(short, floor)).toBeLessThan(40)
    },
    60_000,
  )
})
