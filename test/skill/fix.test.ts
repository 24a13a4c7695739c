import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fixSkill } from '../../src/skill/fix.ts'
import { parseSkill } from '../../src/skill/parse.ts'
import { serializeSkill } from '../../src/skill/serialize.ts'
import { anyFields } from './_generated.ts'

const frontmatter = (lines: string): string => `---\n${lines}\n---\n\nBody  \n`

describe('fixing a skill', () => {
  it('leaves a correct skill unchanged', () => {
    const text = frontmatter('name: a\ndescription: "Does: a"\nallowed-tools: Read Bash(git:*)')
    expect(fixSkill(text)).toEqual({ text, changes: [] })
  })

  it.each<[string, string, string[]]>([
    ['\ufeff---\nname: a\n---\n', '---\nname: a\n---\n', ['1 removed the byte order mark']],
    ['---\r\nname: a\r\n---\r\nBody\r\n', '---\nname: a\n---\nBody\n', ['1 replaced CRLF by LF']],
    ['---  \nname: a \t\n--- \nBody  \n', '---\nname: a\n---\nBody  \n', ['1 ', '2 ', '3 ']],
    [
      frontmatter('name: a\ndescription: Use when: asked # why\nlicense: MIT'),
      frontmatter('name: a\ndescription: "Use when: asked # why"\nlicense: MIT'),
      ['3 quoted a value'],
    ],
    [
      frontmatter('metadata:\n  title: a: "b"\n  at: @me\n  code: `x`'),
      frontmatter('metadata:\n  title: "a: \\"b\\""\n  at: "@me"\n  code: "`x`"'),
      ['3 quoted', '4 quoted', '5 quoted'],
    ],
    [
      frontmatter('description: |\n  Note: a: b  \n  c\nname: a: b'),
      frontmatter('description: |\n  Note: a: b  \n  c\nname: "a: b"'),
      ['5 quoted'],
    ],
    [
      frontmatter('allowed-tools: Read, Bash(git add:*, git rm:*)\nname: a'),
      frontmatter('allowed-tools: Read Bash(git add:*, git rm:*)\nname: a'),
      ['2 wrote'],
    ],
    [
      frontmatter('name: a\nallowed-tools:\n  - Read\n  - "Bash(git:*)"\n\n# Next.\nlicense: MIT'),
      frontmatter('name: a\nallowed-tools: Read Bash(git:*)\n\n# Next.\nlicense: MIT'),
      ['3 wrote'],
    ],
    [
      frontmatter('description: "two  \n  lines  "'),
      frontmatter('description: "two\n  lines  "'),
      ['2 removed'],
    ],
    [
      frontmatter("allowed-tools: ['Azure MCP/docs', Read]"),
      frontmatter('allowed-tools: Azure MCP/docs Read'),
      ['2 wrote'],
    ],
    [
      frontmatter("name: a: it's\n  goes: on\nlicense: MIT"),
      frontmatter("name: 'a: it''s\n  goes: on'\nlicense: MIT"),
      ['2 quoted'],
    ],
    [
      frontmatter('description: Posts to #releases now\nmetadata:\n  - a\n  - b #2\n'),
      frontmatter('description: "Posts to #releases now"\nmetadata:\n  - a\n  - "b #2"\n'),
      ['2 quoted', '5 quoted'],
    ],
    [
      frontmatter("description: It's for\n  #releases and\n\n  #news\nlicense: MIT"),
      frontmatter("description: 'It''s for\n  #releases and\n\n  #news'\nlicense: MIT"),
      ['2 quoted'],
    ],
    [
      frontmatter('description: #1 of\n  all #tools\nlicense: MIT'),
      frontmatter("description: '#1 of\n  all #tools'\nlicense: MIT"),
      ['2 quoted'],
    ],
    [
      frontmatter('triggers:\n  - match: deploy #prod\n    inject: a.md # why'),
      frontmatter('triggers:\n  - match: "deploy #prod"\n    inject: a.md # why'),
      ['3 quoted'],
    ],
  ])('fixes %j', (text, fixed, changes) => {
    const result = fixSkill(text)
    expect(result.text).toBe(fixed)
    expect(result.changes).toHaveLength(changes.length)
    for (const [index, start] of changes.entries()) {
      const { line, message } = result.changes[index] ?? { line: 0, message: '' }
      expect(`${line} ${message}`.startsWith(start)).toBe(true)
    }
    expect(fixSkill(fixed)).toEqual({ text: fixed, changes: [] })
  })

  it.each([
    'no frontmatter',
    '---\nname: a: b',
    frontmatter('name: "open\ndescription: a: b'),
    frontmatter('name: a\nname: b: c'),
    frontmatter('allowed-tools: # why\n  - Read # this\n  - Edit'),
    frontmatter('description: >\n  keeps  \n  blanks  '),
    frontmatter('allowed-tools: [Read, {Bash: x}]'),
    frontmatter('name: a # b\nlicense: MIT # see LICENSE\nmodel: opus # the best'),
    frontmatter('name: a #b\nallowed-tools: Read #c'),
    frontmatter('metadata:\n  chain: a # b\n  async: true #c\n  timeout: 5 # seconds'),
    frontmatter('license: # none\ndescription: "a" # b'),
  ])('does not change text that needs a decision: %j', (text) => {
    expect(fixSkill(text)).toEqual({ text, changes: [] })
  })

  it('removes blanks from any number of lines', () => {
    const text = frontmatter(`name: a \n${'# b \n'.repeat(150)}description: |\n  c  `)
    const { text: fixed, changes } = fixSkill(text)
    expect(fixed).toBe(text.replaceAll(/(?<=a|b) $/gm, ''))
    expect(changes.map(({ line }) => line)).toEqual(Array.from({ length: 151 }, (_, at) => at + 2))
    const block = frontmatter(`name: a\ndescription: |\n${'  a \n'.repeat(12_000)}`)
    expect(fixSkill(block).changes).toEqual([])
  })

  it('keeps every readable value, and changes nothing the second time', () => {
    const noise = fc.constantFrom('\ufeff', '')
    const ends = fc.constantFrom('\n', '\r\n', ' \n', '\t\n')
    fc.assert(
      fc.property(anyFields, fc.string(), noise, ends, (fields, body, mark, end) => {
        const written = serializeSkill({ fields, body: body.replaceAll(/[\0\r]/g, '') })
        const text = mark + written.replaceAll('\n', end)
        const { text: fixed } = fixSkill(text)
        expect(fixSkill(fixed)).toEqual({ text: fixed, changes: [] })
        const before = parseSkill(text, { path: 'a' }).skill
        const after = parseSkill(fixed, { path: 'a' }).skill
        expect(after?.fields).toEqual(before?.fields)
        expect(after?.body).toBe(before?.body.replaceAll('\r\n', '\n'))
      }),
      { numRuns: 300 },
    )
  })

  it('changes nothing the second time, for any lines', () => {
    const piece = fc.constantFrom(
      'a: ',
      'b',
      ': ',
      '\n',
      '  ',
      '- ',
      '"',
      "'",
      '|',
      '#',
      '@x',
      '[',
      ']',
    )
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = frontmatter(pieces.join(''))
        const { text: fixed } = fixSkill(text)
        expect(fixSkill(fixed).text).toBe(fixed)
        const { skill, diagnostics } = parseSkill(text, { path: 'a' })
        if (diagnostics.some(({ code }) => code === 'text-cut')) return
        const before = skill?.fields
        const after = parseSkill(fixed, { path: 'a' }).skill?.fields
        expect(before === undefined ? undefined : after).toEqual(before)
      }),
      { numRuns: 2000 },
    )
  })
})
