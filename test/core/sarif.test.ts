import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import type { Diagnostic } from '../../src/core/errors.ts'
import { sarifLog } from '../../src/core/sarif.ts'

const tool: Parameters<typeof sarifLog>[0] = {
  name: 'Skillrail',
  version: '1.2.3',
  rules: [
    { code: 'a-rule', severity: 'error', sentence: 'A sentence.', source: 'https://a.example/x' },
    { code: 'b-rule', severity: 'info', sentence: 'Another.', source: 'a table' },
    { code: 'unused', severity: 'info', sentence: 'Not hit.' },
  ],
}
const finding = (more: Partial<Diagnostic> = {}): Diagnostic => ({
  code: 'a-rule',
  severity: 'error',
  message: 'Wrong.',
  path: '/work/a b/SKILL.md',
  ...more,
})

/** The part of SARIF 2.1.0 that is written, by the sections of the standard; nothing else is allowed. */
const text = {
  type: 'object',
  properties: { text: { type: 'string', minLength: 1 } },
  required: ['text'],
  additionalProperties: false,
}
const level = { enum: ['error', 'warning', 'note'] }
const object = (properties: object, required: readonly string[]): object => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const list = (items: object): object => ({ type: 'array', items })
const schema = object(
  {
    $schema: { type: 'string', pattern: '^https://docs\\.oasis-open\\.org/' },
    version: { const: '2.1.0' }, // 3.13.2
    runs: list(
      object(
        {
          tool: object(
            {
              driver: object(
                {
                  name: { type: 'string' }, // 3.19.8
                  semanticVersion: { type: 'string' }, // 3.19.12
                  rules: {
                    ...list(
                      object(
                        {
                          id: { type: 'string' }, // 3.49.3
                          shortDescription: text,
                          helpUri: { type: 'string', pattern: '^https://' },
                          help: text,
                          defaultConfiguration: object({ level }, ['level']), // 3.50
                        },
                        ['id'],
                      ),
                    ),
                    uniqueItems: true,
                  },
                },
                ['name'],
              ),
            },
            ['driver'],
          ),
          columnKind: { enum: ['utf16CodeUnits', 'unicodeCodePoints'] }, // 3.14.17
          results: list(
            object(
              {
                ruleId: { type: 'string' }, // 3.27.5
                ruleIndex: { type: 'integer', minimum: 0 }, // 3.27.6
                level, // 3.27.10
                message: text, // 3.11
                locations: list(
                  object(
                    {
                      physicalLocation: object(
                        {
                          artifactLocation: object(
                            { uri: { type: 'string', pattern: '^[\\x21-\\x7e]+$' } },
                            ['uri'],
                          ),
                          region: object(
                            {
                              startLine: { type: 'integer', minimum: 1 }, // 3.30.5
                              startColumn: { type: 'integer', minimum: 1 },
                            },
                            ['startLine'],
                          ),
                        },
                        ['artifactLocation'],
                      ),
                    },
                    ['physicalLocation'],
                  ),
                ),
              },
              ['message'], // 3.27.11
            ),
          ),
        },
        ['tool'],
      ),
    ),
  },
  ['version', 'runs'],
)
const isSarif = new Ajv({ allowUnionTypes: true }).compile(schema)

describe('a SARIF log', () => {
  it('has the structure of the standard, whatever the diagnostics contain', () => {
    const log = sarifLog(
      tool,
      [
        finding(),
        finding({ line: 3 }),
        finding({ code: 'b-rule', severity: 'info', line: 3, column: 7, hint: 'Fix it.' }),
        finding({ code: 'unknown', severity: 'warning', path: 'relative/é.md' }),
      ],
      '/work',
    )
    expect(isSarif(JSON.parse(JSON.stringify(log)))).toBe(true)
    expect(isSarif.errors).toBeNull()
    expect(isSarif({ version: '2.1.0', runs: [{}] })).toBe(false)
  })

  it('lists the rules of its results in code-point order, and refers to them', () => {
    const log = sarifLog(tool, [finding({ code: 'zebra' }), finding(), finding()], '/work')
    expect(log.runs[0]?.tool.driver.rules.map(({ id }) => id)).toEqual(['a-rule', 'zebra'])
    expect(log.runs[0]?.results.map(({ ruleIndex }) => ruleIndex)).toEqual([1, 0, 0])
  })

  it.each([
    ['/work/a b/SKILL.md', 'a%20b/SKILL.md'],
    ['/elsewhere/x.md', 'file:///elsewhere/x.md'],
    ['/worker/x.md', 'file:///worker/x.md'],
    ['/work', 'file:///work'],
    ['a/é#?.md', 'a/%C3%A9%23%3F.md'],
    ['a\ud800.md', 'a%EF%BF%BD.md'],
  ])('writes %j as the address %s', (path, uri) => {
    const [result] = sarifLog(tool, [finding({ path })], '/work').runs[0]?.results ?? []
    expect(result?.locations[0]?.physicalLocation.artifactLocation.uri).toBe(uri)
  })

  it('shows hidden characters and masks secrets', () => {
    const message = `a\u202eb ghp_${'q7R8'.repeat(9)}`
    const [result] =
      sarifLog(tool, [finding({ message, hint: 'x' })], '/work').runs[0]?.results ?? []
    expect(result?.message.text).toBe('a\\u{202e}b [redacted]\nx')
  })

  it('is a document without results if there are no diagnostics', () => {
    const log = sarifLog(tool, [], '/work')
    expect(isSarif(log)).toBe(true)
    expect(log.runs[0]?.results).toEqual([])
  })
})
