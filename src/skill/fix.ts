import { hasErrors } from '../core/diagnostic.ts'
import { withoutEnd } from '../core/text.ts'
import { formatAllowedTools, hasCommas, isBalanced, parseAllowedTools } from './allowed-tools.ts'
import { type FrontmatterLines, frontmatterLines } from './parse.ts'
import { readYaml, type YamlMap, type YamlNode } from './read-yaml.ts'
import { doubleQuoted, quoteText } from './serialize.ts'

/** One thing that was fixed. `line` counts from 1 in the text that was given. */
export interface FixChange {
  line: number
  message: string
}

export interface SkillFix {
  text: string
  changes: FixChange[]
}

/**
 * Fixes what can be fixed without a decision: a byte order mark, CRLF, blanks at the ends of lines
 * of the frontmatter, values that YAML cannot read until they are quoted, and the form of
 * `allowed-tools`. Values that could be read before read the same afterwards; anything else is left
 * as it is. Fixing the result again changes nothing.
 */
export function fixSkill(text: string): SkillFix {
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
  let found = frontmatterLines(fixed)
  // What one fixes can be what another waited for; few texts take a second round, none a fourth.
  for (let round = 0, before = ''; round < 4 && before !== fixed; round++) {
    before = fixed
    for (const fix of [quoteValues, trimLines, rewriteTools]) {
      const result = found === undefined ? undefined : fix(found)
      if (result === undefined) continue
      fixed = result.lines.join('\n')
      found = frontmatterLines(fixed)
      for (const change of result.changes) changes.push(change)
    }
  }
  return { text: fixed, changes }
}

interface LineFix {
  lines: string[]
  changes: FixChange[]
}

function read({ lines, close }: FrontmatterLines): YamlMap | undefined {
  const source = lines.slice(1, close).join('\n')
  const { root, diagnostics } = readYaml(`${source}\n`, { firstLine: 2, path: '' })
  return root?.kind === 'map' && !hasErrors(diagnostics) ? root : undefined
}

/** Only where the frontmatter cannot be read, and only if it can be afterwards. */
function quoteValues(found: FrontmatterLines): LineFix | undefined {
  if (read(found) !== undefined) return undefined
  const lines = [...found.lines]
  const changes: FixChange[] = []
  for (const { index, text } of quotableLines(found)) {
    lines[index] = text
    changes.push({ line: index + 1, message: 'quoted a value that YAML cannot read' })
  }
  return read({ lines, close: found.close }) === undefined ? undefined : { lines, changes }
}

/** Blanks at the end are layout everywhere but inside a quoted text or a block of text. */
function trimLines(found: FrontmatterLines): LineFix | undefined {
  const interior = scalarInterior(found)
  const changes: FixChange[] = []
  const lines = found.lines.map((line, index) => {
    if (index > found.close || interior.has(index)) return line
    const trimmed = withoutEnd(line, ' \t\r')
    if (trimmed !== line) changes.push({ line: index + 1, message: 'removed blanks at the end' })
    return trimmed
  })
  if (changes.length === 0) return undefined
  const before = read(found)
  const after = read({ lines, close: found.close })
  if (before === undefined && after === undefined) return { lines, changes }
  return before !== undefined && after !== undefined && sameTree(before, after, '')
    ? { lines, changes }
    : undefined
}

/** One string separated by spaces, unless a comment would be lost. */
function rewriteTools(found: FrontmatterLines): LineFix | undefined {
  const before = read(found)
  const index = before?.entries.findIndex(({ key }) => key.text === 'allowed-tools') ?? -1
  const entry = before?.entries[index]
  if (before === undefined || entry === undefined || before.flow || entry.key.column !== 1) {
    return undefined
  }
  const { key, value } = entry
  // Without its end a pattern is not a permission; to close it would make one.
  if (!isBalanced(value)) return undefined
  const isForeign = value.kind === 'list' || (value.kind === 'scalar' && hasCommas(value.text))
  if (!isForeign || (value.kind === 'list' && value.items.some((item) => item.kind !== 'scalar'))) {
    return undefined
  }
  const start = key.line - 1
  let end = (before.entries[index + 1]?.key.line ?? found.close + 1) - 1
  while (end - 1 > start && /^\s*(?:#.*)?$/.test(found.lines[end - 1] ?? '')) end--
  if (found.lines.slice(start, end).some((line) => /(?:^|\s)#/.test(line))) return undefined
  const tools = parseAllowedTools(value)
  const line = `allowed-tools: ${quoteText(formatAllowedTools(tools))}`
  const lines = [...found.lines.slice(0, start), line, ...found.lines.slice(end)]
  const after = read({ lines, close: found.close - (end - start - 1) })
  const written = after?.entries.find((other) => other.key.text === 'allowed-tools')?.value
  if (after === undefined || written === undefined) return undefined
  const same =
    isBalanced(written) && JSON.stringify(parseAllowedTools(written)) === JSON.stringify(tools)
  if (!same || !sameTree(before, after, 'allowed-tools')) return undefined
  const message = 'wrote `allowed-tools` as one string separated by spaces'
  return { lines, changes: [{ line: key.line, message }] }
}

/** The lines, by index, that continue a quoted text or a block of text started on a line before. */
function scalarInterior({ lines, close }: FrontmatterLines): ReadonlySet<number> {
  const interior = new Set<number>()
  for (let index = 1; index < close; index++) {
    const line = lines[index] ?? ''
    const value = valueOn(line)
    const end = /^[|>][-+0-9]*\s*(?:#.*)?$/.test(value)
      ? endOfBlock(lines, close, index)
      : endOfQuoted(lines, close, index, value)
    // A quoted text also owns the blanks at the end of the line it begins on.
    if (end > index && !/^[|>]/.test(value)) interior.add(index)
    for (index++; index <= end; index++) interior.add(index)
    index = Math.max(index - 1, end)
  }
  return interior
}

/** What a line says behind the dashes of lists and a key. */
function valueOn(line: string): string {
  const text = line.replace(/^(?:\s*- )*\s*/, '')
  const value = text.replace(/^[^\s:#'"][^:#]*:/, '').trimStart()
  return /[\r\u2028\u2029]/.test(value) ? '' : value
}

/** Without the comment and the blanks before it. */
function withoutComment(text: string): string {
  const at = text.search(/[ \t]#/)
  return at < 0 ? text : withoutEnd(text.slice(0, at), ' \t')
}

function endOfBlock(lines: readonly string[], close: number, start: number): number {
  const indent = indentOf(lines[start] ?? '')
  let end = start
  for (let index = start + 1; index < close; index++) {
    const line = lines[index] ?? ''
    if (line.trim() !== '' && indentOf(line) <= indent) break
    end = index
  }
  return end
}

function endOfQuoted(
  lines: readonly string[],
  close: number,
  start: number,
  value: string,
): number {
  const quote = value.charAt(0)
  if (quote !== '"' && quote !== "'") return start
  const rest = quote === '"' ? /^(?:[^"\\]|\\.|\\$)*"/ : /^(?:[^']|'')*'(?!')/
  if (rest.test(value.slice(1))) return start
  for (let index = start + 1; index < close; index++) {
    if (rest.test(lines[index] ?? '')) return index
  }
  return start
}

/** Lines `key: value` whose plain value YAML cannot read, with the value in double quotes. */
function quotableLines(found: FrontmatterLines): { index: number; text: string }[] {
  const { lines, close } = found
  const interior = scalarInterior(found)
  const quotable: { index: number; text: string }[] = []
  for (let index = 1; index < close; index++) {
    const line = lines[index] ?? ''
    const match = /^(\s*(?:- )?[A-Za-z_][\w-]*:[ \t]+)([^\s'"|>[{&!#].*)$/.exec(line)
    if (match === null || interior.has(index)) continue
    const [, head = '', rest = ''] = match
    const value = withoutComment(rest)
    const comment = rest.slice(value.length)
    const next = lines[index + 1] ?? ''
    const isContinued = index + 1 < close && next.trim() !== '' && indentOf(next) > indentOf(line)
    const isUnreadable = /:(?:\s|$)/.test(value) || /^[@`%*]/.test(value)
    if (isContinued || !isUnreadable) continue
    quotable.push({ index, text: `${head}${doubleQuoted(value.trimEnd())}${comment}` })
  }
  return quotable
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length
}

/** Whether two trees have the same keys, texts and values, wherever they stand in the file. */
function sameTree(a: YamlNode, b: YamlNode, exceptKey: string): boolean {
  if (a.kind === 'scalar') return b.kind === 'scalar' && a.text === b.text && a.value === b.value
  if (a.kind === 'list') {
    if (b.kind !== 'list' || a.items.length !== b.items.length) return false
    return a.items.every((item, index) => {
      const other = b.items[index]
      return other !== undefined && sameTree(item, other, '')
    })
  }
  if (b.kind !== 'map' || a.entries.length !== b.entries.length) return false
  return a.entries.every(({ key, value }, index) => {
    const other = b.entries[index]
    if (other === undefined || other.key.text !== key.text) return false
    return key.text === exceptKey || sameTree(value, other.value, '')
  })
}
