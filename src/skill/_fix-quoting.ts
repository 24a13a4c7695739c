import { withoutEnd } from '../base/index.ts'
import type { FrontmatterLines } from './_frontmatter-lines.ts'
import { doubleQuoted } from './_quote.ts'

/** The lines, by index, that continue a quoted text or a block of text begun on a line before. */
export function scalarInterior({ lines, close }: FrontmatterLines): ReadonlySet<number> {
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
export function quotableLines(found: FrontmatterLines): { index: number; text: string }[] {
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
