import {
  colon,
  columnOf,
  dash,
  endsLine,
  type FastCursor,
  hash,
  newline,
  nextContentLine,
  space,
  startLine,
  startsEntry,
} from './cursor.ts'
import { readFlowList } from './flow.ts'
import { readScalar, scalarAt } from './scalar.ts'
import { reservedKeys } from '../_yaml-limits.ts'
import type { YamlEntry, YamlList, YamlMap, YamlNode } from '../yaml-tree.ts'

const deepest = 8
const mostEntries = 64
/** YAML allows 1,024 characters for a key without `?`. */
const longestKey = 256

/**
 * Reads ordinary frontmatter line by line, many times cheaper than a YAML library: block mappings
 * with plain keys, block lists of scalars and of mappings, scalars of every style, lists like
 * `[a, b]`, comments.
 *
 * Undefined means "not certain", never "invalid": whatever it returns is what the library returns,
 * and is free of errors in the strict dialect of the reference validator too, flow lists apart.
 * `source` has its lines ended by `\n`.
 */
export function readFastYaml(source: string, firstLine: number): YamlMap | undefined {
  if (!source.endsWith('\n') || !isOrdinaryText(source)) return undefined
  const cursor: FastCursor = { text: source, at: 0, lineStart: 0, line: firstLine, indent: -1 }
  startLine(cursor, 0, 0)
  if (cursor.indent === -1) return undefined
  const root = readMap(cursor, cursor.indent, 1)
  return cursor.indent === -1 ? root : undefined
}

/** No tabs, no other control characters, no line separators, no byte order marks. */
function isOrdinaryText(text: string): boolean {
  if (!/[^\n -~]/.test(text)) return true
  return !/[^\n -~\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]/u.test(
    text,
  )
}

function readMap(cursor: FastCursor, indent: number, depth: number): YamlMap | undefined {
  if (depth > deepest) return undefined
  const { line } = cursor
  const column = columnOf(cursor, cursor.at)
  const entries: YamlEntry[] = []
  do {
    const end = keyEnd(cursor)
    if (end === -1 || entries.length === mostEntries) return undefined
    const key = scalarAt(cursor, cursor.at, cursor.text.slice(cursor.at, end), 'plain')
    if (reservedKeys.has(key.text) || hasKey(entries, key.text)) return undefined
    cursor.at = end + 1
    const value = readValue(cursor, indent, depth)
    if (value === undefined) return undefined
    entries.push({ key, value })
  } while (cursor.indent === indent)
  return cursor.indent > indent ? undefined : { kind: 'map', flow: false, entries, line, column }
}

function hasKey(entries: readonly YamlEntry[], text: string): boolean {
  return entries.some(({ key }) => key.text === text)
}

/** The offset of the colon behind a key of letters, digits and `_ . / -`; -1 where there is none. */
function keyEnd({ text, at: start }: FastCursor): number {
  for (let at = start; at <= start + longestKey; at++) {
    const code = text.charCodeAt(at)
    if (code === colon) {
      const next = text.charCodeAt(at + 1)
      return at > start && (next === space || next === newline) ? at : -1
    }
    const isWord =
      (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57)
    const isMark = code === 95 || ((code === dash || code === 46 || code === 47) && at > start)
    if (!isWord && !isMark) return -1
  }
  return -1
}

/** The value of a key in a mapping at `indent`; the cursor stands behind the colon. */
function readValue(cursor: FastCursor, indent: number, depth: number): YamlNode | undefined {
  const { text } = cursor
  const afterColon = cursor.at
  if (endsLine(cursor, afterColon)) return readValueBelow(cursor, indent, depth)
  while (text.charCodeAt(cursor.at) === space) cursor.at++
  if (text.charAt(cursor.at) === '[') return readFlowList(cursor)
  return readScalar(cursor, indent)
}

function readValueBelow(cursor: FastCursor, indent: number, depth: number): YamlNode | undefined {
  let at = cursor.at
  while (cursor.text.charCodeAt(at) === space) at++
  const empty = scalarAt(cursor, at, '', 'plain')
  nextContentLine(cursor)
  if (cursor.indent === indent && startsEntry(cursor)) return readList(cursor, indent, depth + 1)
  if (cursor.indent <= indent) return empty
  if (startsEntry(cursor)) {
    const list = readList(cursor, cursor.indent, depth + 1)
    return cursor.indent > indent ? undefined : list
  }
  if (keyEnd(cursor) !== -1) return readMap(cursor, cursor.indent, depth + 1)
  return readScalarBelow(cursor, indent)
}

/** A plain scalar that begins below its key. */
function readScalarBelow(cursor: FastCursor, indent: number): YamlNode | undefined {
  const scalar = readScalar(cursor, indent)
  return scalar?.style === 'plain' ? scalar : undefined
}

function readList(cursor: FastCursor, indent: number, depth: number): YamlList | undefined {
  if (depth > deepest) return undefined
  const { line } = cursor
  const column = columnOf(cursor, cursor.at)
  const items: YamlNode[] = []
  do {
    if (items.length === mostEntries) return undefined
    const item = readItem(cursor, indent, depth)
    if (item === undefined) return undefined
    items.push(item)
  } while (cursor.indent === indent && startsEntry(cursor))
  return cursor.indent > indent ? undefined : { kind: 'list', flow: false, items, line, column }
}

function readItem(cursor: FastCursor, indent: number, depth: number): YamlNode | undefined {
  const { text } = cursor
  cursor.at++
  while (text.charCodeAt(cursor.at) === space) cursor.at++
  const code = text.charCodeAt(cursor.at)
  if (code === newline || code === hash || startsEntry(cursor)) return undefined
  if (text.charAt(cursor.at) === '[') return readFlowList(cursor)
  if (keyEnd(cursor) !== -1) return readMap(cursor, cursor.at - cursor.lineStart, depth + 1)
  return readScalar(cursor, indent)
}
