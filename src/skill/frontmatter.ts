/**
 * Finds the frontmatter: from a line `---` at the top to the next line that is `---`, blanks aside.
 * Offsets are UTF-16 units of the text; lines count from 1.
 */
export function splitFrontmatter(text: string) {
  const byteOrderMark = text.charCodeAt(0) === 0xfeff
  const opening = byteOrderMark ? 1 : 0
  const start = text.startsWith('---', opening) ? lineAfterDelimiter(text, opening + 3) : undefined
  if (start === undefined) return { found: false, byteOrderMark, reason: 'missing' } as const
  let from = start - 1
  for (;;) {
    const newline = text.indexOf('\n---', from)
    if (newline === -1) return { found: false, byteOrderMark, reason: 'unclosed' } as const
    const bodyStart = lineAfterDelimiter(text, newline + 4)
    if (bodyStart === undefined) {
      from = newline + 4
      continue
    }
    const end = newline + 1
    const source = text.slice(start, end).replaceAll('\r\n', '\n')
    return {
      found: true as const,
      byteOrderMark,
      /** The lines between the delimiters, each ended by `\n` (CRLF is turned into it). */
      source,
      start,
      end,
      /** The line on which `source` begins. */
      firstLine: 2,
      /** Everything after the line of the closing `---`, unchanged. */
      body: text.slice(bodyStart),
      bodyStart,
      bodyLine: 2 + source.split('\n').length,
    }
  }
}

/**
 * Returns the offset of the next line if only blanks follow; the end of the text counts as a line.
 */
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

export interface FrontmatterLines {
  lines: string[]
  close: number
}

export const marker = /^---[ \t]*\r?$/

/**
 * Returns the lines of a file whose frontmatter is opened and closed; undefined for any other file.
 */
export function frontmatterLines(text: string): FrontmatterLines | undefined {
  const lines = text.split('\n')
  if (!marker.test((lines[0] ?? '').replace(/^\ufeff/, ''))) return undefined
  const close = lines.findIndex((line, index) => index > 0 && marker.test(line))
  return close < 0 ? undefined : { lines, close }
}
