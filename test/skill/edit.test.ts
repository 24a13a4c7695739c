import { describe, expect, it } from 'vitest'
import { editFrontmatter, type FrontmatterEdits } from '../../src/skill/edit.ts'
import { SkillParseError } from '../../src/skill/errors.ts'

const text = `---
# Who it is.
name: a # short
description: 'Does a.'

metadata: # ours
  version: "1.0" # quoted
---

Body with --- and trailing blanks.  
`

describe('editing a frontmatter', () => {
  it('changes nothing when there is nothing to change', () => {
    expect(editFrontmatter(text, {})).toBe(text)
  })

  it('changes one value and keeps comments, order and the body', () => {
    const edited = editFrontmatter(text, { name: 'b' })
    expect(edited).toBe(text.replace('name: a', 'name: b'))
  })

  it('appends a new field and removes an old one', () => {
    const edited = editFrontmatter(text, { license: 'MIT', metadata: undefined })
    expect(edited).toContain("description: 'Does a.'\n")
    expect(edited).toContain('\nlicense: MIT\n---\n')
    expect(edited).not.toContain('version')
    expect(edited.endsWith('\n\nBody with --- and trailing blanks.  \n')).toBe(true)
  })

  it.each([
    ['yes: no', '"yes: no"'],
    ['true', '"true"'],
    ['1.0', '"1.0"'],
  ])('quotes the text %j where it needs to', (value, written) => {
    expect(editFrontmatter(text, { description: value })).toContain(`description: ${written}\n`)
  })

  it.each<[string, FrontmatterEdits, string]>([
    ['a:\n  b: c\n\n# of d\nd: e\n', { a: undefined }, '\n# of d\nd: e\n'],
    ['a: # why\n  - b\nd: e\n', { a: 'x' }, 'a: x\nd: e\n'],
    ['a: |\n  b\n  c\n# of d\nd: e\n', { a: ['x'] }, 'a:\n  - x\n# of d\nd: e\n'],
    ['a:\nd: e\n', { a: 1 }, 'a: 1\nd: e\n'],
    ['a: b', { a: 'two\nlines' }, 'a: "two\\nlines"\n'],
    ['{ a: b, c: d }\n', { a: 'x' }, '{ a: x, c: d }\n'],
    ['  a: b # c\n  d: e\n', { d: undefined, f: 'g' }, 'a: b # c\nf: g\n'],
    ['"a": b\n', { a: 'x' }, '"a": x\n'],
    ['a: b\n', { z: undefined }, 'a: b\n'],
  ])('of %j by %j', (source, edits, expected) => {
    const given = `---\n${source}${source.endsWith('\n') ? '' : '\n'}---\n`
    expect(editFrontmatter(given, edits)).toBe(`---\n${expected}---\n`)
  })

  it('writes lists and maps', () => {
    const edited = editFrontmatter(text, { metadata: { chain: 'a b', author: 'x' } })
    expect(edited).toContain('  chain: a b\n  author: x\n---\n')
  })

  it('keeps CRLF and a byte order mark', () => {
    const windows = `\ufeff${text.replaceAll('\n', '\r\n')}`
    const edited = editFrontmatter(windows, { name: 'b' })
    expect(edited).toBe(windows.replace('name: a', 'name: b'))
  })

  it('fills an empty frontmatter', () => {
    expect(editFrontmatter('---\n---\nBody\n', { name: 'a' })).toBe('---\nname: a\n---\nBody\n')
  })

  it.each(['no frontmatter', '---\nname: a', '---\n- a\n---\n', '---\na: b: c\n---\n'])(
    'refuses %j',
    (broken) => {
      expect(() => editFrontmatter(broken, { name: 'b' })).toThrow(SkillParseError)
    },
  )
})
