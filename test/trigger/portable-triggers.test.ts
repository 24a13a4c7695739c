import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readPortableTriggers, readTriggers } from '../../src/trigger/read-triggers.ts'

const value = fc
  .string({
    unit: fc.constantFrom(...Array.from('ab/^$|()[]{}*+?.\\"\'#:-,&!%@`~=<> é')),
    minLength: 1,
    maxLength: 12,
  })
  .filter((text) => text.trim() === text && text !== '')
/** Any spelling, portable or not. */
const written = fc
  .tuple(value, fc.constantFrom('plain', 'single', 'double'))
  .map(([text, style]) => {
    if (style === 'plain') return text
    if (style === 'single') return `'${text.replaceAll("'", "''")}'`
    return `"${text.replace(/[\\"]/g, '\\$&')}"`
  })
const file = fc.constantFrom('references/a.md', '"references/b.md"', "'a b.md'", 'x-y.md')
const between = fc.constantFrom('', '\n', '  # a comment\n', '    # triggers\n', '    note: x\n')
const entry = fc
  .tuple(written, file, between, between, fc.constantFrom(0, 2, 2, 2, 4))
  .map(([match, inject, gap, after, indent]) => {
    const pad = ' '.repeat(indent)
    return `${pad}- match: ${match}\n${gap}${pad}  inject: ${inject}\n${after}`
  })
const document = fc
  .tuple(
    fc.constantFrom('', 'license: MIT\n', 'metadata:\n  a: b\n', '# c\n'),
    fc.array(entry, { minLength: 1, maxLength: 4 }),
    fc.constantFrom('', 'compatibility: x\n', 'other:\n  - match: x\n    inject: y\n'),
    fc.constantFrom('\n', '\r\n'),
  )
  .map(([before, entries, after, newline]) => {
    const text = `---\nname: t\ndescription: x\n${before}triggers:\n${entries.join('')}${after}---\n# body\n`
    return text.replaceAll('\n', newline)
  })

describe('the line reader', () => {
  it('reads the same triggers as a YAML parser, if it accepts the format', () => {
    let accepted = 0
    fc.assert(
      fc.property(document, (text) => {
        const portable = readPortableTriggers(text)
        if (!portable.portable) return
        const full = readTriggers(text, 'SKILL.md')
        // A file that is not valid YAML is loaded by nobody.
        if (full.diagnostics.some(({ code }) => code.startsWith('yaml-'))) return
        accepted++
        expect(portable.triggers).toEqual(full.triggers)
      }),
      { numRuns: 2000 },
    )
    expect(accepted).toBeGreaterThan(200)
  })

  it('never accepts text that is not YAML', () => {
    fc.assert(
      fc.property(document, (text) => {
        const { diagnostics } = readTriggers(text, 'SKILL.md')
        const broken = diagnostics.some(({ code }) => code.startsWith('yaml-'))
        expect(broken && readPortableTriggers(text).portable).toBe(false)
      }),
      { numRuns: 1000 },
    )
  })

  it.each([
    ['triggers: [{match: a, inject: b}]', 2],
    ['"triggers":\n  - match: a\n    inject: b', 2],
    ['metadata:\n  triggers:\n    - match: a\n      inject: b', 3],
    ['triggers:\n  - match: |\n      a\n    inject: b', 3],
    ['triggers:\n  - inject: b\n    match: a', 3],
    ['triggers:\n  - match: &x a\n    inject: b', 3],
    ['triggers:\n  - match: a # why\n    inject: b', 3],
    ['triggers:\n  - match: "a\\d"\n    inject: b', 3],
    ['triggers:\n  - match: a\n    other: c\n    inject: b', 4],
    ['triggers:\n  - match: a\n    inject: b\n   - match: c\n     inject: d', 5],
    ['triggers:\n  - match: a\nlicense: MIT', 4],
  ])('refuses %j, which needs a YAML parser, and names the line', (lines, line) => {
    const text = `---\n${lines}\n---\n`
    expect(readPortableTriggers(text)).toMatchObject({ portable: false, line })
  })

  it.each(['examples: [a, b]', 'paths: [a]', 'command: a', 'tool: mcp__a__b'])(
    'leaves out a trigger with `%s`, which no prompt fires',
    (other) => {
      const item = `  - ${other}\n    inject: a.md\n    require: false\n`
      const text = `---\ntriggers:\n${item}  - match: ^/x\n    inject: b.md\n---\n`
      const reading = readPortableTriggers(text)
      expect(reading).toMatchObject({ portable: true, triggers: [{ match: '^/x' }] })
    },
  )
})
