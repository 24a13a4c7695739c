import { expect, it } from 'vitest'
import { parseSkill } from '../../src/skill/parse.ts'
import { serializeSkill } from '../../src/skill/serialize.ts'
import { globPattern } from '../../src/trigger/tool-call.ts'
import { compilePattern } from '../../src/trigger/pattern.ts'

const paths = { kind: 'paths', paths: ['src/**/*.{ts,tsx}', '*.css'], on: 'read', require: true }
const expected = [
  { match: '^/x', inject: 'a.md' },
  {
    inject: 'b.md',
    when: { kind: 'examples', examples: ['ship it', 'roll it out'], not: ['ship a parcel'] },
  },
  { inject: 'c.md', when: paths },
  { inject: 'd.md', when: { kind: 'command', pattern: '^git push', require: true } },
  { inject: 'e.md', when: { kind: 'tool', pattern: 'mcp__db__drop_*', require: true } },
]

function read(triggers: string) {
  return parseSkill(`---\nname: s\ndescription: D.\n${triggers}---\n`, { path: 'SKILL.md' })
}

it('reads the five kinds as a list, as lines, and in its own written form', () => {
  const list = `triggers:
  - match: ^/x
    inject: a.md
  - examples: [ship it, roll it out]
    not: [ship a parcel]
    inject: b.md
  - paths: ["src/**/*.{ts,tsx}", "*.css"]
    on: read
    inject: c.md
    require: true
  - command: ^git push
    inject: d.md
  - tool: mcp__db__drop_*
    inject: e.md
`
  const lines = `metadata:
  triggers: |
    ^/x => a.md
    examples: ship it | roll it out !not ship a parcel => b.md
    paths[read]: src/**/*.{ts,tsx}, *.css => c.md !require
    command: ^git push => d.md
    tool: mcp__db__drop_* => e.md
`
  for (const text of [list, lines]) {
    const { skill, diagnostics } = read(text)
    expect(diagnostics).toEqual([])
    expect(skill?.fields.triggers).toMatchObject(expected)
    const written = serializeSkill({
      fields: { ...skill?.fields, name: 's', description: 'D.' },
      body: '',
    })
    const again = parseSkill(written, { path: 'SKILL.md' })
    expect(again.skill?.fields.triggers).toMatchObject(expected)
  }
})

it.each([
  ['  - match: ^/x\n    paths: [a]\n    inject: a.md\n', 'trigger-form'],
  ['  - paths: []\n    inject: a.md\n', 'trigger-form'],
  ['  - path: a\n    inject: a.md\n', 'trigger-unknown-key'],
  ['  - match: a\n    inject: a.md\n    require: true\n', 'trigger-unknown-key'],
  ['  - command: a\n    inject: a.md\n    on: read\n', 'trigger-unknown-key'],
  ['  - tool: mcp__a__b\n    inject: a.md\n    on: read\n', 'trigger-unknown-key'],
  ['  - tool: mcp__a__b\n    command: a\n    inject: a.md\n', 'trigger-form'],
  ['  - tools: mcp__a__b\n    inject: a.md\n', 'trigger-unknown-key'],
  ['  - paths: a\n    on: write\n    inject: a.md\n', 'field-value'],
])('refuses %j', (entry, code) => {
  expect(read(`triggers:\n${entry}`).diagnostics.map((one) => one.code)).toContain(code)
})

it.each([
  ['src/**/*.tsx', 'src/a.tsx', true],
  ['src/**/*.tsx', 'src/a/b/c.tsx', true],
  ['src/**/*.tsx', 'lib/src/a.tsx', false],
  ['src/*.ts', 'src/a/b.ts', false],
  ['*.css', 'a/b.css', true],
  ['**', 'any/thing', true],
  ['docs/', 'docs/a', true],
  ['a/{b,c}/?.[mt]d', 'a/c/x.md', true],
  ['a/[!b]', 'a/b', false],
  ['a.b+c(d)/x', 'a.b+c(d)/x', true],
])('the glob %s matches %s: %s', (glob, path, expectedMatch) => {
  const reading = compilePattern(globPattern(glob))
  expect(reading.ok && reading.pattern.test(path)).toBe(expectedMatch)
})

it('recommends single quotes if double quotes change a pattern', () => {
  const { diagnostics } = read('triggers:\n  - match: "^/x \\w+"\n    inject: a.md\n')
  expect(diagnostics).toMatchObject([
    { code: 'yaml-syntax', hint: expect.stringContaining('single') },
  ])
  expect(compilePattern('\bcat\b')).toMatchObject({
    problem: { code: 'pattern-invalid', hint: expect.stringContaining('single quotes') },
  })
})
