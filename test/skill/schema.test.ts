import fc from 'fast-check'
import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { fieldTable, frontmatterJsonSchema } from '../../src/skill/field-table.ts'
import { validateSkill } from '../../src/skill/validate.ts'

const accepts = new Ajv({ strict: false }).compile(frontmatterJsonSchema())
const base = { name: 'a', description: 'Extracts text from PDFs. Use when asked about forms.' }

/** The same value judged by both; JSON is YAML. */
function judge(value: object): { accepted: boolean; errors: string[]; warnings: string[] } {
  const lines = Object.entries(value).map(([key, part]) => `${key}: ${JSON.stringify(part)}`)
  const text = `---\n${lines.join('\n')}\n---\n`
  const { diagnostics } = validateSkill(text, { path: 'a', directoryName: undefined })
  const of = (severity: string): string[] =>
    diagnostics.filter((it) => it.severity === severity).map(({ code }) => code)
  return { accepted: accepts(value), errors: of('error'), warnings: of('warning') }
}

/** Client fields have no form to check, and the schema cannot look into the text of hooks. */
function fieldsAt(place: 'top' | 'metadata'): string[] {
  return fieldTable
    .filter(({ placement, owner }) => owner !== 'client' && [place, 'either'].includes(placement))
    .map(({ name }) => name)
    .filter((name) => !['chain', 'gates', 'metadata'].includes(name))
}

describe('the JSON Schema of the frontmatter', () => {
  it('equals the file in the package', () => {
    const file = readFileSync(new URL('../../schema/frontmatter.json', import.meta.url), 'utf8')
    expect(file, 'run: npm run generate').toBe(
      `${JSON.stringify(frontmatterJsonSchema(), null, 2)}\n`,
    )
  })

  it('is draft 7 and describes every field', () => {
    expect(frontmatterJsonSchema()).toMatchObject({
      $schema: 'http://json-schema.org/draft-07/schema#',
      required: ['name', 'description'],
      properties: {
        name: { maxLength: 64 },
        paths: { description: expect.stringContaining('Only Claude Code and Cursor.') },
        metadata: {
          properties: { chain: {}, retry_until: { enum: ['none', 'stable', 'success'] } },
        },
      },
    })
  })

  it.each([
    { metadata: { chain: ['a', 'b'], timeout: 5, gates: 'a' } },
    { triggers: [{ match: 'a', inject: 'a.md' }], context: 'fork', arguments: ['x'] },
    { 'allowed-tools': ['Read'], hooks: { Stop: [] }, 'user-invocable': false },
    { zebra: [1, 2], paths: ['*.ts'] },
  ])('accepts %j', (more) => {
    expect(judge({ ...base, ...more })).toMatchObject({ accepted: true, errors: [] })
  })

  const scalar = fc.constantFrom<unknown>(
    'a',
    '',
    'A b',
    '../x',
    5,
    -1,
    1.5,
    true,
    'true',
    '3',
    'fork',
  )
  const value = fc.oneof(
    scalar,
    fc.uniqueArray(scalar, { maxLength: 2 }),
    fc.constantFrom<unknown>(
      { a: 'b' },
      [{ match: 'a', inject: 'b.md' }],
      [{ match: 'a' }],
      [['a']],
    ),
  )
  const topField = fc.constantFrom(...fieldsAt('top'), 'zebra')
  const policyField = fc.constantFrom(...fieldsAt('metadata'), 'author')

  it('accepts and refuses the same fields as validate', () => {
    const metadata = fc
      .dictionary(policyField, value, { maxKeys: 2 })
      .map((entries) => ({ chain: 'a b', ...entries }))
    const frontmatter = fc
      .tuple(
        fc.dictionary(topField, value, { maxKeys: 2 }),
        fc.option(metadata, { nil: undefined }),
      )
      .map(([top, below]) => ({
        ...base,
        ...top,
        ...(below === undefined ? undefined : { metadata: below }),
      }))
    fc.assert(
      fc.property(frontmatter, (generated) => {
        const { accepted, errors, warnings } = judge(generated)
        const found = accepted ? errors : [...errors, ...warnings]
        expect(found.length > 0).toBe(!accepted)
      }),
      { numRuns: 2000 },
    )
  })
})
