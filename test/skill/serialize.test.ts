import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseSkill } from '../../src/skill/parse.ts'
import { serializeSkill } from '../../src/skill/serialize.ts'
import type { SkillFields } from '../../src/skill/model.ts'
import { validateReference } from '../../src/skill/reference/validate-reference.ts'
import { anyFields } from './_generated.ts'

describe('writing a skill', () => {
  it('writes the fields of the specification first, and the body after a blank line', () => {
    const text = serializeSkill({
      fields: {
        name: 'a',
        description: 'Does a: b. Use when asked.',
        metadata: { version: '1.0' },
        allowedTools: [{ tool: 'Read' }, { tool: 'Bash', pattern: 'git:*' }],
      },
      body: '\n# A\n\nDo it.\n',
    })
    expect(text).toBe(
      `---
name: a
description: "Does a: b. Use when asked."
allowed-tools: Read Bash(git:*)
metadata:
  version: "1.0"
---

# A

Do it.
`,
    )
  })

  it('writes no defaults, and a chain below metadata in its string form', () => {
    const written = parseSkill(
      '---\nname: a\ndescription: b\nmetadata:\n  x: z\n  chain: [c, d]\n  timeout: 5\n  async: false\n---\n',
      { path: 'a/SKILL.md' },
    )
    const { skill } = written
    if (skill === undefined) throw new Error('not read')
    expect(serializeSkill(skill)).toBe(
      '---\nname: a\ndescription: b\nmetadata:\n  x: z\n  chain: c d\n  timeout: "5"\n---\n',
    )
  })

  it('is reversed by reading, for any fields and body', () => {
    fc.assert(
      fc.property(anyFields, fc.string(), (fields, written) => {
        const body = written.replaceAll('\0', '').trim()
        const text = serializeSkill({ fields, body })
        const { skill, diagnostics } = parseSkill(text, { path: 'a/SKILL.md' })
        // Of the author's own entries beside a chain.
        expect(diagnostics.filter(({ code }) => code !== 'chain-unknown-key')).toEqual([])
        expect(skill?.body).toBe(body)
        expect(comparable(skill?.fields)).toEqual(comparable(fields))
      }),
      { numRuns: 500 },
    )
  })

  it('is valid under the reference profile too, except for triggers', () => {
    fc.assert(
      fc.property(anyFields, (fields) => {
        const { name, description, license, metadata, chain } = fields
        const dashes = JSON.stringify(fields).includes('---')
        fc.pre(!dashes)
        const text = serializeSkill({
          fields: { name, description, license, metadata, chain },
          body: '',
        })
        const { diagnostics } = validateReference(text, {
          path: 'a/SKILL.md',
          directoryName: name,
        })
        expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
      }),
    )
  })
})

/** Without lines, and without the metadata that a chain is written as. */
function comparable(fields: SkillFields | undefined): unknown {
  if (fields === undefined) return undefined
  const own = Object.entries(fields.metadata).filter(([key]) => key.startsWith('own-'))
  const plain: unknown = JSON.parse(
    JSON.stringify({ ...fields, metadata: Object.fromEntries(own) }, (key, value: unknown) =>
      key === 'line' ? 0 : value,
    ),
  )
  return plain
}
