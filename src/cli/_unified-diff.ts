import { safeLine } from '../base/index.ts'

/**
 * A unified diff of two texts with three lines of context; empty where they are the same. A path is
 * one line of it, whatever characters the name of a file has.
 */
export function unifiedDiff(path: string, before: string, after: string): string {
  if (before === after) return ''
  const edits = lineEdits(splitLines(before), splitLines(after))
  const shown = safeLine(path.replaceAll('\\', '/').replace(/^\/+/, ''))
  return [`--- a/${shown}`, `+++ b/${shown}`, ...hunks(edits)].join('\n')
}

type Edit = { mark: ' ' | '-' | '+'; line: string }

const context = 3
/** Beyond this many pairs of lines the changed middle is shown as one block. */
const largestTable = 4_000_000

/** Lines with their ends made visible, so that a change of the ends is a change of the line. */
function splitLines(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  else lines[lines.length - 1] += '\n\\ No newline at end of file'
  return lines
}

function lineEdits(before: readonly string[], after: readonly string[]): Edit[] {
  let start = 0
  while (start < Math.min(before.length, after.length) && before[start] === after[start]) start++
  let tail = 0
  const most = Math.min(before.length, after.length) - start
  while (tail < most && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  const middle = middleEdits(
    before.slice(start, before.length - tail),
    after.slice(start, after.length - tail),
  )
  return [...same(before.slice(0, start)), ...middle, ...same(before.slice(before.length - tail))]
}

function same(lines: readonly string[]): Edit[] {
  return lines.map((line) => ({ mark: ' ', line }))
}

/** The longest common subsequence, by table. */
function middleEdits(before: readonly string[], after: readonly string[]): Edit[] {
  const width = after.length + 1
  const table = new Uint32Array(
    (before.length + 1) * width <= largestTable ? (before.length + 1) * width : 0,
  )
  const at = (row: number, column: number): number => table[row * width + column] ?? 0
  if (table.length > 0) {
    for (let row = before.length - 1; row >= 0; row--) {
      for (let column = after.length - 1; column >= 0; column--) {
        table[row * width + column] =
          before[row] === after[column]
            ? at(row + 1, column + 1) + 1
            : Math.max(at(row + 1, column), at(row, column + 1))
      }
    }
  }
  const edits: Edit[] = []
  let row = 0
  let column = 0
  while (row < before.length || column < after.length) {
    const [old, fresh] = [before[row], after[column]]
    if (old !== undefined && old === fresh && table.length > 0) {
      edits.push({ mark: ' ', line: old })
      row++
      column++
    } else if (
      old !== undefined &&
      (fresh === undefined || at(row + 1, column) >= at(row, column + 1))
    ) {
      edits.push({ mark: '-', line: old })
      row++
    } else {
      edits.push({ mark: '+', line: fresh ?? '' })
      column++
    }
  }
  return edits
}

function hunks(edits: readonly Edit[]): string[] {
  const output: string[] = []
  let old = 1
  let fresh = 1
  for (let index = 0; index < edits.length;) {
    const changed = edits.findIndex((edit, at) => at >= index && edit.mark !== ' ')
    if (changed < 0) break
    const start = Math.max(index, changed - context)
    old += start - index
    fresh += start - index
    const end = endOfHunk(edits, changed)
    const hunk = edits.slice(start, end)
    const olds = hunk.filter((edit) => edit.mark !== '+').length
    const freshes = hunk.filter((edit) => edit.mark !== '-').length
    output.push(`@@ -${old},${olds} +${fresh},${freshes} @@`)
    for (const { mark, line } of hunk) output.push(mark + line)
    old += olds
    fresh += freshes
    index = end
  }
  return output
}

/** Changes nearer than two contexts share a hunk. */
function endOfHunk(edits: readonly Edit[], changed: number): number {
  let last = changed
  for (let index = changed; index < edits.length && index - last <= context * 2; index++) {
    if (edits[index]?.mark !== ' ') last = index
  }
  return Math.min(edits.length, last + 1 + context)
}
