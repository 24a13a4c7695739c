import { splitFrontmatter } from '../../../src/skill/frontmatter.ts'
import { demand, textOf } from '../target.ts'

export const name = 'frontmatter'
export const seeds: readonly string[] = [
  '---\nname: a\ndescription: b\n---\n\nBody\n---\nmore\n',
  '\ufeff---\r\nname: a\r\n--- \r\nbody\r\n',
  '---\t\n----\n ---\n---x\n---',
  '---\n---\n',
  'no frontmatter\n---\n',
]
export const words: readonly string[] = ['---', '\n---', '---\n', '\r\n', '\r', ' ', '\t', '\ufeff']

/** The same as reading line by line, and the offsets point to the results. */
export function fuzz(data: Uint8Array): void {
  const text = textOf(data)
  const split = splitFrontmatter(text)
  const lines = linesOf(text.replace(/^\ufeff/, ''))
  const close = lines.findIndex((line, at) => at > 0 && isDelimiter(line))
  const opens = isDelimiter(lines[0] ?? '')
  demand(split.byteOrderMark === text.startsWith('\ufeff'), 'the byte order mark')
  demand(split.found === (opens && close > 0), 'whether it is found', split)
  if (!split.found) {
    demand(split.reason === (opens ? 'unclosed' : 'missing'), 'the reason', split)
    return
  }
  const source = lines.slice(1, close).join('').replaceAll('\r\n', '\n')
  demand(split.source === source, 'the source', split.source, source)
  demand(split.body === lines.slice(close + 1).join(''), 'the body', split.body)
  demand(split.body === text.slice(split.bodyStart), 'the place of the body', split)
  demand(text.slice(split.start, split.end).replaceAll('\r\n', '\n') === source, 'the place', split)
  demand(split.bodyLine === close + 2 && split.firstLine === 2, 'the lines', split)
}

/** Each with its line feed. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

function isDelimiter(line: string): boolean {
  return /^---[ \t]*\r?\n$/.test(line) || /^---[ \t]*$/.test(line)
}
