import type { CharacterRange } from './pattern-tree.ts'

/** The highest code point. */
export const lastCodePoint = 0x10ffff

const digit: readonly CharacterRange[] = [[0x30, 0x39]]
const upper: readonly CharacterRange[] = [[0x41, 0x5a]]
const lower: readonly CharacterRange[] = [[0x61, 0x7a]]
const alpha: readonly CharacterRange[] = [...upper, ...lower]
const alnum: readonly CharacterRange[] = [...digit, ...alpha]
const word: readonly CharacterRange[] = [...digit, ...upper, [0x5f, 0x5f], ...lower]

/** `\d`, `\s`, `\w` as RE2 has them: ASCII only. `\s` has no vertical tab. */
export const escapeClasses: ReadonlyMap<string, readonly CharacterRange[]> = new Map([
  ['d', digit],
  [
    's',
    [
      [0x09, 0x0a],
      [0x0c, 0x0d],
      [0x20, 0x20],
    ],
  ],
  ['w', word],
])

/** What stands between `[:` and `:]`; `word` is RE2's own. */
export const posixClasses: ReadonlyMap<string, readonly CharacterRange[]> = new Map([
  ['alnum', alnum],
  ['alpha', alpha],
  ['ascii', [[0, 0x7f]]],
  [
    'blank',
    [
      [0x09, 0x09],
      [0x20, 0x20],
    ],
  ],
  [
    'cntrl',
    [
      [0, 0x1f],
      [0x7f, 0x7f],
    ],
  ],
  ['digit', digit],
  ['graph', [[0x21, 0x7e]]],
  ['lower', lower],
  ['print', [[0x20, 0x7e]]],
  [
    'punct',
    [
      [0x21, 0x2f],
      [0x3a, 0x40],
      [0x5b, 0x60],
      [0x7b, 0x7e],
    ],
  ],
  [
    'space',
    [
      [0x09, 0x0d],
      [0x20, 0x20],
    ],
  ],
  ['upper', upper],
  ['word', word],
  [
    'xdigit',
    [
      [0x30, 0x39],
      [0x41, 0x46],
      [0x61, 0x66],
    ],
  ],
])

/** Sorted and merged, so that equal classes are equal lists. */
export function normalRanges(ranges: readonly CharacterRange[]): CharacterRange[] {
  const merged: [number, number][] = []
  for (const [low, high] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const last = merged.at(-1)
    if (last !== undefined && low <= last[1] + 1) last[1] = Math.max(last[1], high)
    else merged.push([low, high])
  }
  return merged
}

export function invertRanges(ranges: readonly CharacterRange[]): CharacterRange[] {
  const inverted: CharacterRange[] = []
  let next = 0
  for (const [low, high] of normalRanges(ranges)) {
    if (low > next) inverted.push([next, low - 1])
    next = high + 1
  }
  if (next <= lastCodePoint) inverted.push([next, lastCodePoint])
  return inverted
}

export function rangesMeet(a: readonly CharacterRange[], b: readonly CharacterRange[]): boolean {
  return a.some(([low, high]) => b.some((other) => low <= other[1] && other[0] <= high))
}
