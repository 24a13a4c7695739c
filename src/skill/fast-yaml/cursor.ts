/** A position in the frontmatter of the fast reader, always on the first character of something. */
export interface FastCursor {
  readonly text: string
  at: number
  lineStart: number
  /** Of the file, from 1. */
  line: number
  /** Spaces before the first character of the current line, -1 behind the last line. */
  indent: number
}

export const space = 32
export const newline = 10
export const hash = 35
export const colon = 58
export const dash = 45

export function columnOf(cursor: FastCursor, offset: number): number {
  return offset - cursor.lineStart + 1
}

/** Goes to the next line, from anywhere in the current one, that is neither blank nor a comment. */
export function nextContentLine(cursor: FastCursor): void {
  const end = cursor.text.indexOf('\n', cursor.at)
  startLine(cursor, end + 1)
}

/** Goes to the first content at or behind the beginning of a line. */
export function startLine(cursor: FastCursor, lineStart: number, passed = 1): void {
  const { text } = cursor
  cursor.line += passed
  let start = lineStart
  while (start < text.length) {
    let at = start
    while (text.charCodeAt(at) === space) at++
    const code = text.charCodeAt(at)
    if (code !== newline && code !== hash) {
      cursor.lineStart = start
      cursor.at = at
      cursor.indent = at - start
      return
    }
    start = text.indexOf('\n', at) + 1
    cursor.line++
  }
  cursor.lineStart = text.length
  cursor.at = text.length
  cursor.indent = -1
}

/** Whether only blanks or a comment follow on the line. A comment needs a space before it. */
export function endsLine(cursor: FastCursor, offset: number): boolean {
  const { text } = cursor
  let at = offset
  while (text.charCodeAt(at) === space) at++
  const code = text.charCodeAt(at)
  return code === newline || (code === hash && at > offset)
}

export function startsEntry(cursor: FastCursor): boolean {
  const { text, at } = cursor
  return text.charCodeAt(at) === dash && text.charCodeAt(at + 1) === space
}
