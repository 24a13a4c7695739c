import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { discoverSkills } from '../../src/library/discover.ts'
import { fixSkill } from '../../src/skill/fix.ts'
import { parseSkill } from '../../src/skill/parse.ts'
import type { YamlNode } from '../../src/skill/read-yaml.ts'
import { valuesOf, yamlToJson } from '../../src/skill/read-yaml.ts'
import { validateSkill } from '../../src/skill/validate.ts'
import { makeFixture } from '../hooks/_fixture.ts'

const path = 'a/SKILL.md'
const skillOf = (lines: string): string => `---\nname: a\n${lines}\n---\nBody\n`

/** The frontmatter without the name, with its warnings: `code line:column`. */
function read(lines: string): { values: unknown; found: string[]; messages: string[] } {
  const text = skillOf(`description: "Does."\n${lines}`)
  const { skill, diagnostics } = parseSkill(text, { path })
  const values = skill && JSON.parse(JSON.stringify(yamlToJson(skill.frontmatter, 'text')))
  const { name: _name, description: _description, ...others } = values ?? {}
  const own = diagnostics.filter(({ code }) => code === 'text-cut' || code === 'yaml-unquoted')
  return {
    values: skill && others,
    found: own.map(({ code, line, column }) => `${code} ${line}:${column}`),
    messages: own.map(({ message }) => message),
  }
}

describe('a value that YAML cannot read', () => {
  it.each<[lines: string, values: object, places: string[]]>([
    ['license: Use when: asked', { license: 'Use when: asked' }, ['4:10']],
    ['license: ends with:\nx: y', { license: 'ends with:', x: 'y' }, ['4:10']],
    ['license: it is: "b" \'c\' \\d # e', { license: 'it is: "b" \'c\' \\d # e' }, ['4:10']],
    ['license: "Fast" reviews', { license: '"Fast" reviews' }, ['4:10']],
    ["license: 'it's", { license: "'it's" }, ['4:10']],
    ['license: [file] [mode]', { license: '[file] [mode]' }, ['4:10']],
    ['license: @team', { license: '@team' }, ['4:10']],
    ['license: `code` here', { license: '`code` here' }, ['4:10']],
    ['license: *bold* text', { license: '*bold* text' }, ['4:10']],
    ['license: 100 %: all', { license: '100 %: all' }, ['4:10']],
    ['license: - dash', { license: '- dash' }, ['4:10']],
    ['license: one\n  two: three\n  four', { license: 'one two: three four' }, ['4:10']],
    ['license: one: x\n\n  two\nx: y', { license: 'one: x\ntwo', x: 'y' }, ['4:10']],
    ['license: one\n  # two\n  three', { license: 'one # two three' }, ['4:10']],
    ['m:\n  k: a: b\n  l: c', { m: { k: 'a: b', l: 'c' } }, ['5:6']],
    ['m:\n  - k: a: b\n    l: c: d', { m: [{ k: 'a: b', l: 'c: d' }] }, ['5:8', '6:8']],
    ['m:\n  - @me\n  - b', { m: ['@me', 'b'] }, ['5:5']],
    ['"k e y": a: b', { 'k e y': 'a: b' }, ['4:10']],
  ])('is read as its source text: %j', (lines, values, places) => {
    const reading = read(lines)
    expect(reading.values).toEqual(values)
    expect(reading.found).toEqual(places.map((place) => `yaml-unquoted ${place}`))
    const { valid } = validateSkill(skillOf(`description: Does.\n${lines}`), {
      path,
      directoryName: 'a',
    })
    expect(valid).toBe(!lines.startsWith('m:') || lines.startsWith('m:\n'))
  })

  it('is read alike, without a warning, after it was fixed', () => {
    const text = skillOf('description: Use when: asked, it\'s "so"\nlicense: one\n  two: three')
    const before = parseSkill(text, { path })
    const after = parseSkill(fixSkill(text).text, { path })
    expect(after.skill?.fields).toEqual(before.skill?.fields)
    expect(before.diagnostics.map(({ code }) => code)).toEqual(['yaml-unquoted', 'yaml-unquoted'])
    expect(after.diagnostics).toEqual([])
  })

  it.each([
    ['an anchor', 'license: &a b: c', 'yaml-anchor'],
    ['a tag', 'license: !!str b', 'yaml-tag'],
    ['a mapping that stays open', 'license: {a: b', 'yaml-syntax'],
    ['a list that stays open', 'license: [a, b', 'yaml-syntax'],
    ['a quote that stays open', 'license: "a', 'yaml-syntax'],
    ['a control character', 'license: a\u0007b', 'yaml-syntax'],
    ['a line without a key', 'license: a\nb', 'yaml-syntax'],
    ['a key twice', 'license: a: b\nlicense: c', 'yaml-syntax'],
  ])('stays an error if it is %s', (_, lines, code) => {
    const { skill, diagnostics } = parseSkill(skillOf(`description: b\n${lines}`), { path })
    expect(skill).toBeUndefined()
    expect(diagnostics.map((one) => one.code)).toContain(code)
  })
})

describe('text behind ` #` in a value without quotes', () => {
  it.each<[lines: string, cut: string, place: string]>([
    ['license: Posts to #releases now', '#releases now', '4:19'],
    ['license: C # language', '# language', '4:12'],
    ['license:\t #a', '#a', '4:11'],
    ['license: #a b', '#a b', '4:10'],
    ['license: one\n  two #three', '#three', '5:7'],
    ['license: one\n  #two\n\n   #three\nx: y', '#two #three', '5:3'],
    ['license: #1 of\n  all\nx: y', '#1 of', '4:10'],
    ['m:\n  - #1 of\n    all #b', '#1 of #b', '5:5'],
    ['license: a #b\n  #c', '#b #c', '4:12'],
    ['m:\n  k: a #b', '#b', '5:8'],
    ['m:\n  - a #b\n  - c', '#b', '5:7'],
    ['m:\n  - #b\n  - c', '#b', '5:5'],
    ['m:\n  - k: a\n    l: c #d', '#d', '6:10'],
    ['m: [a #b\n  , c]', '#b', '4:7'],
    ['metadata:\n  version: 1.10 #beta', '#beta', '5:17'],
  ])('is named in a warning: %j', (lines, cut, place) => {
    const { found, messages } = read(lines)
    expect(found).toEqual([`text-cut ${place}`])
    expect(messages[0]).toContain(`\`${cut}\``)
  })

  it.each([
    '# own line\nlicense: a\n# own line\nx: y',
    'm: # the key\n  # below\n  k: a\n  # beside\n  l: b',
    'm: # the key\n  - a\n  # beside\n  - b',
    'license: "a" # b',
    "license: 'a' # b",
    'license: | # b\n  a #b',
    'm: [a, b] # c',
    'license: a#b',
    'sandbox: true # always',
    'metadata:\n  chain: # steps\n    - a # first\n    - b   # then\n  async: false # one by one\n  timeout: 5 # seconds',
  ])('is a comment if it cuts no text: %j', (lines) => {
    expect(read(lines).found).toEqual([])
  })
})

it('reads an overlay like frontmatter, with the same warnings', () => {
  const { skill, write, runtime } = makeFixture()
  skill('saw', [])
  const overlay =
    'saw:\n  - match: deploy #prod\n    inject: x.md\n  - match: say: it\n    inject: y.md\n'
  write('.config/skillrail/triggers.yaml', overlay)
  const { skills, diagnostics } = discoverSkills({ runtime })
  expect(skills[0]?.fields.triggers.map(({ match }) => match)).toEqual(['deploy', 'say: it'])
  expect(diagnostics.map(({ code, line }) => `${code} ${line}`)).toEqual([
    'yaml-unquoted 4',
    'text-cut 2',
  ])
})

/** Pieces of values as authors write them. `@` becomes a number, so that each piece is unlike all others. */
const pieces = fc.array(
  fc.constantFrom(
    't@',
    '#t@',
    '# t@',
    't@:',
    't@#',
    '"t@"',
    "'t@",
    '[t@]',
    '`t@`',
    '*t@*',
    '- t@',
    '@me@',
    't@,',
    '{t@}',
    '%t@',
    't@|',
    '>t@',
    '!t@',
    '&t@',
    '1.@0',
    '0x@',
    'true',
    'null',
    't@\tt@',
  ),
  { minLength: 1, maxLength: 5 },
)
const layouts = ['plain', 'folded lines', 'item', 'nested', 'double', 'single', 'literal'] as const
const someValues = fc.array(fc.tuple(pieces, fc.constantFrom(...layouts)), {
  minLength: 1,
  maxLength: 4,
})

function layOut(key: string, words: readonly string[], layout: (typeof layouts)[number]): string {
  const text = words.join(' ')
  if (layout === 'plain') return `${key}: ${text}`
  if (layout === 'folded lines') return `${key}: ${words.join('\n  ')}`
  if (layout === 'item') return `${key}:\n  - ${text}\n  - last`
  if (layout === 'nested') return `${key}:\n  one: first\n  two: ${text}`
  if (layout === 'double') return `${key}: ${JSON.stringify(text)}`
  if (layout === 'single') return `${key}: '${text.replaceAll("'", "''")}'`
  return `${key}: |-\n  ${text}`
}

function textsOf(node: YamlNode): string[] {
  if (node.kind === 'scalar') return [node.text]
  if (node.kind === 'list') return node.items.flatMap(textsOf)
  return node.entries.flatMap(({ key, value }) => [key.text, ...textsOf(value)])
}

/** Whether the value of a layout is one text without quotes, as it seems to be. */
function isPlainText(node: YamlNode, layout: (typeof layouts)[number]): boolean {
  if (node.kind === 'scalar') return node.style === 'plain' && typeof node.value !== 'boolean'
  if (node.flow) return false
  if (node.kind === 'list')
    return layout === 'item' && node.items.every((item) => isPlainText(item, 'plain'))
  return layout === 'nested' && node.entries.every(({ value }) => isPlainText(value, 'plain'))
}

describe('any frontmatter', () => {
  it('yields every word of its values as a value or in a diagnostic', () => {
    fc.assert(
      fc.property(someValues, (values) => {
        let count = 10
        const numbered = values.map(([words, layout]) => ({
          words: words.map((word) => word.replaceAll('@', () => String(++count))),
          layout,
        }))
        const lines = numbered.map(({ words, layout }, index) => layOut(`k${index}`, words, layout))
        const text = skillOf(`description: Does.\n${lines.join('\n')}`)
        const { skill, diagnostics } = parseSkill(text, { path })
        const errors = diagnostics.filter(({ severity }) => severity === 'error')
        expect(skill === undefined).toBe(errors.length > 0)
        if (!skill) return
        const messages = diagnostics.map(({ message }) => message)
        const kept = [...textsOf(skill.frontmatter), ...messages].join('\n')
        const nodes = valuesOf(skill.frontmatter)
        for (const [index, { words, layout }] of numbered.entries()) {
          const node = nodes.get(`k${index}`)
          const isQuoted = ['double', 'single', 'literal'].includes(layout)
          // Beside quotes, brackets, keys and flags a comment is a comment.
          const mayComment = !isQuoted && node !== undefined && !isPlainText(node, layout)
          const written = words.join(' ')
          const checked = mayComment ? written.replace(/#.*/s, '') : written
          for (const [word] of checked.matchAll(/[#\w.]*\d/g)) expect(kept).toContain(word)
        }
      }),
      { numRuns: 3000 },
    )
  })
})
