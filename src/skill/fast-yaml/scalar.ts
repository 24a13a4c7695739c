import { resolvePlain } from '../_core-schema.ts'
import {
  colon,
  columnOf,
  endsLine,
  type FastCursor,
  hash,
  newline,
  nextContentLine,
  space,
  startLine,
} from './cursor.ts'
import type { YamlScalar } from '../yaml-tree.ts'

const escapes: Readonly<Record<string, string | undefined>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  n: '\n',
  t: '\t',
}

/**
 * The scalar under the cursor, which goes on to the next content. Undefined where it is not
 * certain that the YAML library reads the same.
 */
export function readScalar(cursor: FastCursor, parentIndent: number): YamlScalar | undefined {
  const first = cursor.text.charAt(cursor.at)
  if (first === '"' || first === "'") return readQuoted(cursor, first)
  if (first === '|' || first === '>') return readBlock(cursor, parentIndent, first)
  return startsPlain(cursor, first) ? readPlain(cursor, parentIndent) : undefined
}

export function scalarAt(
  cursor: FastCursor,
  offset: number,
  text: string,
  style: YamlScalar['style'],
): YamlScalar {
  const value = style === 'plain' ? resolvePlain(text) : text
  const { line } = cursor
  return { kind: 'scalar', text, value, style, line, column: columnOf(cursor, offset) }
}

function startsPlain(cursor: FastCursor, first: string): boolean {
  if (first === '-') {
    const next = cursor.text.charCodeAt(cursor.at + 1)
    return next !== space && next !== newline
  }
  return !',?:[]{}#&*!%@`'.includes(first)
}

function readPlain(cursor: FastCursor, parentIndent: number): YamlScalar | undefined {
  const { text, at: start } = cursor
  const firstEnd = plainEnd(text, start)
  if (firstEnd === -1) return undefined
  let words = trimmedSlice(text, start, firstEnd)
  const scalar = scalarAt(cursor, start, words, 'plain')
  if (text.charCodeAt(firstEnd) === hash) {
    nextContentLine(cursor)
    return scalar
  }
  let lineStart = firstEnd + 1
  let passed = 1
  let blank = 0
  while (lineStart < text.length) {
    let at = lineStart
    while (text.charCodeAt(at) === space) at++
    const code = text.charCodeAt(at)
    if (code === newline) {
      blank++
      lineStart = at + 1
      continue
    }
    if (code === hash || at - lineStart <= parentIndent) break
    const end = plainEnd(text, at)
    if (end === -1 || text.charCodeAt(end) === hash) return undefined
    words += (blank === 0 ? ' ' : '\n'.repeat(blank)) + trimmedSlice(text, at, end)
    passed += blank + 1
    blank = 0
    lineStart = end + 1
  }
  startLine(cursor, lineStart, passed + blank)
  return passed === 1 ? scalar : { ...scalar, text: words, value: resolvePlain(words) }
}

/** The end of a plain scalar on its line: a newline or the `#` of a comment; -1 where a key stands. */
function plainEnd(text: string, start: number): number {
  for (let at = start; ; at++) {
    const code = text.charCodeAt(at)
    if (code === newline) return at
    if (code === colon) {
      const next = text.charCodeAt(at + 1)
      if (next === space || next === newline) return -1
    } else if (code === hash && text.charCodeAt(at - 1) === space) {
      return at
    }
  }
}

function trimmedSlice(text: string, start: number, end: number): string {
  let last = end
  while (last > start && text.charCodeAt(last - 1) === space) last--
  return text.slice(start, last)
}

function readQuoted(cursor: FastCursor, quote: '"' | "'"): YamlScalar | undefined {
  const start = cursor.at
  const reading =
    quote === '"' ? doubleQuoted(cursor.text, start) : singleQuoted(cursor.text, start)
  if (reading === undefined || !endsLine(cursor, reading.end)) return undefined
  const scalar = scalarAt(cursor, start, reading.text, quote === '"' ? 'double' : 'single')
  cursor.at = reading.end
  nextContentLine(cursor)
  return scalar
}

/** The text of a quoted scalar on one line, and the offset behind its closing quote. */
export interface QuotedReading {
  text: string
  end: number
}

export function doubleQuoted(source: string, start: number): QuotedReading | undefined {
  let text = ''
  let from = start + 1
  for (let at = from; at < source.length; at++) {
    const code = source.charCodeAt(at)
    if (code === 34) return { text: text + source.slice(from, at), end: at + 1 }
    if (code === newline) return undefined
    if (code === 92) {
      const escaped = escapes[source.charAt(at + 1)]
      if (escaped === undefined) return undefined
      text += source.slice(from, at) + escaped
      at++
      from = at + 1
    }
  }
  return undefined
}

export function singleQuoted(source: string, start: number): QuotedReading | undefined {
  let text = ''
  let from = start + 1
  for (let at = from; at < source.length; at++) {
    const code = source.charCodeAt(at)
    if (code === newline) return undefined
    if (code !== 39) continue
    if (source.charCodeAt(at + 1) !== 39)
      return { text: text + source.slice(from, at), end: at + 1 }
    text += source.slice(from, at + 1)
    at++
    from = at + 1
  }
  return undefined
}

function readBlock(
  cursor: FastCursor,
  parentIndent: number,
  indicator: '|' | '>',
): YamlScalar | undefined {
  const { text, at: start } = cursor
  const sign = text.charAt(start + 1)
  const chomping = sign === '+' || sign === '-' ? sign : ''
  let at = start + 1 + chomping.length
  while (text.charCodeAt(at) === space) at++
  if (text.charCodeAt(at) !== newline) return undefined
  const lines = readBlockLines(text, at + 1, parentIndent)
  if (lines === undefined) return undefined
  const style = indicator === '|' ? 'literal' : 'folded'
  const words = joinBlock(lines.content, style === 'folded') + blockEnd(chomping, lines.trailing)
  const scalar = scalarAt(cursor, start, words, style)
  startLine(cursor, lines.end, lines.passed + 1)
  return scalar
}

interface BlockLines {
  content: { text: string; blankBefore: number }[]
  trailing: number
  /** Offset of the first line behind the scalar, and how many lines it has. */
  end: number
  passed: number
}

function readBlockLines(
  source: string,
  from: number,
  parentIndent: number,
): BlockLines | undefined {
  const content: BlockLines['content'] = []
  let indent = -1
  let widestBlank = 0
  let blank = 0
  let passed = 0
  let lineStart = from
  while (lineStart < source.length) {
    let at = lineStart
    while (source.charCodeAt(at) === space) at++
    const width = at - lineStart
    const end = source.indexOf('\n', at)
    if (at === end) {
      if (indent !== -1 && width > indent) return undefined
      widestBlank = Math.max(widestBlank, width)
      blank++
    } else if (indent === -1) {
      if (width <= parentIndent || widestBlank > width) return undefined
      indent = width
      content.push({ text: source.slice(at, end), blankBefore: blank })
      blank = 0
    } else if (width < indent) {
      if (width > parentIndent) return undefined
      break
    } else {
      content.push({ text: source.slice(lineStart + indent, end), blankBefore: blank })
      blank = 0
    }
    passed++
    lineStart = end + 1
  }
  if (content.length === 0) return undefined
  return { content, trailing: blank, end: lineStart, passed }
}

/** Folding joins lines with a space; a line that begins with a space keeps its breaks. */
function joinBlock(lines: BlockLines['content'], folded: boolean): string {
  let text = ''
  let previousFolds = false
  lines.forEach((line, index) => {
    const folds = folded && line.text.charCodeAt(0) !== space
    const breaks = '\n'.repeat(line.blankBefore)
    if (index === 0) text = breaks
    else if (folds && previousFolds) text += breaks === '' ? ' ' : breaks
    else text += `\n${breaks}`
    text += line.text
    previousFolds = folds
  })
  return text
}

function blockEnd(chomping: string, trailing: number): string {
  if (chomping === '-') return ''
  return chomping === '+' ? '\n'.repeat(trailing + 1) : '\n'
}
