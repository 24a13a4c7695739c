import { readFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseSkill } from '../../src/skill/parse.ts'
import { validateReference } from '../../src/skill/reference/validate-reference.ts'
import { validateSkill } from '../../src/skill/validate.ts'

const fixtures = path.resolve(import.meta.dirname, '../fixtures/skills')

function read(name: string): Buffer {
  return readFileSync(path.join(fixtures, name, 'SKILL.md'))
}

function codesOf(content: string | Uint8Array, directoryName = 'a'): string[] {
  const { diagnostics } = validateSkill(content, {
    path: `${directoryName}/SKILL.md`,
    directoryName,
  })
  return diagnostics.filter(({ severity }) => severity !== 'info').map(({ code }) => code)
}

const unusable: readonly (readonly [fixture: string, code: string, line: number | undefined])[] = [
  ['frontmatter-missing', 'frontmatter-missing', 1],
  ['frontmatter-unclosed', 'frontmatter-unclosed', 1],
  ['frontmatter-list', 'frontmatter-not-mapping', 2],
  ['frontmatter-text', 'frontmatter-not-mapping', 2],
  ['frontmatter-empty', 'frontmatter-empty', 2],
  ['frontmatter-comments', 'frontmatter-empty', 2],
  ['empty-file', 'frontmatter-missing', 1],
  ['nul', 'file-nul', undefined],
  ['not-utf8', 'file-not-utf8', undefined],
  ['alias-bomb', 'yaml-anchor', 5],
  ['reserved-key', 'yaml-reserved-key', 4],
  ['duplicate-key', 'yaml-duplicate-key', 4],
  ['tabs', 'yaml-syntax', 5],
  ['tag', 'yaml-tag', 3],
  ['two-documents', 'yaml-several-documents', 5],
  ['list-as-key', 'yaml-key-form', 4],
]

describe('a file that cannot be used', () => {
  it.each(unusable)('reports one clear error for %s', (fixture, code, line) => {
    const { skill, diagnostics } = parseSkill(read(fixture), { path: 'p' })
    expect(skill).toBeUndefined()
    expect(diagnostics[0]).toMatchObject({ code, severity: 'error', path: 'p' })
    expect(diagnostics[0]?.line).toBe(line)
    expect(diagnostics[0]?.message).toMatch(/^[A-Z`].*[.:)]/)
    expect(codesOf(read(fixture), fixture)).toContain(code)
  })

  it('is reported without a description', () => {
    const { skill, diagnostics } = parseSkill('---\nname: a\n---\n', { path: 'p' })
    expect(skill).toBeUndefined()
    expect(diagnostics.map(({ code }) => code)).toContain('description-missing')
  })

  it('is reported if it is too large', () => {
    const large = Buffer.alloc(5 * 1024 * 1024, '---\nname: a\ndescription: b\n---\nbody ')
    expect(codesOf(large)).toEqual(['file-too-large'])
  })

  it('is reported with a frontmatter of more than 64 KiB', () => {
    const keys = Array.from({ length: 8000 }, (_, index) => `key${index}: v`).join('\n')
    expect(codesOf(`---\n${keys}\n---\n`)).toEqual(['frontmatter-too-large'])
  })

  it('is reported with deep nesting within 64 KiB', () => {
    const nested = `metadata: ${'{a: '.repeat(9000)}`
    expect(codesOf(`---\n${nested}\n---\n`)).toEqual(['yaml-too-deep'])
    expect(codesOf(`---\na: ${'- '.repeat(20_000)}\n---\n`)[0]).toMatch(/^yaml-/)
  })

  it('leaves no trace in a prototype', () => {
    parseSkill(read('reserved-key'), { path: 'p' })
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  })
})

describe('an unusual but usable file', () => {
  it.each([
    ['byte-order-mark', ['byte-order-mark'], 'Begins with a byte order mark. Use when testing.'],
    ['crlf', [], 'Has Windows line ends. Use when testing.'],
    ['delimiter-in-value', [], 'Before --- and after. Use when testing.'],
    ['empty-body', [], 'Has no instructions. Use when testing.'],
    [
      'name-parent',
      ['name-characters', 'name-directory-mismatch'],
      'A name with a path in it. Use when testing.',
    ],
    [
      'name-case',
      ['name-uppercase', 'name-directory-mismatch'],
      'A name in upper case. Use when testing.',
    ],
  ])('loads a file with %s', (fixture, codes, description) => {
    const { skill } = parseSkill(read(fixture), { path: 'p' })
    expect(skill?.fields.description).toBe(description)
    expect(codesOf(read(fixture), fixture).toSorted()).toEqual(codes.toSorted())
  })

  it('keeps a line of dashes in the body', () => {
    const { skill } = parseSkill(read('delimiter-in-value'), { path: 'p' })
    expect(skill?.body).toBe('Body.\n\n---\n\nAfter the rule.')
    expect(skill?.bodyLine).toBe(6)
  })
})

describe('any bytes', () => {
  const markup = fc.constantFrom(
    '---\n',
    '---',
    '\n',
    'name: a\n',
    'description: b\n',
    '  ',
    '- ',
    ': ',
    '|\n',
    '"',
    '[',
    '{',
    '&a',
    '*a',
    '!t ',
    '\ufeff',
    '\0',
    '\r\n',
    'metadata:\n',
  )
  const content = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.array(fc.oneof(markup, fc.string({ unit: 'binary', maxLength: 4 }))).map((parts) => {
      return Buffer.from(`---\n${parts.join('')}\n---\n`)
    }),
  )

  it('parse to a skill or to an error', () => {
    fc.assert(
      fc.property(content, (bytes) => {
        const { skill, diagnostics } = parseSkill(bytes, { path: 'p' })
        const failed = diagnostics.some(({ severity }) => severity === 'error')
        expect(skill !== undefined || failed).toBe(true)
      }),
      { numRuns: 3000 },
    )
  })

  it('validate in both profiles', () => {
    fc.assert(
      fc.property(content, fc.constantFrom(validateSkill, validateReference), (bytes, validate) => {
        const { valid, diagnostics } = validate(bytes, { path: 'p', directoryName: 'a' })
        expect(valid).toBe(diagnostics.every(({ severity }) => severity !== 'error'))
      }),
      { numRuns: 3000 },
    )
  })
})
