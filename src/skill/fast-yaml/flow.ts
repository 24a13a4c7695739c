import { columnOf, endsLine, type FastCursor, nextContentLine, space } from './cursor.ts'
import { doubleQuoted, scalarAt, singleQuoted } from './scalar.ts'
import type { YamlList, YamlScalar } from '../yaml-tree.ts'

/** A list of scalars on one line: `[a, "b", c(d:*)]`. */
export function readFlowList(cursor: FastCursor): YamlList | undefined {
  const { line, at: start, text } = cursor
  const items: YamlScalar[] = []
  let at = skipSpaces(text, start + 1)
  while (text.charAt(at) !== ']' || items.length > 0) {
    const item = readFlowItem(cursor, at)
    if (item === undefined) return undefined
    items.push(item.scalar)
    at = skipSpaces(text, item.end)
    if (text.charAt(at) === ']') break
    if (text.charAt(at) !== ',') return undefined
    at = skipSpaces(text, at + 1)
  }
  if (!endsLine(cursor, at + 1)) return undefined
  const column = columnOf(cursor, start)
  cursor.at = at
  nextContentLine(cursor)
  return { kind: 'list', flow: true, items, line, column }
}

function readFlowItem(
  cursor: FastCursor,
  start: number,
): { scalar: YamlScalar; end: number } | undefined {
  const { text } = cursor
  const quote = text.charAt(start)
  if (quote === '"' || quote === "'") {
    const reading = quote === '"' ? doubleQuoted(text, start) : singleQuoted(text, start)
    if (reading === undefined) return undefined
    const style = quote === '"' ? 'double' : 'single'
    return { scalar: scalarAt(cursor, start, reading.text, style), end: reading.end }
  }
  flowWord.lastIndex = start
  const word = flowWord.exec(text)?.[0]
  if (word === undefined) return undefined
  return { scalar: scalarAt(cursor, start, word, 'plain'), end: start + word.length }
}

/** Starts with a letter or digit, ends before blanks; a colon only inside a word. */
const flowWord = /[A-Za-z0-9_](?:[A-Za-z0-9_./()*+-]|:(?=[A-Za-z0-9_*])| +(?=[A-Za-z0-9_.(]))*/y

function skipSpaces(text: string, offset: number): number {
  let at = offset
  while (text.charCodeAt(at) === space) at++
  return at
}
