import { withoutEnd } from '#core/text'
import { formatAllowedTools, hasCommas, isBalanced, parseAllowedTools } from './allowed-tools.ts'
import { isRemark, quotedLines, readAuthoredYaml } from './authored-yaml.ts'
import { type FrontmatterLines, frontmatterLines } from './frontmatter.ts'
import { takesNoText } from './parse.ts'
import {
  readYaml,
  type YamlComment,
  type YamlMap,
  type YamlNode,
  type YamlScalar,
} from './read-yaml.ts'
import { quoteText } from './serialize.ts'

export interface FixChange {
  line: number
  message: string
}

/**
 * Fixes problems that need no decision: a byte order mark, CRLF, blanks at the ends of lines
 * of the frontmatter, values that YAML cannot read until they are quoted, texts that YAML cuts at
 * ` #`, and the form of `allowed-tools`. Values that were readable have the same value afterwards;
 * everything else stays unchanged. Fixing the result again changes nothing.
 */
export function fixSkill(text: string): { text: string; changes: FixChange[] } {
  const changes: FixChange[] = []
  let fixedText = text
  if (fixedText.startsWith('\ufeff')) {
    fixedText = fixedText.replace(/^\ufeff+/, '')
    changes.push({ line: 1, message: 'removed the byte order mark' })
  }
  if (fixedText.includes('\r\n')) {
    const line = fixedText.slice(0, fixedText.indexOf('\r\n')).split('\n').length
    fixedText = fixedText.replaceAll(/(?<!\r)\r+\n/g, '\n')
    changes.push({ line, message: 'replaced CRLF by LF' })
  }
  for (const fix of [quoteValues, quoteCutTexts, trimLines, rewriteTools]) {
    const frontmatter = frontmatterLines(fixedText)
    const result = frontmatter && fix(frontmatter)
    if (!result) continue
    fixedText = result.lines.join('\n')
    changes.push(...result.changes)
  }
  return { text: fixedText, changes }
}

type LineFix = { lines: string[]; changes: readonly FixChange[] }

function sourceOf({ lines, close }: { lines: readonly string[]; close: number }): string {
  return `${lines.slice(1, close).join('\n')}\n`
}

function readMap(frontmatter: { lines: readonly string[]; close: number }) {
  const { root } = readYaml(sourceOf(frontmatter), { firstLine: 2, path: '' })
  return { map: root?.kind === 'map' ? root : undefined }
}

/** Reading again costs time. */
const maxTries = 100

/** Acts only if the frontmatter is unreadable and quotes make it readable. */
function quoteValues({ lines, close }: FrontmatterLines): LineFix | undefined {
  const reading = readAuthoredYaml(sourceOf({ lines, close }), { firstLine: 2, path: '' })
  if (reading.quoted.length === 0) return undefined
  const message = 'quoted a value that YAML cannot read'
  const changes = reading.quoted.map(({ start }) => ({ line: start + 2, message }))
  return { lines: [lines[0] ?? '', ...reading.lines.slice(0, -1), ...lines.slice(close)], changes }
}

/**
 * Quotes values with a YAML comment that is probably text: `#` before a letter, or after several
 * words. A name or a list of tools has no `#`.
 */
function quoteCutTexts({ lines: fileLines, close }: FrontmatterLines): LineFix | undefined {
  const { map } = readMap({ lines: fileLines, close })
  const changes: FixChange[] = []
  let lines: readonly string[] = fileLines
  for (const value of map ? cutTexts(map) : []) {
    const { comment } = value
    const isBefore = comment.line < value.line
    const { line, column } = isBefore ? comment : value
    const isText = /^#\S/.test(comment.text) || /\s/.test(value.text)
    if (!isText) continue
    const end = comment.endLine
    const quotedValue = quotedLines(lines.slice(line - 1, end), column - 1)
    lines = lines.toSpliced(line - 1, end - line + 1, ...quotedValue)
    changes.push({ line, message: `quoted a value, so that \`${comment.text}\` belongs to it` })
  }
  const isReadable = readMap({ lines, close }).map !== undefined
  return changes.length > 0 && isReadable ? { lines: [...lines], changes } : undefined
}

function cutTexts(map: YamlMap): (YamlScalar & { comment: YamlComment })[] {
  return map.entries.flatMap(({ key, value }) => {
    if (unquotedFields.has(key.text) || takesNoText(key.text)) return []
    if (value.kind === 'map') return cutTexts(value)
    const items = value.kind === 'list' ? value.items : [value]
    return items.flatMap((item) => {
      if (item.kind === 'map') return cutTexts(item)
      if (item.kind !== 'scalar' || !item.comment || isRemark(item)) return []
      return [{ ...item, comment: item.comment }]
    })
  })
}

const unquotedFields: ReadonlySet<string> = new Set(['name', 'allowed-tools', 'run', 'inject'])

/** Removes blanks at the ends of lines that are not part of a value. */
function trimLines({ lines: fileLines, close }: FrontmatterLines): LineFix | undefined {
  const { map } = readMap({ lines: fileLines, close })
  if (!map) return undefined
  const ending = [...fileLines.slice(0, close + 1).entries()].flatMap(([index, line]) =>
    withoutBlanks(line) === line ? [] : [index],
  )
  const texts = linesOfTexts(map, close)
  const outsideTexts = ending.filter((index) => !texts.has(index))
  const insideTexts = ending.filter((index) => texts.has(index))
  const single = insideTexts.length > maxTries ? [] : insideTexts.map((index) => [index])
  const trimmedIndexes = new Set<number>()
  let lines = fileLines
  for (const group of [ending, outsideTexts, ...single]) {
    if (trimmedIndexes.size === ending.length) break
    const groupIndexes = new Set(group)
    const candidate = lines.map((line, index) =>
      groupIndexes.has(index) ? withoutBlanks(line) : line,
    )
    if (!isSame(map, readMap({ lines: candidate, close }).map)) continue
    lines = candidate
    for (const index of group) trimmedIndexes.add(index)
  }
  const message = 'removed blanks at the end'
  const changes = [...trimmedIndexes]
    .toSorted((a, b) => a - b)
    .map((index) => ({ line: index + 1, message }))
  return changes.length === 0 ? undefined : { lines, changes }
}

function withoutBlanks(line: string): string {
  return withoutEnd(line, ' \t\r')
}

/**
 * Returns the lines of text blocks and multi-line quoted texts, in which a blank can be text.
 */
function linesOfTexts(map: YamlMap, close: number): ReadonlySet<number> {
  const scalars = scalarsOf(map)
  const textLines = new Set<number>()
  for (const [at, { style, line }] of scalars.entries()) {
    const end = (scalars[at + 1]?.line ?? close + 1) - 1
    if (style === 'plain' || end === line) continue
    for (let index = line - 1; index < end; index++) textLines.add(index)
  }
  return textLines
}

function scalarsOf(node: YamlNode): YamlScalar[] {
  if (node.kind === 'scalar') return [node]
  if (node.kind === 'list') return node.items.flatMap(scalarsOf)
  return node.entries.flatMap(({ key, value }) => [key, ...scalarsOf(value)])
}

/** Writes one string separated by spaces, unless a comment would be lost. */
function rewriteTools(frontmatter: FrontmatterLines): LineFix | undefined {
  const { map: mapBefore } = readMap(frontmatter)
  const { entries = [], flow = true } = mapBefore ?? {}
  const index = entries.findIndex(({ key }) => key.text === name)
  const { key, value } = entries[index] ?? {}
  if (flow || !mapBefore || key?.column !== 1 || !value) return undefined
  const isForeign = value.kind === 'list' || (value.kind === 'scalar' && hasCommas(value.text))
  // A pattern without its end allows nothing; closing it would create a permission.
  if (!isForeign || !isBalanced(value)) return undefined
  if (value.kind === 'list' && value.items.some((item) => item.kind !== 'scalar')) return undefined
  const start = key.line - 1
  let end = (entries[index + 1]?.key.line ?? frontmatter.close + 1) - 1
  while (end - 1 > start && /^\s*(?:#.*)?$/.test(frontmatter.lines[end - 1] ?? '')) end--
  if (frontmatter.lines.slice(start, end).some((line) => /(?:^|\s)#/.test(line))) return undefined
  const line = `${name}: ${quoteText(formatAllowedTools(parseAllowedTools(value)))}`
  const lines = frontmatter.lines.toSpliced(start, end - start, line)
  const { map: mapAfter } = readMap({ lines, close: frontmatter.close - (end - start - 1) })
  if (!isSame(mapBefore, mapAfter)) return undefined
  const message = 'wrote `allowed-tools` as one string separated by spaces'
  return { lines, changes: [{ line: key.line, message }] }
}

const name = 'allowed-tools'

/**
 * Whether two trees have the same keys, texts, values and tools, at any position in the file.
 */
function isSame(a: YamlNode, b: YamlNode | undefined): boolean {
  const comparable = (node: YamlNode): unknown => {
    if (node.kind === 'scalar') return [node.text, node.value]
    if (node.kind === 'list') return { items: node.items.map(comparable) }
    const pairs = node.entries.map(({ key, value }) => {
      const isTools = key.text === name && isBalanced(value)
      return [key.text, isTools ? parseAllowedTools(value) : comparable(value)]
    })
    return { pairs }
  }
  return b !== undefined && JSON.stringify(comparable(a)) === JSON.stringify(comparable(b))
}
