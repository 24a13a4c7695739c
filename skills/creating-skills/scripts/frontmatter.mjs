// A small reading of the YAML that frontmatter is written in: block maps and lists, flow lists and
// maps, plain, quoted and block scalars, comments. A map is a Map, a list an array (with `flow`), a
// scalar `{ text, plain }`. Anchors, aliases, tags and duplicate keys are errors.

import { readFlow } from './flow.mjs'
import { foldLines, unquote } from './scalars.mjs'

const reservedKeys = new Set(['__proto__', 'constructor', 'prototype'])
const marker = /^---[ \t]*$/
const deepest = 32
const mostKeys = 1000

/** The fields of a SKILL.md as a Map. Throws an error with a sentence where there are none. */
export function readFrontmatter(text) {
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/)
  if (!marker.test(lines[0])) throw new Error('the file does not begin with a line ---')
  const close = lines.findIndex((line, index) => index > 0 && marker.test(line))
  if (close < 0) throw new Error('the frontmatter is not closed by a line ---')
  const source = lines.slice(1, close)
  if (Buffer.byteLength(`${source.join('\n')}\n`) > 64 * 1024) {
    throw new Error('the frontmatter is larger than 64 KiB')
  }
  const reader = new Reader(source)
  const root = reader.readDocument()
  if (!(root instanceof Map)) throw new Error('the frontmatter is no map of fields')
  return root
}

class Reader {
  constructor(lines) {
    this.lines = lines
    this.at = 0
    this.keys = 0
  }

  fail(message) {
    throw new Error(`line ${this.at + 2}: ${message}`)
  }

  checkDepth(depth) {
    if (depth > deepest) this.fail('lists and maps lie too deep inside one another')
  }

  readDocument() {
    this.skipBlank()
    if (this.at >= this.lines.length) throw new Error('the frontmatter is empty')
    const node = this.readBlock(this.indent(), 1)
    this.skipBlank()
    if (this.at < this.lines.length) this.fail('the indentation does not fit the lines above')
    return node
  }

  /** Moves to the next line that says something. */
  skipBlank() {
    while (this.at < this.lines.length && /^[ \t]*(?:#.*)?$/.test(this.lines[this.at])) this.at++
  }

  indent() {
    const line = this.lines[this.at] ?? ''
    const [blank] = /^[ \t]*/.exec(line)
    if (blank.includes('\t')) this.fail('a tab cannot indent')
    return blank.length
  }

  readBlock(indent, depth) {
    this.checkDepth(depth)
    const line = this.lines[this.at].slice(indent)
    if (/^(?:\.\.\.|%)/.test(line) && indent === 0) this.fail('only one YAML document is allowed')
    if (/^-(?:\s|$)/.test(line)) return this.readList(indent, depth)
    if (this.keyOf(line) !== undefined) return this.readMap(indent, depth)
    return this.readInline(line, indent - 1, depth)
  }

  /** The key of a line and what follows its colon. */
  keyOf(line) {
    const quoted = /^("(?:[^"\\]|\\[^\n])*"|'(?:[^']|'')*')[ \t]*:(?=\s|$)([^\n]*)$/.exec(line)
    if (quoted !== null) return { key: this.unquote(quoted[1]), rest: quoted[2] }
    if (/^[\s"'[\]{}#&*!|>@`%,]|^[?-](?:\s|$)/.test(line)) return undefined
    const plain =
      /^((?:[^\s:#]|:(?=\S)|(?<=\S)#|[ \t]+(?=[^\s#:]|:\S))*?)[ \t]*:(?=\s|$)([^\n]*)$/.exec(line)
    return plain === null ? undefined : { key: plain[1], rest: plain[2] }
  }

  readMap(indent, depth) {
    const map = new Map()
    for (
      this.skipBlank();
      this.at < this.lines.length && this.indent() === indent;
      this.skipBlank()
    ) {
      const line = this.lines[this.at].slice(indent)
      const entry = this.keyOf(line)
      if (entry === undefined) this.fail('a line `key: value` is wanted')
      this.addKey(map, entry.key)
      map.set(entry.key, this.readValue(entry.rest, indent, depth, true))
    }
    if (this.at < this.lines.length && this.indent() > indent)
      this.fail('the indentation is too deep')
    return map
  }

  addKey(map, key) {
    if (reservedKeys.has(key)) this.fail(`the key ${key} is not allowed`)
    if (map.has(key)) this.fail(`the key ${key} occurs twice`)
    if (++this.keys > mostKeys) this.fail('there are too many keys')
  }

  readList(indent, depth) {
    const list = []
    for (
      this.skipBlank();
      this.at < this.lines.length && this.indent() === indent;
      this.skipBlank()
    ) {
      const line = this.lines[this.at]
      const dash = /^-(?:([ ]+)|(?=\t|$))/.exec(line.slice(indent))
      if (dash === null) break
      const inner = indent + dash[0].length
      const rest = line.slice(inner)
      const isNested = rest !== '' && !rest.startsWith('#')
      if (isNested && (/^-(?:\s|$)/.test(rest) || this.keyOf(rest) !== undefined)) {
        this.lines[this.at] = ' '.repeat(inner) + rest
        list.push(this.readBlock(inner, depth + 1))
      } else list.push(this.readValue(` ${rest}`, indent, depth, false))
    }
    return list
  }

  /** What follows a colon or a dash, on the line and below. `indent` is that of the key. */
  readValue(rest, indent, depth, afterKey) {
    const value = rest.trim()
    if (value !== '' && !value.startsWith('#')) return this.readInline(value, indent, depth)
    this.at++
    this.skipBlank()
    if (this.at >= this.lines.length) return { text: '', plain: true }
    const inner = this.indent()
    const isList = /^-(?:\s|$)/.test(this.lines[this.at].slice(inner))
    if (inner > indent || (inner === indent && isList && afterKey))
      return this.readBlock(inner, depth + 1)
    return { text: '', plain: true }
  }

  /** A scalar or flow collection that begins on this line. */
  readInline(value, indent, depth) {
    const first = value.charAt(0)
    if (/^[?-](?:\s|$)/.test(value)) this.fail('a list cannot begin behind a key')
    if (first === '&' || first === '*') this.fail('anchors and aliases are not allowed')
    if (first === '!') this.fail('tags are not allowed')
    if (/[@`%,\]}]/.test(first)) this.fail(`a plain text cannot begin with ${first}`)
    if (first === '|' || first === '>') {
      return { ...this.readBlockScalar(value, indent), literal: first === '|' }
    }
    if (first === '"' || first === "'") return this.readQuoted(value, indent)
    if (first === '[' || first === '{') return readFlow(this, value, indent, depth + 1)
    return this.readPlain(value, indent)
  }

  readPlain(value, indent) {
    const parts = [this.plainPart(value)]
    const isCut = parts[0] !== value.trimEnd()
    this.at++
    if (isCut) return { text: parts[0], plain: true }
    for (let blank = 0; this.at < this.lines.length;) {
      const line = this.lines[this.at]
      if (line.trim() === '') {
        blank++
        this.at++
        continue
      }
      if (this.indent() <= indent || /^[ \t]*#/.test(line)) break
      const part = this.plainPart(line.trim())
      parts.push(blank > 0 ? '\n'.repeat(blank) : ' ', part)
      blank = 0
      this.at++
      if (part !== line.trim()) break
    }
    return { text: parts.join(''), plain: true }
  }

  plainPart(line) {
    const text = line.replace(/[ \t]#.*$/, '').trimEnd()
    if (/:(?:\s|$)/.test(text)) this.fail('a text with a colon and a blank must be quoted')
    return text
  }

  /** Joins lines up to the closing quote. */
  readQuoted(value, indent) {
    const whole = value.charAt(0) === '"' ? /^"(?:[^"\\]|\\[^])*"/ : /^'(?:[^']|'')*'/
    let text = value
    let match = whole.exec(text)
    while (match === null) {
      this.at++
      if (this.at >= this.lines.length) this.fail('a quoted text is not closed')
      const line = this.lines[this.at]
      if (line.trim() !== '' && this.indent() <= indent) this.fail('a quoted text must be indented')
      text += `\n${line}`
      match = whole.exec(text)
    }
    if (!/^(?:[ \t]+#.*|[ \t]*)$/.test(text.slice(match[0].length))) {
      this.fail('nothing may follow a quoted text')
    }
    this.at++
    return { text: this.unquote(match[0]), plain: false }
  }

  unquote(quoted) {
    return unquote(quoted, (message) => this.fail(message))
  }

  readBlockScalar(header, indent) {
    const match = /^([|>])([+-]?)([1-9]?)([+-]?)(?:[ \t]+#.*|[ \t]*)$/.exec(header)
    if (match === null) this.fail('a block of text begins with | or > alone')
    const [, style, before, digit, after] = match
    const chomp = before + after
    const base = Math.max(indent, -1)
    const lines = []
    let inner = digit === '' ? -1 : Math.max(base, 0) + Number(digit)
    for (this.at++; this.at < this.lines.length; this.at++) {
      const line = this.lines[this.at]
      const width = /^ */.exec(line)[0].length
      if (line.trim() === '' && (inner < 0 || width <= inner)) {
        lines.push('')
        continue
      }
      if (inner < 0 && width > base) inner = width
      if (inner < 0 || width < inner) break
      lines.push(line.slice(inner))
    }
    const trailing = lines.length - lines.findLastIndex((line) => line !== '') - 1
    const content = lines.slice(0, lines.length - trailing)
    const text = style === '|' ? content.join('\n') : foldLines(content)
    if (chomp === '-' || content.length === 0) return { text, plain: false }
    return { text: `${text}\n${chomp === '+' ? '\n'.repeat(trailing) : ''}`, plain: false }
  }
}
