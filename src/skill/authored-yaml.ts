import type { Diagnostic } from '#core/errors'
import {
  readYaml,
  type ReadYamlOptions,
  type YamlNode,
  type YamlReading,
  type YamlScalar,
} from './read-yaml.ts'
import { finding, type RuleCode } from './rules.ts'
import { jsonScalar } from './serialize.ts'

/** A value that is read as text because YAML cannot read it. Lines are indexes into the source. */
interface QuotedValue {
  start: number
  end: number
  diagnostic: Diagnostic
}

interface AuthoredReading extends YamlReading {
  /** The source with these values in quotes. */
  lines: readonly string[]
  quoted: readonly QuotedValue[]
}

/** Reading again costs time. */
const maxTries = 100

/**
 * Reads handwritten YAML as agent clients do: a value that YAML cannot read, such as `description:
 * Use when: asked`, is read as text, with a warning. If the source is still invalid, returns the
 * result of {@link readYaml}.
 */
export function readAuthoredYaml(source: string, options: ReadYamlOptions): AuthoredReading {
  const strict = readYaml(source, options)
  let reading = strict
  let lines: readonly string[] = source.split('\n')
  const quotedValues: QuotedValue[] = []
  while (!reading.root && quotedValues.length < maxTries) {
    const [problem] = reading.diagnostics
    const at = problem && unreadableAt(lines, problem, options)
    if (!at || quotedValues.some(({ start }) => start === at.start)) break
    lines = lines.toSpliced(at.start, at.end - at.start, ...at.replacement)
    quotedValues.push({ start: at.start, end: at.end, diagnostic: problemOf(at, options) })
    reading = readYaml(lines.join('\n'), options)
  }
  if (!reading.root || quotedValues.length === 0)
    return { ...strict, lines: source.split('\n'), quoted: [] }
  const diagnostics = quotedValues.map(({ diagnostic }) => diagnostic)
  return { root: reading.root, diagnostics, lines, quoted: quotedValues }
}

interface UnreadableValue {
  start: number
  /** The index of the line after it. */
  end: number
  subject: string
  column: number
  text: string
  replacement: readonly string[]
}

function problemOf(
  { start, column, subject, text }: UnreadableValue,
  { firstLine, path }: ReadYamlOptions,
): Diagnostic {
  const message = `${subject} is not valid YAML; it is read as the text \`${text}\`.`
  const hint =
    'Quote it, as pi does not load such a skill (Claude Code does): `skillrail validate --fix` does so.'
  return finding('yaml-unquoted', path, { line: firstLine + start, column }, message, hint)
}

/**
 * Indentation with the dashes of list items, a key if there is one, and the first line of a value.
 */
function entryOf(line: string): { prefix: string; key: string; value: string } | undefined {
  const [prefix = ''] = /^ *(?:- +)*/.exec(line) ?? []
  const text = line.slice(prefix.length)
  const [key = ''] = keyPattern.exec(text) ?? []
  const value = text.slice(key.length)
  return /^\S/.test(value) ? { prefix, key, value } : undefined
}

const keyPattern = /^(?:"[^"\\]*"|'[^']*'|[\p{L}\p{N}_][\p{L}\p{N}_.$/-]*)[ \t]*:[ \t]+/u

/** Finds the value at an error, or the value that the line of the error continues. */
function unreadableAt(
  lines: readonly string[],
  { code, line = 0 }: Diagnostic,
  options: ReadYamlOptions,
): UnreadableValue | undefined {
  if (code !== ('yaml-syntax' satisfies RuleCode) && code !== ('yaml-anchor' satisfies RuleCode)) {
    return undefined
  }
  const place = Math.min(line - options.firstLine, lines.length - 1)
  for (let start = place; start >= 0; start--) {
    const entry = entryOf(lines[start] ?? '')
    if (!entry || (entry.key === '' && !entry.prefix.includes('-'))) continue
    const { prefix, key, value } = entry
    const parent = key === '' ? prefix.lastIndexOf('-') : prefix.length
    const end = endOfValue(lines, start, parent)
    if (end <= place) return undefined
    const column = prefix.length + key.length
    const text = [value, ...lines.slice(start + 1, end)].map((part) => part.trim()).join(' ')
    const isAlias = value.startsWith('*')
    const isProblem = isAlias || (code === 'yaml-syntax' && !isReadable(lines.slice(start, end)))
    if (!isProblem || !isText(value)) continue
    const subject =
      key === '' ? 'The list item' : `The value of \`${key.trim().slice(0, -1).trim()}\``
    const replacement = quotedLines(lines.slice(start, end), column)
    return { start, end, subject, column: column + 1, text, replacement }
  }
  return undefined
}

/** Finds the end of a value: lines that are indented deeper than its key or dash belong to it. */
function endOfValue(lines: readonly string[], start: number, parent: number): number {
  let end = start + 1
  for (let index = start + 1; index < lines.length; index++) {
    const line = lines[index] ?? ''
    if (line.trim() === '') continue
    if (line.length - line.trimStart().length <= parent) break
    end = index + 1
  }
  return end
}

function isReadable(lines: readonly string[]): boolean {
  return readYaml(`${lines.join('\n')}\n`, { firstLine: 1, path: '' }).root !== undefined
}

/**
 * Whether a value begins no block, mapping or property, and leaves no quote or bracket open.
 */
function isText(value: string): boolean {
  // YAML forbids control characters in quotes, too.
  if (/^[|>{&!#]/.test(value) || /[\u0000-\u0008\u000b-\u001f\u007f]/.test(value.trimEnd()))
    return false
  if (!/^["'[]/.test(value)) return true
  return /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|\[[^\]]*\])[ \t]*[^\s#]/.test(value)
}

/**
 * Puts quotes around a value: double quotes on one line, or single quotes over several lines.
 */
export function quotedLines(lines: readonly string[], column: number): string[] {
  const [first = '', ...furtherLines] = lines
  const head = first.slice(0, column)
  const value = first.slice(column)
  if (furtherLines.length === 0) {
    // `\r` and blanks at the end are not part of a plain value.
    const text = value.trimEnd()
    return [head + jsonScalar(text) + value.slice(text.length)]
  }
  const escapedLines = [value, ...furtherLines].map((part) => part.replaceAll("'", "''"))
  const last = escapedLines.at(-1) ?? ''
  const text = last.trimEnd()
  const closedLines = escapedLines.with(
    escapedLines.length - 1,
    `${text}'${last.slice(text.length)}`,
  )
  return closedLines.map((part, index) => (index === 0 ? `${head}'${part}` : part))
}

/**
 * Warns of text that YAML reads as a comment: everything after ` #` in a value without quotes.
 * @param isFree whether a key's values are not text, so that a comment cuts nothing from them
 */
export function commentsInValues(
  root: YamlNode,
  path: string,
  isFree: (key: string) => boolean = () => false,
): Diagnostic[] {
  if (root.kind === 'list')
    return root.items.flatMap((item) => commentsInValues(item, path, isFree))
  if (root.kind === 'map') {
    return root.entries.flatMap(({ key, value }) =>
      isFree(key.text) ? [] : commentsInValues(value, path, isFree),
    )
  }
  const { comment, text } = root
  if (!comment || isRemark(root)) return []
  const remaining = text === '' ? 'nothing' : `\`${text}\``
  const message = `\`${comment.text}\` is a comment in YAML, so it is not part of the value; ${remaining} is left.`
  const hint =
    'Quote the value if the text belongs to it (`--fix` does, unless it looks like a comment), or move the comment to a line of its own.'
  return [finding('text-cut', path, comment, message, hint)]
}

/**
 * Whether a comment cannot be meant as text, as in `true # always`.
 */
export function isRemark({ value, comment }: YamlScalar): boolean {
  return typeof value === 'boolean' && /^#\s/.test(comment?.text ?? '')
}
