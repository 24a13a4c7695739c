import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readFastYaml } from '../../src/skill/fast-yaml/fast-yaml.ts'
import { readLibraryYaml } from '../../src/skill/yaml-library/read-with-library.ts'
import { readYaml, splitFrontmatter, type YamlNode } from '../../src/skill/index.ts'
import { corpusFolder } from './_corpus.ts'
import { grammarText, mutatedText, ordinaryText, randomFrom } from './_fuzz-text.ts'

const options = { firstLine: 2, path: 'a/SKILL.md' }

const ordinary: readonly (readonly [title: string, source: string])[] = [
  ['flat keys', 'name: a-b\ndescription: Does a. Use when b.\nversion: 1.10\n'],
  [
    'values that are no strings',
    'a: true\nb: null\nc: 1e3\nd: 0x1f\ne: ~\nf: -.inf\ng: 007\nh: yes\n',
  ],
  ['quotes', `a: "x: \\"y\\" \\n"\nb: 'it''s # no comment'\nc: ""\nd: ''\n`],
  ['comments', '# one\na: b # two\n\n# three\nb: c#d\nc: # four\n  d: e\n'],
  ['nested mappings', 'metadata:\n  author: a\n  more:\n      deep: b\nz: y\n'],
  ['lists', 'a:\n  - b\n  - "c"\nd:\n- e\n- f\ng: h\n'],
  [
    'lists of mappings',
    'triggers:\n  - match: "^/a (b|c)"\n    inject: d.md\n  - match: e\n    inject: f\n',
  ],
  ['literal blocks', 'a: |\n  one\n    two\n\n  three\n\nb: |-\n  x\nc: |+\n  y\n\n\n'],
  ['folded blocks', 'a: >\n  one\n  two\n\n  three\n    more\n  four\nb: >-\n\n  x\n  y\n'],
  ['plain text over lines', 'a: one\n  two\n\n  three\nb:\n  four\n  - five\n'],
  ['flow lists', 'a: [b, "c d", Bash(git:*)]\nd: []\n'],
  ['empty values', 'a:\nb:   # c\nd:\n'],
  ['other scripts', 'name: 技能\ndescription: "é 😀"\n'],
]

const uncertain: readonly (readonly [title: string, source: string])[] = [
  ['a colon in a value', 'a: b: c\n'],
  ['a key twice', 'a: b\na: c\n'],
  ['a reserved key', '__proto__: a\n'],
  ['a tab', 'a:\tb\n'],
  ['an anchor', 'a: &b c\n'],
  ['a flow mapping', 'a: {b: c}\n'],
  ['a quote that goes on', 'a: "b\n  c"\n'],
  ['an indentation that fits nothing', 'a: b\n   c: d\n'],
  ['a line separator', 'a: b\u2028c\n'],
  ['no newline at the end', 'a: b'],
  ['a list', '- a\n'],
  ['nothing', ''],
]

describe('the fast reader', () => {
  it.each(ordinary)('reads %s as the library does', (_, source) => {
    const root = readFastYaml(source, 2)
    expect(root).toBeDefined()
    expect({ root, diagnostics: [] }).toEqual(readLibraryYaml(source, options))
  })

  it.each(uncertain)('leaves %s to the library', (_, source) => {
    expect(readFastYaml(source, 2)).toBeUndefined()
  })

  it('is never different from the library', () => {
    let read = 0
    const seen = (source: string): void => {
      const root = readFastYaml(source, 2)
      if (root === undefined) return
      read++
      expect({ root, diagnostics: [] }).toEqual(readLibraryYaml(source, options))
    }
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const random = randomFrom(seed)
        const text = ordinaryText(random)
        for (const each of [text, grammarText(random), mutatedText(random, text)]) {
          const split = splitFrontmatter(each)
          if (split.found) seen(split.source)
        }
      }),
      { numRuns: 2000 },
    )
    expect(read).toBeGreaterThan(1000)
  })

  it.skipIf(corpusFolder === undefined)(
    'reads at least 95 % of real files (skipped without SKILLRAIL_CORPUS)',
    () => {
      const folder = corpusFolder ?? ''
      const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      const sources = files
        .filter((name) => path.basename(name) === 'SKILL.md')
        .map((name) => splitFrontmatter(readFileSync(path.join(folder, name), 'utf8')))
        .flatMap((split) => (split.found ? [split.source] : []))
      const read = sources.filter((source) => readFastYaml(source, 2) !== undefined)
      expect(read.length / sources.length).toBeGreaterThan(0.95)
      for (const source of read) {
        const root = readFastYaml(source, 2)
        expect({ root, diagnostics: [] }).toEqual(readLibraryYaml(source, options))
      }
    },
  )
})

describe('what YAML may not contain', () => {
  it.each([
    ['an anchor', 'a: &b c\n', 'yaml-anchor', 2, 4],
    ['an alias', 'a: b\nc: *d\n', 'yaml-anchor', 3, 4],
    ['an anchor on a key', '&a b: c\n', 'yaml-anchor', 2, 1],
    ['a tag', 'a: !!str b\n', 'yaml-tag', 2, 4],
    ['a tag in a flow list', 'a: [!x b]\n', 'yaml-tag', 2, 5],
    ['a key twice', 'a: b\nc: d\na: e\n', 'yaml-duplicate-key', 4, 1],
    ['a key twice below another', 'a:\n  b: c\n  "b": d\n', 'yaml-duplicate-key', 4, 3],
    ['`__proto__`', 'a:\n  __proto__: b\n', 'yaml-reserved-key', 3, 3],
    ['`constructor` in a flow mapping', 'a: {constructor: b}\n', 'yaml-reserved-key', 2, 5],
    ['a list as a key', '? - a\n: b\n', 'yaml-key-form', 2, 3],
    ['a second document', 'a: b\n--- c\n', 'yaml-several-documents', 3, 1],
    ['text behind the document', 'a: b\n...\nc: d\n', 'yaml-several-documents', 4, 1],
    ['a colon in a value', 'a: b: c\n', 'yaml-syntax', 2, 4],
    ['a tab as indentation', 'a:\n\tb: c\n', 'yaml-syntax', 3, 1],
    ['an unclosed quote', 'a: "b\n', 'yaml-syntax', 3, 1],
    ['an unclosed list', 'a: [b\n', 'yaml-syntax', 3, 1],
  ])('%s is an error with its place', (_, source, code, line, column) => {
    const { root, diagnostics } = readYaml(source, options)
    expect(root).toBeUndefined()
    expect(diagnostics[0]).toMatchObject({
      code,
      severity: 'error',
      line,
      column,
      path: 'a/SKILL.md',
    })
  })

  it('bounds nesting, in blocks and in flows', () => {
    const flow = `a: ${'['.repeat(20_000)}${']'.repeat(20_000)}\n`
    const block = Array.from({ length: 200 }, (_, depth) => `${' '.repeat(depth)}k:\n`).join('')
    for (const source of [flow, block]) {
      expect(readYaml(source, options).diagnostics[0]).toMatchObject({ code: 'yaml-too-deep' })
    }
  })

  it('bounds the number of keys', () => {
    const source = Array.from({ length: 5000 }, (_, index) => `key${index}: v\n`).join('')
    expect(readYaml(source, options).diagnostics[0]).toMatchObject({ code: 'yaml-too-many-keys' })
  })

  it('gives a tree or an error on any text, and no tree with an error', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary' }), fc.integer().map(randomText)),
        (source) => {
          const { root, diagnostics } = readYaml(source, options)
          expect(root === undefined || diagnostics.length === 0).toBe(true)
          expect(root === undefined || linesOf(root).every((line) => line >= 2)).toBe(true)
        },
      ),
      { numRuns: 1000 },
    )
  })
})

function randomText(seed: number): string {
  return grammarText(randomFrom(seed)).slice(4, -9)
}

function linesOf(node: YamlNode): number[] {
  if (node.kind === 'scalar') return [node.line]
  if (node.kind === 'list') return [node.line, ...node.items.flatMap(linesOf)]
  return [node.line, ...node.entries.flatMap(({ key, value }) => [key.line, ...linesOf(value)])]
}
