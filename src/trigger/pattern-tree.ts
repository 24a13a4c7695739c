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

/** Whether the node matches the empty text at every place, assertions not counted. */
export function isOptional(node: PatternNode): boolean {
  switch (node.kind) {
    case 'empty':
      return true
    case 'concat':
      return node.items.every(isOptional)
    case 'alternate':
      return node.items.some(isOptional)
    case 'repeat':
      return node.min === 0 || isOptional(node.child)
    case 'literal':
    case 'any':
    case 'class':
    case 'start':
    case 'end':
    case 'boundary':
      return false
  }
}
