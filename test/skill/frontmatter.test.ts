import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitFrontmatter } from '../../src/skill/frontmatter.ts'

describe('finding the frontmatter', () => {
  it.each([
    ['an ordinary file', '---\na: b\n---\nbody\n', 'a: b\n', 'body\n', 4],
    ['CRLF', '---\r\na: b\r\n---\r\nbody\r\n', 'a: b\n', 'body\r\n', 4],
    ['no lines between', '---\n---\nbody', '', 'body', 3],
    ['no newline behind the end', '---\na: b\n---', 'a: b\n', '', 4],
    ['blanks behind the delimiters', '--- \na: b\n---\t\nbody', 'a: b\n', 'body', 4],
    ['`---` inside a value', '---\na: b --- c\n---\n', 'a: b --- c\n', '', 4],
    ['a longer rule', '---\na: b\n----\n---\n', 'a: b\n----\n', '', 5],
    ['text behind a rule', '---\na: b\n--- c\n---\n', 'a: b\n--- c\n', '', 5],
    ['an indented rule', '---\na: |\n  ---\n---\nbody', 'a: |\n  ---\n', 'body', 5],
    ['a rule in the body', '---\na: b\n---\nx\n---\ny', 'a: b\n', 'x\n---\ny', 4],
  ])('handles %s', (_, text, source, body, bodyLine) => {
    expect(splitFrontmatter(text)).toMatchObject({
      found: true,
      source,
      body,
      bodyLine,
      firstLine: 2,
    })
  })

  it.each([
    ['nothing', '', 'missing'],
    ['a body only', '# Title\n', 'missing'],
    ['a blank line before it', '\n---\na: b\n---\n', 'missing'],
    ['a space before it', ' ---\na: b\n---\n', 'missing'],
    ['text behind the opening', '--- a: b\n---\n', 'missing'],
    ['four hyphens', '----\na: b\n----\n', 'missing'],
    ['no end', '---\na: b\n', 'unclosed'],
    ['an opening only', '---', 'unclosed'],
    ['an indented end', '---\na: b\n  ---\n', 'unclosed'],
  ])('finds none in %s', (_, text, reason) => {
    expect(splitFrontmatter(text)).toEqual({ found: false, byteOrderMark: false, reason })
  })

  it('reports a byte order mark and reads the rest', () => {
    const split = splitFrontmatter('\ufeff---\na: b\n---\nbody')
    expect(split).toMatchObject({ found: true, byteOrderMark: true, source: 'a: b\n', start: 5 })
  })

  it('returns offsets that divide the file into its parts', () => {
    const line = fc.constantFrom('a: b', '---x', '', ' ---', '# c', '--- d')
    const newline = fc.constantFrom('\n', '\r\n')
    fc.assert(
      fc.property(fc.array(line), fc.string(), newline, (lines, body, end) => {
        const text = ['---', ...lines, '---', body].join(end)
        const split = splitFrontmatter(text)
        if (!split.found) throw new Error('not found')
        expect(text.slice(split.bodyStart)).toBe(body)
        expect(split.body).toBe(body)
        expect(text.slice(split.start, split.end).split(end)).toEqual([...lines, ''])
        expect(text.slice(0, split.bodyStart).split('\n')).toHaveLength(split.bodyLine)
      }),
    )
  })
})
