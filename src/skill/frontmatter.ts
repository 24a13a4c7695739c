/**
 * Where the frontmatter of a `SKILL.md` stands. Offsets are UTF-16 units into the text that was
 * given; lines count from 1.
 */
export type FrontmatterSplit =
  | {
      found: true
      byteOrderMark: boolean
      /** The lines between the delimiters, each ended by `\n` (CRLF is turned into it). */
      source: string
      /** Offset of the first line between the delimiters. */
      start: number
      /** Offset of the closing `---`. */
      end: number
      /** The line on which `source` begins: always 2. */
      firstLine: number
      /** Everything behind the line of the closing `---`, as it stands. */
      body: string
      bodyStart: number
      bodyLine: number
    }
  | { found: false; byteOrderMark: boolean; reason: 'missing' | 'unclosed' }

/**
 * Finds the frontmatter by lines: `---` alone on the first line up to the next line that is `---`.
 * Blanks behind a delimiter do not count. `---` inside a line, or in the body, is no delimiter.
 */
export function splitFrontmatter(text: string): FrontmatterSplit {
  const byteOrderMark = text.charCodeAt(0) === 0xfeff
  const opening = byteOrderMark ? 1 : 0
  const start = text.startsWith('---', opening) ? lineAfterDelimiter(text, opening + 3) : undefined
  if (start === undefined) return { found: false, byteOrderMark, reason: 'missing' }
  let from = start - 1
  for (;;) {
    const newline = text.indexOf('\n---', from)
    if (newline === -1) return { found: false, byteOrderMark, reason: 'unclosed' }
    const bodyStart = lineAfterDelimiter(text, newline + 4)
    if (bodyStart === undefined) {
      from = newline + 4
      continue
    }
    const end = newline + 1
    const source = withNewlines(text.slice(start, end))
    const bodyLine = 3 + countNewlines(source)
    const body = text.slice(bodyStart)
    return {
      found: true,
      byteOrderMark,
      source,
      start,
      end,
      firstLine: 2,
      body,
      bodyStart,
      bodyLine,
    }
  }
}

/** The offset of the next line where only blanks follow; the end of the text counts as one. */
function lineAfterDelimiter(text: string, offset: number): number | undefined {
  for (let at = offset; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 10) return at + 1
    if (code !== 32 && code !== 9 && !(code === 13 && text.charCodeAt(at + 1) === 10)) {
      return undefined
    }
  }
  return text.length
}

function withNewlines(text: string): string {
  return text.includes('\r') ? text.replaceAll('\r\n', '\n') : text
}

function countNewlines(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
}
