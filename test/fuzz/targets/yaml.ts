import { readYaml, type YamlNode } from '../../../src/skill/read-yaml.ts'
import { demand, textOf } from '../target.ts'

export const name = 'yaml'
export const seeds: readonly string[] = [
  'name: a-b\ndescription: "Does a: b"\nmetadata:\n  author: a\n  version: 1.10\n',
  'triggers:\n  - match: "^/a (b|c)"\n    inject: d.md\n  - match: e\n    inject: [f, "g h"]\n',
  "a: |\n  one\n    two\n\n  three\nb: >-\n  x\n  y\nc: 'it''s'\n",
  'a: one\n  two\n\n  three\nb:\n- c # d\n-   e\n',
  'a: {b: [c, d], e: f}\nx: &y z\nw: *y\nv: !!str 1\n',
  '? a\n: b\n---\nc\n...\n',
]
export const words: readonly string[] = [': ', '\n  ', '\n- ', ' #', '|\n  ', '>+\n  ', '~', '<<: ']

const options = { firstLine: 2, path: 'SKILL.md' }

/** The result is a tree or an error, never both, and every position is inside the text. */
export function fuzz(data: Uint8Array): void {
  const source = textOf(data)
  if (data.length > 64 * 1024) return
  const { root, diagnostics } = readYaml(source, options)
  demand(root === undefined || diagnostics.length === 0, 'a tree with an error', diagnostics)
  demand(diagnostics.length <= 20, 'too many diagnostics')
  const lines = source.split('\n').length
  if (root !== undefined) checkPlaces(root, lines, 0)
  for (const { line = 0 } of diagnostics) demand(line >= 0 && line <= lines + 2, 'a line', line)
}

function checkPlaces(node: YamlNode, lines: number, depth: number): void {
  demand(depth <= 64, 'deeper than the limit')
  demand(node.line >= 2 && node.line <= lines + 2, 'a line outside of the text', node.line)
  demand(node.column >= 1, 'a column outside of the text', node.column)
  if (node.kind === 'list') for (const item of node.items) checkPlaces(item, lines, depth + 1)
  if (node.kind !== 'map') return
  const keys = node.entries.map(({ key }) => key.text)
  demand(new Set(keys).size === keys.length, 'a key twice', keys)
  demand(
    !keys.some((key) => key === '__proto__' || key === 'constructor'),
    'a key of objects',
    keys,
  )
  for (const { key, value } of node.entries) {
    checkPlaces(key, lines, depth + 1)
    checkPlaces(value, lines, depth + 1)
  }
}
