import type { Position } from '../_finding.ts'

/** The line and column of an offset, both from 1. */
export type PositionOf = (offset: number) => Position

export function positionsIn(source: string, firstLine: number): PositionOf {
  const starts = [0]
  for (let at = source.indexOf('\n'); at !== -1; at = source.indexOf('\n', at + 1)) {
    starts.push(at + 1)
  }
  return (offset) => {
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return { line: firstLine + low, column: offset - (starts[low] ?? 0) + 1 }
  }
}
