import { invertRanges, lastCodePoint, rangesMeet } from './pattern-classes.ts'
import { type CharacterRange, isOptional, type PatternNode, sequenceOf } from './pattern-tree.ts'

/**
 * Whether a backtracking engine provably needs time linear in the length of the line, whatever the
 * line is. The proof, for each alternative at the top:
 *
 * - Parts without an unbounded repetition cost at most a constant a place: the number of ways
 *   through them times their width, bounded by {@link mostWork}.
 * - An unbounded repetition of one character is tight when no character that can follow it is one
 *   that it repeats. Giving characters back then fails at once.
 * - A stretch that is tried at many places (a pattern without `^`, or what follows a repetition that
 *   is not tight) may hold only tight repetitions of characters that cannot begin the stretch: no
 *   two tries then walk over the same run, but for a constant.
 * - At most one repetition is not tight, and only behind `^`.
 *
 * Anything else is not proven, which is no proof of the contrary.
 */
export function isProvablyLinear(node: PatternNode): boolean {
  const branches = node.kind === 'alternate' ? node.items : [node]
  let work = 0
  for (const branch of branches) {
    const cost = branchWork(sequenceOf(branch))
    if (cost === undefined) return false
    work += cost
  }
  return work <= mostWork
}

/** Steps a place; 10 kB of the worst line then take some 10 million. */
const mostWork = 1000

function branchWork(items: readonly PatternNode[]): number | undefined {
  const isAnchored = items[0]?.kind === 'start'
  let ways = 1
  let width = 1
  // Where the stretch that is tried at many places begins; undefined while there is one place only.
  let floating = isAnchored ? undefined : 0
  for (const [index, item] of items.entries()) {
    if (item.kind === 'repeat' && item.max === Infinity) {
      const set = characterSet(item.child)
      if (set === undefined) return undefined
      width += item.min
      const isTight = tight(set, items, index + 1)
      if (floating !== undefined) {
        const begins = firstOf(items, floating)
        if (!isTight || begins === undefined || rangesMeet(begins, set)) return undefined
      } else if (!isTight) floating = index + 1
      continue
    }
    const size = measure(item)
    if (size === undefined) return undefined
    ways *= size.ways
    width += size.width
  }
  return ways * width
}

/** Ways through a part and its greatest width; undefined with an unbounded repetition inside. */
function measure(node: PatternNode): { ways: number; width: number } | undefined {
  switch (node.kind) {
    case 'empty':
    case 'start':
    case 'end':
    case 'boundary':
      return { ways: 1, width: 0 }
    case 'any':
    case 'class':
      return { ways: 1, width: 1 }
    case 'literal':
      return { ways: 1, width: node.text.length }
    case 'concat':
    case 'alternate': {
      const parts = node.items.map(measure)
      let ways = node.kind === 'concat' ? 1 : 0
      let width = 0
      for (const part of parts) {
        if (part === undefined) return undefined
        ways = node.kind === 'concat' ? ways * part.ways : ways + part.ways
        width = node.kind === 'concat' ? width + part.width : Math.max(width, part.width)
      }
      return { ways, width }
    }
    case 'repeat': {
      const part = measure(node.child)
      if (part === undefined || node.max === Infinity) return undefined
      let ways = 0
      for (let times = node.min; times <= node.max; times++) ways += part.ways ** times
      return { ways, width: part.width * node.max }
    }
  }
}

function tight(
  set: readonly CharacterRange[],
  items: readonly PatternNode[],
  from: number,
): boolean {
  if (from === items.length) return true
  const follows = firstOf(items, from)
  return follows !== undefined && !rangesMeet(follows, set)
}

/**
 * The characters that can come first in the rest of a sequence; undefined where that is not known
 * or where the rest can match nothing. At the end of the line nothing comes first.
 */
function firstOf(items: readonly PatternNode[], from: number): CharacterRange[] | undefined {
  const first: CharacterRange[] = []
  for (const item of items.slice(from)) {
    if (item.kind === 'end') return first
    const set = firstOfNode(item)
    if (set === undefined) return undefined
    first.push(...set)
    if (!isOptional(item)) return first
  }
  return undefined
}

function firstOfNode(node: PatternNode): readonly CharacterRange[] | undefined {
  switch (node.kind) {
    case 'any':
    case 'class':
      return characterSet(node)
    case 'literal': {
      const code = node.text.codePointAt(0) ?? 0
      return [[code, code]]
    }
    case 'concat':
      return isOptional(node) ? undefined : firstOf(node.items, 0)
    case 'alternate': {
      const sets = node.items.map(firstOfNode)
      return sets.every((set) => set !== undefined) ? sets.flat() : undefined
    }
    case 'repeat':
      return isOptional(node.child) ? undefined : firstOfNode(node.child)
    case 'empty':
    case 'start':
    case 'end':
    case 'boundary':
      return undefined
  }
}

/** The characters of a node that matches exactly one of them. */
function characterSet(node: PatternNode): readonly CharacterRange[] | undefined {
  if (node.kind === 'any') return [[0, lastCodePoint]]
  if (node.kind === 'class') return node.negated ? invertRanges(node.ranges) : node.ranges
  if (node.kind !== 'literal') return undefined
  const code = node.text.codePointAt(0) ?? 0
  return node.text.length === String.fromCodePoint(code).length ? [[code, code]] : undefined
}
