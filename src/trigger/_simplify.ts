import { concat, isOptional, type PatternNode, sequenceOf } from './pattern-tree.ts'

/**
 * A pattern that finds something in exactly the same lines, without what never decides: optional
 * parts at the edges (`.*foo( bar)*` becomes `foo`). What it finds may be shorter.
 */
export function simplifyEdges(node: PatternNode): PatternNode {
  if (node.kind === 'alternate') return { ...node, items: node.items.map(simplifyEdges) }
  const items = [...sequenceOf(node)]
  trim(items, 'last')
  trim(items, 'first')
  return concat(items)
}

function trim(items: PatternNode[], edge: 'first' | 'last'): void {
  for (;;) {
    const node = items.at(edge === 'first' ? 0 : -1)
    if (node === undefined) return
    const shorter = shorten(node)
    if (shorter === undefined) return
    const place = edge === 'first' ? 0 : items.length - 1
    items.splice(place, 1, ...shorter)
    if (shorter.length > 0) return
  }
}

/** The parts of the node that must be there; undefined where nothing can be left out. */
function shorten(node: PatternNode): readonly PatternNode[] | undefined {
  if (isOptional(node) && !hasAssertion(node)) return []
  if (node.kind !== 'repeat' || hasAssertion(node.child)) return undefined
  return node.min === 1 ? [node.child] : [{ ...node, max: node.min }]
}

function hasAssertion(node: PatternNode): boolean {
  if (node.kind === 'repeat') return hasAssertion(node.child)
  if (node.kind === 'concat' || node.kind === 'alternate') return node.items.some(hasAssertion)
  return node.kind === 'start' || node.kind === 'end' || node.kind === 'boundary'
}
