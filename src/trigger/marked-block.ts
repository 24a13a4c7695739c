/** Lines of ours inside a file of somebody else's: everything between the markers belongs to us. */
export interface BlockMarkers {
  begin: string
  end: string
}

export type BlockPlace =
  | { found: true; start: number; end: number }
  | { found: false; problem?: string | undefined }

/** Where the block stands, markers and the line end behind them included. */
export function findBlock(text: string, { begin, end }: BlockMarkers): BlockPlace {
  const first = lineOffset(text, begin, 0)
  const last = lineOffset(text, end, Math.max(first, 0))
  if (first < 0 && last < 0) return { found: false }
  if (first < 0 || last < 0) {
    const missing = first < 0 ? begin : end
    return { found: false, problem: `the marker ${missing} is missing` }
  }
  if (lineOffset(text, begin, first + 1) >= 0) {
    return { found: false, problem: `the marker ${begin} is there twice` }
  }
  const lineEnd = text.indexOf('\n', last)
  return { found: true, start: first, end: lineEnd < 0 ? text.length : lineEnd + 1 }
}

/**
 * Puts the block into a text: in its place where it is there already, else at the end behind a blank
 * line. The line ends are the text's own.
 *
 * @param content without markers; its lines end with `\n`
 * @throws nothing: `problem` says why a text is left as it is.
 */
export function writeBlock(
  text: string,
  content: string,
  markers: BlockMarkers,
): { text: string } | { problem: string } {
  const place = findBlock(text, markers)
  if (!place.found && place.problem !== undefined) return { problem: place.problem }
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  const lines = `${markers.begin}\n${content}${markers.end}\n`.replaceAll('\n', newline)
  if (place.found) return { text: text.slice(0, place.start) + lines + text.slice(place.end) }
  if (text === '') return { text: lines }
  return { text: `${text}${text.endsWith('\n') ? '' : newline}${newline}${lines}` }
}

/** The text without the block and without the blank line before it. */
export function removeBlock(text: string, markers: BlockMarkers): string {
  const place = findBlock(text, markers)
  if (!place.found) return text
  const before = text.slice(0, place.start).replace(/(\n)\r?\n$/, '$1')
  return before + text.slice(place.end)
}

function lineOffset(text: string, line: string, from: number): number {
  for (let at = text.indexOf(line, from); at >= 0; at = text.indexOf(line, at + 1)) {
    const starts = at === 0 || text[at - 1] === '\n'
    if (starts && /^(?:\r?\n|$)/.test(text.slice(at + line.length, at + line.length + 2))) return at
  }
  return -1
}
