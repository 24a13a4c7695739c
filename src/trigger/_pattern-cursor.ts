import { type Construct, portabilityNote, type PortabilityNote } from './portability.ts'

export interface PatternCursor {
  readonly source: string
  at: number
  readonly notes: PortabilityNote[]
}

/** The rest of the pattern is left to the RE2 library. */
export class ForeignConstruct extends Error {}

export function note(
  cursor: PatternCursor,
  construct: Construct,
  start: number,
  rewrite?: string,
): void {
  cursor.notes.push(portabilityNote(construct, cursor.source, start, cursor.at, rewrite))
}
