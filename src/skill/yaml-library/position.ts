import { placesIn } from '../../base/index.ts'
import type { Position } from '../_finding.ts'

/** The line and column of an offset, both from 1. */
export type PositionOf = (offset: number) => Position

export function positionsIn(source: string, firstLine: number): PositionOf {
  const placeOf = placesIn(source)
  return (offset) => {
    const { line, column } = placeOf(offset)
    return { line: firstLine - 1 + line, column }
  }
}
