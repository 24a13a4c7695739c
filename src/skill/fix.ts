import { withoutEnd } from '#core/text'
import { formatAllowedTools, hasCommas, isBalanced, parseAllowedTools } from './allowed-tools.ts'
import { type FrontmatterLines, frontmatterLines } from './frontmatter.ts'
import { readYaml, type YamlMap, type YamlNode, type YamlScalar } from './read-yaml.ts'
import { jsonScalar, quoteText } from './serialize.ts'

export interface FixChange {
  line: number
  message: string
}

/**
 * Fixes what can be fixed without a decision: a byte order mark, CRLF, blanks at the ends of lines
 * of the frontmatter, values that YAML cannot read until they are quoted, and the form of
 * `allowed-tools`. Values that could be read before read the same afterwards; anything else is left
 * as it is. Fixing the result again changes nothing.
 */
export function fixSkill(text: string): { text: string; changes: FixChange[] } {
  const changes: FixChange[] = []
  let fixed = text
  if (fixed.startsWith('\ufeff')) {
    fixed = fixed.replace(/^\ufeff+/, '')
    changes.push({ line: 1, message: 'removed the byte order mark' })
  }
  if (fixed.includes('\r\n')) {
    const line = fixed.slice(0, fixed.indexOf('\r\n')).split('\n').length
    fixed = fixed.replaceAll(/(?<!\r)\r+\n/g, '\n')
    changes.push({ line, message: 'replaced CRLF by LF' })
  }
  for (const fix of [quoteValues, trimLines, rewriteTools]) {
    const found = frontmatterLines(fixed)
    const result = found && fix(found)
    if (!result) continue
    fixed = result.lines.join('\n')
    changes.push(...result.changes)
  }
  return { text: fixed, changes }
}

type LineFix = { lines: string[]; changes: FixChange[] }

function read({ lines, close }: FrontmatterLines) {
  const source = lines.slice(1, close).join('\n')
  const { root, diagnostics } = readYaml(`${source}\n`, { firstLine: 2, path: '' })
  const map = root?.kind === 'map' ? root : undefined
  return { map, badIndex: (diagnostics[0]?.line ?? 0) - 1 }
}

/** Reading again costs time. */
const mostTries = 100

/** Only where the frontmatter cannot be read, and only if it can be afterwards. */
function quoteValues({ lines: given, close }: FrontmatterLines): LineFix | undefined {
  const lines = [...given]
  const changes: FixChange[] = []
  while (changes.length < mostTries) {
    const { map, badIndex } = read({ lines, close })
    if (map) return changes.length === 0 ? undefined : { lines, changes }
    const quoted = badIndex < close ? withQuotes(lines[badIndex], lines[badIndex + 1]) : undefined
    if (quoted === undefined) return undefined
    lines[badIndex] = quoted
    changes.push({ line: badIndex + 1, message: 'quoted a value that YAML cannot read' })
  }
  return undefined
}

/** A line `key: value` whose plain value YAML cannot read, with the value in double quotes. */
function withQuotes(line = '', next = ''): string | undefined {
  const match = /^(\s*(?:- )?[A-Za-z_][\w-]*:[ \t]+)([^\s'"|>[{&!#].*)$/.exec(line)
  if (match === null) return undefined
  const [, head = '', rest = ''] = match
  const comment = rest.search(/[ \t]#/)
  const value = comment < 0 ? rest : withoutEnd(rest.slice(0, comment), ' \t')
  const isContinued = next.trim() !== '' && indentOf(next) > indentOf(line)
  const isUnreadable = /:(?:\s|$)/.test(value) || /^[@`%*]/.test(value)
  if (isContinued || !isUnreadable) return undefined
  return head + jsonScalar(value.trimEnd()) + rest.slice(value.length)
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length
}

/** Blanks at the ends of lines, where they are not part of a value. */
function trimLines({ lines: given, close }: FrontmatterLines): LineFix | undefined {
  const { map } = read({ lines: given, close })
  if (!map) return undefined
  const ending = [...given.slice(0, close + 1).entries()].flatMap(([index, line]) =>
    withoutBlanks(line) === line ? [] : [index],
  )
  const texts = linesOfTexts(map, close)
  const outside = ending.filter((index) => !texts.has(index))
  const inside = ending.filter((index) => texts.has(index))
  const single = inside.length > mostTries ? [] : inside.map((index) => [index])
  const trimmed = new Set<number>()
  let lines = given
  for (const group of [ending, outside, ...single]) {
    if (trimmed.size === ending.length) break
    const chosen = new Set(group)
    const candidate = lines.map((line, index) => (chosen.has(index) ? withoutBlanks(line) : line))
    if (!isSame(map, read({ lines: candidate, close }).map)) continue
    lines = candidate
    for (const index of group) trimmed.add(index)
  }
  const message = 'removed blanks at the end'
  const changes = [...trimmed]
    .toSorted((a, b) => a - b)
    .map((index) => ({ line: index + 1, message }))
  return changes.length === 0 ? undefined : { lines, changes }
}

function withoutBlanks(line: string): string {
  return withoutEnd(line, ' \t\r')
}

/** The lines of blocks of text and of quoted texts with several lines, where a blank can be text. */
function linesOfTexts(map: YamlMap, close: number): ReadonlySet<number> {
  const scalars = scalarsOf(map)
  const found = new Set<number>()
  for (const [at, { style, line }] of scalars.entries()) {
    const end = (scalars[at + 1]?.line ?? close + 1) - 1
    if (style === 'plain' || end === line) continue
    for (let index = line - 1; index < end; index++) found.add(index)
  }
  return found
}

function scalarsOf(node: YamlNode): YamlScalar[] {
  if (node.kind === 'scalar') return [node]
  if (node.kind === 'list') return node.items.flatMap(scalarsOf)
  return node.entries.flatMap(({ key, value }) => [key, ...scalarsOf(value)])
}

/** One string separated by spaces, unless a comment would be lost. */
function rewriteTools(found: FrontmatterLines): LineFix | undefined {
  const { map: before } = read(found)
  const { entries = [], flow = true } = before ?? {}
  const index = entries.findIndex(({ key }) => key.text === name)
  const { key, value } = entries[index] ?? {}
  if (flow || !before || key?.column !== 1 || !value) return undefined
  const isForeign = value.kind === 'list' || (value.kind === 'scalar' && hasCommas(value.text))
  // Without its end a pattern is not a permission; to close it would make one.
  if (!isForeign || !isBalanced(value)) return undefined
  if (value.kind === 'list' && value.items.some((item) => item.kind !== 'scalar')) return undefined
  const start = key.line - 1
  let end = (entries[index + 1]?.key.line ?? found.close + 1) - 1
  while (end - 1 > start && /^\s*(?:#.*)?$/.test(found.lines[end - 1] ?? '')) end--
  if (found.lines.slice(start, end).some((line) => /(?:^|\s)#/.test(line))) return undefined
  const line = `${name}: ${quoteText(formatAllowedTools(parseAllowedTools(value)))}`
  const lines = found.lines.toSpliced(start, end - start, line)
  const { map: after } = read({ lines, close: found.close - (end - start - 1) })
  if (!isSame(before, after)) return undefined
  const message = 'wrote `allowed-tools` as one string separated by spaces'
  return { lines, changes: [{ line: key.line, message }] }
}

const name = 'allowed-tools'

/** Whether two trees have the same keys, texts, values and tools, wherever they stand in the file. */
function isSame(a: YamlNode, b: YamlNode | undefined): boolean {
  const plain = (node: YamlNode): unknown => {
    if (node.kind === 'scalar') return [node.text, node.value]
    if (node.kind === 'list') return { items: node.items.map(plain) }
    const pairs = node.entries.map(({ key, value }) => {
      const isTools = key.text === name && isBalanced(value)
      return [key.text, isTools ? parseAllowedTools(value) : plain(value)]
    })
    return { pairs }
  }
  return b !== undefined && JSON.stringify(plain(a)) === JSON.stringify(plain(b))
}
