const shownLines = 400
const contextLines = 3
/** Above this many pairs of lines, what lies between the first and the last change is one change. */
const pairLimit = 1_000_000

/**
 * What changes from one text to another, for a person: lines with `-`, `+` and a few around them.
 * Empty for equal texts.
 */
export function lineDiff(before: string, after: string): string {
  const [old, now] = [linesOf(before), linesOf(after)]
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start++
  let end = 0
  while (
    end < old.length - start &&
    end < now.length - start &&
    old[old.length - 1 - end] === now[now.length - 1 - end]
  ) {
    end++
  }
  const middle = changes(old.slice(start, old.length - end), now.slice(start, now.length - end))
  if (middle.length === 0) return before === after ? '' : '(only the end of the last line changes)'
  const first = Math.max(0, start - contextLines)
  const lines = [
    `@@ line ${start + 1} @@`,
    ...old.slice(first, start).map((line) => ` ${line}`),
    ...middle,
    ...old.slice(old.length - end, old.length - end + contextLines).map((line) => ` ${line}`),
  ]
  if (lines.length <= shownLines) return lines.join('\n')
  return [...lines.slice(0, shownLines), `… ${lines.length - shownLines} more lines …`].join('\n')
}

function linesOf(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** By the longest common subsequence of the lines. */
function changes(old: readonly string[], now: readonly string[]): string[] {
  if (old.length * now.length > pairLimit) {
    return [...old.map((line) => `-${line}`), ...now.map((line) => `+${line}`)]
  }
  const width = now.length + 1
  const common = new Uint32Array((old.length + 1) * width)
  const at = (i: number, j: number): number => common[i * width + j] ?? 0
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      common[i * width + j] =
        old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const lines: string[] = []
  let [i, j] = [0, 0]
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push(` ${old[i]}`)
      i++
      j++
    } else if (j >= now.length || (i < old.length && at(i + 1, j) >= at(i, j + 1))) {
      lines.push(`-${old[i++]}`)
    } else lines.push(`+${now[j++]}`)
  }
  return lines
}
