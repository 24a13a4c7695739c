import type { PatternNode } from './pattern-tree.ts'

/**
 * Whether a repetition may repeat the empty text, `(|a)?` say. JavaScript goes back where it does,
 * RE2 does not: they agree about which lines match, but not about the text that is found.
 */
export function repeatsNothing(node: PatternNode): boolean {
  if (node.kind === 'repeat') return mayBeNothing(node.child) || repeatsNothing(node.child)
  return (node.kind === 'concat' || node.kind === 'alternate') && node.items.some(repeatsNothing)
}

/** Whether the node matches the empty text at some place. */
function mayBeNothing(node: PatternNode): boolean {
  if (node.kind === 'concat') return node.items.every(mayBeNothing)
  if (node.kind === 'alternate') return node.items.some(mayBeNothing)
  if (node.kind === 'repeat') return node.min === 0 || mayBeNothing(node.child)
  return node.kind !== 'literal' && node.kind !== 'any' && node.kind !== 'class'
}
