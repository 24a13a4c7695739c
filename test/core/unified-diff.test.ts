import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { unifiedDiff } from '../../src/core/unified-diff.ts'

let root: string
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'skillrail-diff-'))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

describe('a unified diff', () => {
  it('is empty without a change', () => {
    expect(unifiedDiff('a', 'x\n', 'x\n')).toBe('')
  })

  it('contains three lines of context, and a hunk for each distant change', () => {
    const before = Array.from({ length: 20 }, (_, index) => `${index}\n`).join('')
    const after = before.replace('2\n', 'two\n').replace('17\n', '')
    expect(unifiedDiff('a.md', before, after)).toBe(
      ['--- a/a.md', '+++ b/a.md']
        .concat('@@ -1,6 +1,6 @@', ' 0', ' 1', '-2', '+two', ' 3', ' 4', ' 5')
        .concat('@@ -15,6 +15,5 @@', ' 14', ' 15', ' 16', '-17', ' 18', ' 19')
        .join('\n'),
    )
  })

  it('is one block for two long texts without a common line', () => {
    const text = (word: string): string =>
      Array.from({ length: 5000 }, (_, index) => `${word} ${index}\n`).join('')
    const lines = unifiedDiff('a.md', text('old'), `${text('new')}end`).split('\n')
    expect(lines.slice(2, 4)).toEqual(['@@ -1,5000 +1,5001 @@', '-old 0'])
    expect(lines.slice(-2)).toEqual(['+end', '\\ No newline at end of file'])
  })

  it('is a patch that git applies', () => {
    const lines = fc.array(fc.constantFrom('a\n', 'b\n', 'c\n', 'd\r\n', '\n'), { maxLength: 30 })
    const texts = fc.tuple(lines, lines, fc.constantFrom('', 'end'))
    const file = join(root, 'file')
    fc.assert(
      fc.property(texts, ([one, other, end]) => {
        const before = `start\n${one.join('')}${end}`
        const after = `start\n${other.join('')}`
        const diff = unifiedDiff('file', before, after)
        writeFileSync(file, before)
        const input = diff === '' ? '' : `${diff}\n`
        execFileSync(
          'git',
          ['apply', '--unidiff-zero', '--allow-empty', '--whitespace=nowarn', '-'],
          { cwd: root, input },
        )
        expect(readFileSync(file, 'utf8')).toBe(after)
      }),
      { numRuns: 40 },
    )
  })
})
