import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readYaml, yamlToJson, type YamlNode } from '../../src/skill/read-yaml.ts'
import { splitFrontmatter } from '../../src/skill/frontmatter.ts'
import { corpusFolder } from './_corpus.ts'
import { grammarText, ordinaryText, randomFrom } from './_fuzz-text.ts'

const options = { firstLine: 2, path: 'a/SKILL.md' }

/** Every scalar and collection of a tree with its place, in the order of the text. */
function placesOf(node: YamlNode | undefined): string[] {
  if (node === undefined) return []
  const place = `${node.line}:${node.column}`
  if (node.kind === 'scalar') return [`${place} ${node.style} ${JSON.stringify(node.value)}`]
  const open = `${place} ${node.flow ? 'flow' : 'block'} ${node.kind}`
  if (node.kind === 'list') return [open, ...node.items.flatMap(placesOf)]
  return [open, ...node.entries.flatMap(({ key, value }) => [...placesOf(key), ...placesOf(value)])]
}

function valuesOf(source: string): unknown {
  const { root, diagnostics } = readYaml(source, options)
  expect(diagnostics).toEqual([])
  return root === undefined ? undefined : yamlToJson(root)
}

describe('the tree of a YAML document', () => {
  it('has the line and column of every node in the file', () => {
    const source = [
      'a: b # c',
      'list:',
      '- "x"',
      '-  y: |  # |',
      '    text',
      '- # empty',
      'flow: [a, {b: }]',
      "? 'k'",
      ':  > ',
      '  folded',
      'none:   # comment',
    ]
    expect(placesOf(readYaml(`${source.join('\n')}\n`, options).root)).toEqual([
      '2:1 block map',
      '2:1 plain "a"',
      '2:4 plain "b"',
      '3:1 plain "list"',
      '4:1 block list',
      '4:3 double "x"',
      '5:4 block map',
      '5:4 plain "y"',
      '5:7 literal "text\\n"',
      '7:3 plain null',
      '8:1 plain "flow"',
      '8:7 flow list',
      '8:8 plain "a"',
      '8:11 flow map',
      '8:12 plain "b"',
      '8:15 plain null',
      '9:3 single "k"',
      '10:4 folded "folded\\n"',
      '12:1 plain "none"',
      '12:9 plain null',
    ])
  })

  it('has the values of the core schema of YAML 1.2', () => {
    const source =
      'a: true\nb: null\nc: 1e3\nd: 0x1f\ne: ~\nf: -.inf\ng: 007\nh: yes\ni: 0o17\nj: "1"\nk: 1.10\nl:\n'
    const [f, k] = [-Infinity, 1.1]
    const rest = { d: 31, e: null, f, g: 7, h: 'yes', i: 15, j: '1', k, l: null }
    expect(valuesOf(source)).toEqual({ a: true, b: null, c: 1000, ...rest })
  })

  it('contains texts as YAML folds, unquotes and ends them', () => {
    const source =
      "a: |\n  one\n    two\n\n  three\n\nb: >-\n\n  x\n  y\n\n  z\nc: |+\n  k\n\n\nd: one\n  two\n\n  three # no\ne: 'it''s\n  x'\nf: \"a\\n\\\n  b\"\n"
    expect(valuesOf(source)).toEqual({
      a: 'one\n  two\n\nthree\n',
      b: '\nx y\nz',
      c: 'k\n\n\n',
      d: 'one two\nthree',
      e: "it's x",
      f: 'a\nb',
    })
  })

  it('is undefined for a document with only a comment', () => {
    expect(readYaml('# nothing\n', options)).toEqual({ root: undefined, diagnostics: [] })
  })

  it('equals the values of the package yaml for ordinary frontmatter', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const split = splitFrontmatter(ordinaryText(randomFrom(seed)))
        if (!split.found) return
        const { root } = readYaml(split.source, options)
        // js-yaml accepts an escape above the last code point.
        if (root === undefined || split.source.includes('U00110000')) return
        expect(yamlToJson(root)).toEqual(parse(split.source, { logLevel: 'silent' }))
      }),
      { numRuns: 1000 },
    )
  })

  it.skipIf(corpusFolder === undefined)(
    'equals the values of the package yaml for published skills (skipped without SKILLRAIL_CORPUS)',
    () => {
      const folder = corpusFolder ?? ''
      for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
        if (path.basename(name) !== 'SKILL.md') continue
        const split = splitFrontmatter(readFileSync(path.join(folder, name), 'utf8'))
        const { root } = readYaml(split.found ? split.source : '', options)
        if (root === undefined || !split.found) continue
        expect(yamlToJson(root)).toEqual(parse(split.source, { logLevel: 'silent' }))
      }
    },
  )
})

describe('a limit of YAML', () => {
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
    ['a colon in a value', 'a: b: c\n', 'yaml-syntax', 2, 5],
    ['a control character', 'a: \u0007\n', 'yaml-syntax', 2, 4],
    ['a tab as indentation', 'a:\n\tb: c\n', 'yaml-syntax', 3, 1],
    ['an unclosed quote', 'a: "b\n', 'yaml-syntax', 3, 1],
    ['an unclosed list', 'a: [b\n', 'yaml-syntax', 3, 1],
  ])('reports %s as an error with its place', (_, source, code, line, column) => {
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

  it('limits nesting, in blocks and in flows', () => {
    const flow = `a: ${'['.repeat(20_000)}${']'.repeat(20_000)}\n`
    const block = Array.from({ length: 200 }, (_, depth) => `${' '.repeat(depth)}k:\n`).join('')
    for (const source of [flow, block]) {
      expect(readYaml(source, options).diagnostics[0]).toMatchObject({ code: 'yaml-too-deep' })
    }
  })

  it('reads hostile text in linear time', () => {
    const hashes = `? a\n${'#'.repeat(60_000)}\n`
    const commas = `? a\n# ${', '.repeat(30_000)}\n`
    for (const source of [hashes, commas]) expect(valuesOf(source)).toEqual({ a: null })
  })

  it('limits the number of keys', () => {
    const source = Array.from({ length: 5000 }, (_, index) => `key${index}: v\n`).join('')
    expect(readYaml(source, options).diagnostics[0]).toMatchObject({ code: 'yaml-too-many-keys' })
  })

  it('returns either a tree or an error for any text', () => {
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
