import { isObject, parseJson } from '#core/json'

/**
 * Returns the last `output:` block or JSON object with a `status`, fenced or bare, complete or broken;
 * undefined if the text has none. The time is linear in the length of the text.
 */
export function lastOutputBlock(stdout: string): string | undefined {
  const output = stdout.trimEnd()
  const lines = splitLines(output)
  const parents = enclosingLines(lines)
  const scan = objectScanner(output)
  for (let index = lines.length - 1; index >= 0; index--) {
    const { text = '' } = lines[index] ?? {}
    const block = /^[ \t]*output[ \t]*:/.test(text)
      ? yamlBlock(lines, index, parents[index])
      : /^[ \t]*\{/.test(text)
        ? jsonBlock(output, scan, lines, index)
        : undefined
    if (block !== undefined) return block
  }
  return undefined
}

interface Line {
  text: string
  start: number
}

/** A single carriage return ends a line too: progress bars use it to overwrite their line. */
function splitLines(text: string): Line[] {
  const lines: Line[] = []
  let start = 0
  for (const lineText of text.split(/\r\n|\r|\n/)) {
    // Windows shells print a byte order mark first.
    const marks = /^[\uFEFF\u200B\u2060]{0,9}/.exec(lineText)?.[0].length ?? 0
    lines.push({ text: lineText.slice(marks), start: start + marks })
    start += lineText.length
    start += text.startsWith('\r\n', start) ? 2 : 1
  }
  return lines
}

function enclosingLines(lines: readonly Line[]): (string | undefined)[] {
  const open: { text: string; indent: number }[] = []
  return lines.map(({ text }) => {
    if (text.trim() === '') return undefined
    const indent = indentOf(text)
    while ((open.at(-1)?.indent ?? -1) >= indent) open.pop()
    const parent = open.at(-1)?.text
    open.push({ text, indent })
    return parent
  })
}

/**
 * Returns the `output:` line and the indented lines below it, without their common indentation. An
 * `output:` with no lines below is a heading in a log, not an output. An `output:` that is indented
 * outside a fence, or has text on its line, is an output only if one of our statuses follows and it is
 * not a part of something else.
 */
function yamlBlock(lines: readonly Line[], first: number, parent: string | undefined) {
  const head = lines[first]?.text ?? ''
  const indent = indentOf(head)
  const plain = /^[ \t]*output[ \t]*:[ \t]*(?:#.*|\{.*)?$/.test(head)
  const clear = plain && (indent === 0 || insideFence(lines, first, indent))
  if (!clear && isPartOf(parent)) return undefined
  const beside = plain ? besideHead(lines, first, indent) : undefined
  if (!clear && beside === undefined && !hasStatusBelow(lines, first, indent)) return undefined
  const block = [head.slice(indent)]
  for (let index = first + 1; index < lines.length; index++) {
    const text = lines[index]?.text ?? ''
    if (text.trim() !== '' && indentOf(text) <= indent) break
    block.push(text.slice(indent))
  }
  const flow = /^output[ \t]*:[ \t]*\{/.test(block[0] ?? '')
  if (flow || block.some((text, index) => index > 0 && text.trim() !== '')) return block.join('\n')
  return beside
}

/** Accepts a status directly below `output:` that should be indented. */
function besideHead(lines: readonly Line[], first: number, indent: number): string | undefined {
  const nextLine = lines[first + 1]?.text ?? ''
  if (indentOf(nextLine) !== indent || !statusLine.test(nextLine.slice(indent))) return undefined
  const followingLines = lines.slice(first, first + 1000)
  const end = followingLines.findIndex(({ text }) => text.trim() === '' || fence.test(text))
  const block = followingLines.slice(0, end === -1 ? followingLines.length : end)
  return block.map(({ text }) => text.slice(indent)).join('\n')
}

const fence = /^[ \t]*(?:```|~~~)/
const statusLine = /^status[ \t]*:[ \t]*(["']?)(?:success|failure|critical)\1[ \t]*(?:#.*)?$/i
const flowStatus = /[{,][ \t]*(["']?)status\1[ \t]*:[ \t]*["']?(?:success|failure|critical)\b/i

/** Whether one of our statuses is a key of this block itself, in its first hundred lines. */
function hasStatusBelow(lines: readonly Line[], first: number, indent: number): boolean {
  const head = lines[first]?.text ?? ''
  if (/^[ \t]*output[ \t]*:[ \t]*\{/.test(head)) {
    return flowStatus.test(head) && !/[,;][ \t]*$/.test(head)
  }
  let level: number | undefined
  for (const { text } of lines.slice(first + 1, first + 101)) {
    if (text.trim() === '') continue
    const depth = indentOf(text)
    if (depth <= indent) return false
    level ??= depth
    if (depth === level && statusLine.test(text.slice(depth))) return true
  }
  return false
}

/** Whether the line above starts something larger: a mapping, a list or code. */
function isPartOf(parent: string | undefined): boolean {
  const text = parent?.trim() ?? ''
  return /[[{(,]$/.test(text) || /^(?:- )?\S+:$/.test(text) || /^- [^\s:]+:/.test(text)
}

/** Whether a fence with the same indentation starts at most four lines above. */
function insideFence(lines: readonly Line[], index: number, indent: number): boolean {
  for (let otherIndex = index - 1; otherIndex >= 0 && otherIndex > index - 5; otherIndex--) {
    const text = lines[otherIndex]?.text ?? ''
    if (fence.test(text)) return indentOf(text) === indent
  }
  return false
}

function indentOf(text: string): number {
  return text.length - text.trimStart().length
}

/**
 * Returns the JSON object that starts on this line, if it is meant as an output. Logs contain other
 * objects, and code contains other braces. Invalid JSON therefore counts only if its first key is that
 * of an output, or one of our statuses is among its keys.
 */
function jsonBlock(output: string, scan: ObjectScanner, lines: readonly Line[], index: number) {
  const line = lines[index]
  if (!line) return undefined
  const start = line.start + indentOf(line.text)
  const { end, hasStatus, value } = scan(start)
  const text = output.slice(start, end)
  if (end !== undefined && isElement(output, end, lines, index)) return undefined
  if (value !== undefined) return isMeantAsOutput(value) ? text : undefined
  if (/^\{\s*"(?:status"\s*:\s*"|output"\s*:\s*\{)/.test(text)) return text
  if (!hasStatus) return undefined
  if (/^\{\s*"/.test(text)) return text
  // Python and Node print values in this form. In a code listing, more text would follow.
  const alone = end !== undefined && /^[ \t]*(?:\r?\n|$)/.test(output.slice(end, end + 100))
  return alone && /^\{\s*'?(?:status|result|errors|metrics)\b/.test(text) ? text : undefined
}

function isElement(output: string, end: number, lines: readonly Line[], index: number): boolean {
  let next = end
  while (next < output.length && (output[next] ?? '').trim() === '') next++
  if (output[next] !== ',' && output[next] !== ']') return false
  let otherIndex = index - 1
  while (otherIndex > 0 && lines[otherIndex]?.text.trim() === '') otherIndex--
  return /[[,][ \t]*$/.test(lines[otherIndex]?.text ?? '')
}

interface ScannedObject {
  end: number | undefined
  /** Whether the object itself has the key `status` with one of our statuses. */
  hasStatus: boolean
  /** The parsed object; undefined for invalid JSON and for an object without an output's first key. */
  value: unknown
}

type ObjectScanner = ReturnType<typeof objectScanner>

const keyHere = /"(?:status|output)"\s{0,9}:/y

/** The key `status` with one of our statuses, in JSON, in YAML and as languages print values. */
const statusHere = /(["']?)status\1\s{0,9}:\s{0,9}["']?(?:success|failure|critical)\b/y

const statusTorn = /"status"\s{0,9}:\s{0,9}(?:"[a-z]{0,8})?$/y

/** Scans the objects of `text`. Nested objects are scanned repeatedly, within a linear limit. */
function objectScanner(text: string) {
  let budget = 16 * text.length + 4096
  /** The start of the last object without an end: objects around it have no end either. */
  let unclosedStart = -1

  function at(expression: RegExp, index: number): boolean {
    expression.lastIndex = index
    return expression.test(text)
  }

  function parseRange(start: number, end: number): unknown {
    budget -= end - start
    return parseJson(text.slice(start, end))
  }

  return (start: number): ScannedObject => {
    const quotes = /\S/.exec(text.slice(start + 1, start + 200))?.[0] === '"' ? '"' : `"'`
    let depth = 0
    let quote = ''
    let previousCharacter = ''
    let hasStatus = false
    let hasOutputKey = false
    for (let index = start; index < text.length && --budget >= 0; index++) {
      const character = text[index] ?? ''
      if (quote !== '') {
        if (character === '\\') index++
        else if (character === quote) quote = ''
        continue
      }
      if (depth === 1 && (previousCharacter === '{' || previousCharacter === ',')) {
        hasStatus ||= /["'s]/.test(character) && (at(statusHere, index) || at(statusTorn, index))
        hasOutputKey ||= character === '"' && at(keyHere, index)
      }
      if (quotes.includes(character)) quote = character
      else if (character === '{' && index === unclosedStart) break
      else if (character === '{') depth++
      else if (character === '}' && --depth === 0) {
        const end = index + 1
        return { end, hasStatus, value: hasOutputKey ? parseRange(start, end) : undefined }
      }
      if (character.trim() !== '') previousCharacter = character
    }
    unclosedStart = start
    return { end: undefined, hasStatus, value: undefined }
  }
}

const fields: readonly string[] = ['status', 'result', 'errors', 'metrics']

/**
 * Whether a JSON value is meant as an output. Other programs print objects with a `status` too: a
 * status that is a string always counts, any other only if every key is a field of an output.
 */
function isMeantAsOutput(value: unknown): boolean {
  if (!isObject(value)) return false
  const keys = Object.keys(value)
  const { output, status } = value
  // A bundler's configuration has the key `output` as well.
  if (typeof output === 'object' && output !== null && (keys.length === 1 || 'status' in output))
    return true
  if (typeof status === 'string') return true
  if (status === undefined || !keys.every((key) => fields.includes(key))) return false
  const isHttp = typeof status === 'number' && status >= 100 && status <= 599
  return status === null || (typeof status !== 'object' && !isHttp)
}
