/** A file as lines, with the frontmatter between `lines[0]` and `lines[close]`. */
export interface FrontmatterLines {
  lines: string[]
  close: number
}

const marker = /^---[ \t]*\r?$/

/** The lines of a file whose frontmatter is opened and closed; undefined of any other file. */
export function frontmatterLines(text: string): FrontmatterLines | undefined {
  const lines = text.split('\n')
  if (!marker.test((lines[0] ?? '').replace(/^\ufeff/, ''))) return undefined
  const close = lines.findIndex((line, index) => index > 0 && marker.test(line))
  return close < 0 ? undefined : { lines, close }
}
