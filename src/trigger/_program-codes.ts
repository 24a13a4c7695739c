/** Operations of a program of the RE2 library; those from `character` on read one. */
export const operation = {
  either: 1,
  eitherMatch: 2,
  capture: 3,
  assert: 4,
  match: 6,
  nop: 7,
  character: 8,
} as const

/** Flags of an assertion; a line is the whole text. */
const assertion = { start: 1 | 4, end: 2 | 8, boundary: 16, noBoundary: 32 } as const

/** Which assertions hold between two characters; -1 is the edge of the line. */
export function assertionsAt(before: number, after: number): number {
  const edges = (before < 0 ? assertion.start : 0) | (after < 0 ? assertion.end : 0)
  return edges | (isWord(before) === isWord(after) ? assertion.noBoundary : assertion.boundary)
}

function isWord(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x30 && code <= 0x39) ||
    code === 0x5f
  )
}
