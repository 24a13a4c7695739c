/**
 * A pattern as a tree, for the constructs that we read ourselves. Groups have no node: nothing asks
 * what a group captured. Characters are code points.
 */
export type PatternNode =
  | { kind: 'empty' }
  | { kind: 'literal'; text: string }
  /** Every character but a line feed. */
  | { kind: 'any' }
  | { kind: 'class'; negated: boolean; ranges: readonly CharacterRange[] }
  /** The beginning and the end of the line: patterns are tested on one line at a time. */
  | { kind: 'start' }
  | { kind: 'end' }
  | { kind: 'boundary'; negated: boolean }
  | { kind: 'concat'; items: readonly PatternNode[] }
  | { kind: 'alternate'; items: readonly PatternNode[] }
  /** `max` is Infinity for `*`, `+` and `{n,}`. Lazy or greedy makes no difference to a yes or no. */
  | { kind: 'repeat'; child: PatternNode; min: number; max: number; lazy: boolean }

/** First and last code point. */
export type CharacterRange = readonly [number, number]

export const emptyNode: PatternNode = { kind: 'empty' }

export function concat(items: readonly PatternNode[]): PatternNode {
  const flat: PatternNode[] = []
  for (const item of items) {
    for (const part of item.kind === 'concat' ? item.items : [item]) {
      const last = flat.at(-1)
      if (part.kind === 'empty') continue
      if (part.kind === 'literal' && last?.kind === 'literal') {
        flat[flat.length - 1] = { kind: 'literal', text: last.text + part.text }
      } else flat.push(part)
    }
  }
  const [only] = flat
  if (only === undefined) return emptyNode
  return flat.length === 1 ? only : { kind: 'concat', items: flat }
}

/** The parts of a sequence; a node that is none is a sequence of itself. */
export function sequenceOf(node: PatternNode): readonly PatternNode[] {
  if (node.kind === 'concat') return node.items
  return node.kind === 'empty' ? [] : [node]
}

/** `\d`, `\s` and `\w` as RE2 reads them: ASCII only, and `\s` without the vertical tab. */
export const escapeClasses: ReadonlyMap<string, readonly CharacterRange[]> = new Map([
  ['d', ranges('09')],
  ['s', ranges('\t\n\f\r  ')],
  ['w', ranges('09AZ__az')],
])

/** The names between `[:` and `:]`; `word` is an addition of RE2. */
export const posixClasses: ReadonlyMap<string, readonly CharacterRange[]> = new Map([
  ['alnum', ranges('09AZaz')],
  ['alpha', ranges('AZaz')],
  ['ascii', ranges('\0\x7f')],
  ['blank', ranges('\t\t  ')],
  ['cntrl', ranges('\0\x1f\x7f\x7f')],
  ['digit', ranges('09')],
  ['graph', ranges('!~')],
  ['lower', ranges('az')],
  ['print', ranges(' ~')],
  ['punct', ranges('!/:@[`{~')],
  ['space', ranges('\t\r  ')],
  ['upper', ranges('AZ')],
  ['word', ranges('09AZ__az')],
  ['xdigit', ranges('09AFaf')],
])

/** Reads pairs of characters, each the first and last of a range. */
function ranges(pairs: string): CharacterRange[] {
  return Array.from({ length: pairs.length / 2 }, (_, index): CharacterRange => [
    pairs.charCodeAt(2 * index),
    pairs.charCodeAt(2 * index + 1),
  ])
}

const lastCodePoint = 0x10ffff

/** Sorts and merges ranges, so that equal classes are equal lists. */
export function normalRanges(list: readonly CharacterRange[]): CharacterRange[] {
  const merged: [number, number][] = []
  for (const [low, high] of list.toSorted((a, b) => a[0] - b[0])) {
    const last = merged.at(-1)
    if (last !== undefined && low <= last[1] + 1) last[1] = Math.max(last[1], high)
    else merged.push([low, high])
  }
  return merged
}

export function invertRanges(list: readonly CharacterRange[]): CharacterRange[] {
  const inverted: CharacterRange[] = []
  let next = 0
  for (const [low, high] of normalRanges(list)) {
    if (low > next) inverted.push([next, low - 1])
    next = high + 1
  }
  if (next <= lastCodePoint) inverted.push([next, lastCodePoint])
  return inverted
}
