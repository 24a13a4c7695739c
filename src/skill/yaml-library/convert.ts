import type { Node, Pair, Scalar, YAMLMap } from 'yaml'
import type { Diagnostic } from '../../base/index.ts'
import { resolvePlain } from '../_core-schema.ts'
import type { Position } from '../_finding.ts'
import { formatFinding } from '../_format-finding.ts'
import { reservedKeys } from '../_yaml-limits.ts'
import type { PositionOf } from './position.ts'
import type { YamlEntry, YamlNode, YamlScalar } from '../yaml-tree.ts'

export interface Conversion {
  library: typeof import('yaml')
  path: string
  positionOf: PositionOf
  diagnostics: Diagnostic[]
}

const styles: Readonly<Record<string, YamlScalar['style']>> = {
  PLAIN: 'plain',
  QUOTE_SINGLE: 'single',
  QUOTE_DOUBLE: 'double',
  BLOCK_LITERAL: 'literal',
  BLOCK_FOLDED: 'folded',
}

/** The library's nodes as our tree. Reports keys that are given twice, reserved, or no scalars. */
export function convertNode(node: Node, conversion: Conversion): YamlNode {
  const { library } = conversion
  const at = positionOf(node, conversion)
  if (library.isScalar(node)) return convertScalar(node, at)
  if (library.isMap(node)) return convertMap(node, at, conversion)
  if (!library.isSeq(node)) throw new Error('an alias got past the check of tokens')
  const items = node.items.map((item) => convertValue(item, at, conversion))
  return { kind: 'list', flow: node.flow === true, items, ...at }
}

function convertMap(node: YAMLMap, at: Position, conversion: Conversion): YamlNode {
  const seen = new Set<string>()
  const entries = node.items.flatMap((pair) => convertPair(pair, at, seen, conversion))
  const flow = node.flow === true
  const { line, column } = flow ? at : (entries[0]?.key ?? at)
  return { kind: 'map', flow, entries, line, column }
}

function convertPair(
  pair: Pair,
  mapAt: Position,
  seen: Set<string>,
  conversion: Conversion,
): YamlEntry[] {
  const key = convertValue(pair.key, mapAt, conversion)
  if (key.kind !== 'scalar') {
    report(conversion, 'yaml-key-form', key, 'A key is a list or a mapping; it must be one scalar.')
    return []
  }
  if (reservedKeys.has(key.text)) {
    report(conversion, 'yaml-reserved-key', key, `The key \`${key.text}\` is not allowed.`)
  }
  if (seen.has(key.text)) {
    report(conversion, 'yaml-duplicate-key', key, `The key \`${key.text}\` is given twice.`)
  }
  seen.add(key.text)
  return [{ key, value: convertValue(pair.value, key, conversion) }]
}

/** An absent key or value is null, at the place of what surrounds it. */
function convertValue(value: unknown, at: Position, conversion: Conversion): YamlNode {
  if (conversion.library.isNode(value)) return convertNode(value, conversion)
  const { line, column } = at
  return { kind: 'scalar', text: '', value: null, style: 'plain', line, column }
}

function convertScalar(node: Scalar, { line, column }: Position): YamlScalar {
  const style = styles[node.type ?? 'PLAIN'] ?? 'plain'
  const text = node.source ?? ''
  const value = style === 'plain' ? resolvePlain(text) : text
  return { kind: 'scalar', text, value, style, line, column }
}

function positionOf(node: Node, { positionOf: at }: Conversion): Position {
  return at(node.range?.[0] ?? 0)
}

function report(
  { diagnostics, path }: Conversion,
  code: 'yaml-key-form' | 'yaml-reserved-key' | 'yaml-duplicate-key',
  at: Position,
  message: string,
): void {
  diagnostics.push(formatFinding(code, path, at, message))
}
