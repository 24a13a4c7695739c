import { describe, expect, it } from 'vitest'
import type { Diagnostic } from '../../src/core/errors.ts'
import { validateSkill } from '../../src/skill/validate.ts'
import { validationRules } from '../../src/skill/rules.ts'

const description = 'Extracts text from PDF files. Use when the user mentions PDFs or forms.'

function check(frontmatter: string, directoryName?: string): Diagnostic[] {
  const text = `---\n${frontmatter}\n---\n\nBody.\n`
  return validateSkill(text, { path: 'a/SKILL.md', directoryName }).diagnostics
}

const codes = (diagnostics: readonly Diagnostic[]): string[] =>
  diagnostics.map(({ code, line }) => `${code}:${line}`)

const named = (name: string): string => `name: ${name}\ndescription: ${description}`
const more = (lines: string): string => `name: a\ndescription: ${description}\n${lines}`

const filled = (length: number): string => `Use when: ${'x'.repeat(length)}`.slice(0, length)

describe('the spec profile', () => {
  it('reports nothing about the examples of the specification', () => {
    const examples = [
      'license: Apache-2.0\ncompatibility: Requires git, docker, and network access\nallowed-tools: Bash(git:*) Bash(jq:*) Read\nmetadata:\n  author: example-org\n  version: "1.0"',
      'license: Proprietary. LICENSE.txt has complete terms',
    ]
    for (const example of examples) expect(check(more(example), 'a')).toEqual([])
  })

  it.each([
    ['pdf-processing', []],
    ['a', []],
    ['a'.repeat(64), []],
    ['"007"', []],
    ['PDF-Processing', ['name-uppercase:2']],
    ['-pdf', ['name-hyphen-edge:2']],
    ['pdf-', ['name-hyphen-edge:2']],
    ['pdf--processing', ['name-hyphen-double:2']],
    ['pdf_processing', ['name-characters:2']],
    ['"../escape"', ['name-characters:2']],
    ['"a b"', ['name-characters:2']],
    ['a'.repeat(65), ['name-too-long:2']],
    ['数据', ['name-unicode:2']],
    ['données', ['name-unicode:2']],
    ['ＡＢＣ', ['name-unicode:2', 'name-uppercase:2']],
    ['कौशल', ['name-characters:2']],
    ['a😀', ['name-characters:2']],
    ['123', ['text-unquoted:2']],
    ['""', ['name-missing:2']],
    ['~', ['name-missing:2']],
    ['', ['name-missing:2']],
    ['[a]', ['field-type:2']],
  ])('reports for the name %j exactly %j', (name, expected) => {
    expect(codes(check(named(name)))).toEqual(expected)
  })

  it("requires the directory's name, after normalisation", () => {
    expect(codes(check(named('a'), 'b'))).toEqual(['name-directory-mismatch:2'])
    expect(codes(check(named('café'), 'cafe\u0301'))).toEqual(['name-unicode:2'])
  })

  it('requires a name and a description', () => {
    expect(codes(check(`description: ${description}`))).toEqual(['name-missing:2'])
    expect(codes(check('name: a'))).toEqual(['description-missing:2'])
    expect(codes(check('name: a\ndescription: "  "'))).toEqual(['description-missing:3'])
  })

  it.each([
    [`name: a\ndescription: "${filled(1024)}"`, []],
    [`name: a\ndescription: "${filled(1025)}"`, ['description-too-long']],
    [`name: a\ndescription: "Use when ${'😀'.repeat(1015)}"`, []],
    [`name: a\ndescription: >\n  ${filled(1024)}`, ['description-too-long']],
    [more(`compatibility: "${filled(500)}"`), []],
    [more(`compatibility: "${filled(501)}"`), ['compatibility-too-long']],
    [more('compatibility: ""'), ['compatibility-empty']],
    [more('compatibility:'), ['compatibility-empty']],
    [more('compatibility: 3'), ['text-unquoted']],
  ])('counts characters (case %#)', (frontmatter, expected) => {
    const found = check(frontmatter).filter(({ code }) => code !== 'description-vague')
    expect(found.map(({ code }) => code)).toEqual(expected)
  })

  it.each([
    ['metadata:\n  version: 1.0', ['metadata-not-string:5']],
    ['metadata:\n  proposal: true', ['metadata-not-string:5']],
    ['metadata:\n  tags: [a, b]', ['metadata-nested:5']],
    ['metadata:\n  tags:\n    a: b', ['metadata-nested:6']],
    ['metadata:\n  chain: [a, b]', ['metadata-nested-extension:5']],
    ['metadata:\n  chain: a\n  async: true', ['metadata-not-string:6']],
    ['metadata:\n  gates: [a]', ['metadata-nested:5']],
    ['metadata:\n  chain: a\n  gates: [a]', ['metadata-nested-extension:6']],
    ['metadata:\n  triggers:\n    - match: a\n      inject: a.md', ['metadata-nested-extension:6']],
    ['metadata:\n  hooks:\n    Stop: x', ['metadata-nested-extension:6']],
    ['allowed-tools: Read, Grep', ['allowed-tools-form:4']],
    ['allowed-tools: [Read]', ['allowed-tools-form:4']],
    ['allowed-tools: Bash(a, b)', []],
    ['allowed_tools: Read', ['unknown-field:4']],
    ['version: 1.0', ['unknown-field:4']],
    ['timeout: 5', ['unknown-field:4']],
    ['chain: a b', ['field-placement:4']],
    ['when_to_use: often', ['client-field:4']],
    ['paths: "*.ts"', ['client-field:4']],
    ['model: opus\nuser-invocable: false', []],
    ['triggers:\n  - match: a\n    inject: a.md', []],
  ])('reports for the frontmatter %j exactly %j', (lines, expected) => {
    expect(codes(check(more(lines)))).toEqual(expected)
  })

  it.each([
    ['allowed_tools: Read', 'Did you mean allowed-tools?'],
    ['discription: x', 'Did you mean description?'],
    ['zebra: x', 'Move it below `metadata:`.'],
    ['retry_count: 3', 'Indent it, with its chain, below `metadata:`.'],
  ])('has a hint for %j', (lines, hint) => {
    expect(check(more(lines))[0]?.hint).toBe(hint)
  })

  it('names the clients that use a foreign field', () => {
    const [found] = check(more('paths: "*.ts"'))
    expect(found).toMatchObject({ severity: 'info' })
    expect(found?.message).toContain('Claude Code and Cursor')
  })
})

describe('the table of rules', () => {
  it('lists every code once, in kebab case, with a sentence and a source', () => {
    const found = validationRules.map(({ code }) => code)
    expect(new Set(found).size).toBe(found.length)
    for (const { code, sentence, source } of validationRules) {
      expect(code).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
      expect(sentence).toMatch(/[.]$/)
      expect(source).not.toBe('')
    }
  })

  it('gives every diagnostic its severity and source', () => {
    const rules = new Map(validationRules.map((rule) => [rule.code, rule]))
    const found = check(more('metadata:\n  a: 1\n  b: [c]\nallowed-tools: a, b\nzebra: 1'), 'b')
    expect(found.length).toBeGreaterThan(4)
    for (const { code, severity, source } of found) {
      expect({ severity, source }).toEqual({
        severity: rules.get(code)?.severity,
        source: rules.get(code)?.source,
      })
    }
  })
})
