/**
 * A line without what stands in backticks, and without those: a span ends at the next run of as many
 * as it begins with. A longer run may begin with its last ones, the most for which there is an end.
 */
export function withoutCodeSpans(line: string): string {
  if (!line.includes('`')) return line
  return line
    .split(/([\r\u2028\u2029])/)
    .map(withoutSpans)
    .join('')
}

interface Run {
  start: number
  end: number
}

function withoutSpans(text: string): string {
  const runs = Array.from(text.matchAll(/`+/g), ({ 0: { length }, index }) => ({
    start: index,
    end: index + length,
  }))
  const closings = new Map<number, Run[]>()
  for (const run of runs.toReversed()) {
    const same = closings.get(run.end - run.start)
    if (same === undefined) closings.set(run.end - run.start, [run])
    else same.push(run)
  }
  let [kept, from] = ['', 0]
  for (const run of runs) {
    if (run.start < from) continue
    const span = spanFrom(run, closings)
    if (span === undefined) continue
    kept += text.slice(from, span.start)
    from = span.end
  }
  return kept + text.slice(from)
}

/** Each list has its first run last; what lies before is dropped: nothing asks for it again. */
function spanFrom(run: Run, closings: ReadonlyMap<number, Run[]>): Run | undefined {
  for (let length = run.end - run.start; length > 0; length--) {
    const ends = closings.get(length) ?? []
    while ((ends.at(-1)?.start ?? run.end) < run.end) ends.pop()
    const end = ends.at(-1)
    if (end !== undefined) return { start: run.end - length, end: end.end }
  }
  return undefined
}
