import { toJavaScript } from './_to-javascript.ts'
import { plainText } from './_plain-text.ts'
import { compilePattern, longestPattern } from './pattern.ts'
import { parsePattern } from './parse-pattern.ts'
import type { PatternNode } from './pattern-tree.ts'
import { foldLetters } from './_fold-letters.ts'
import type { PortabilityNote } from './portability.ts'

/**
 * The pattern in the portable subset, with the same meaning; undefined where it is portable already
 * or has no portable spelling that is accepted. The meaning is compared, not assumed.
 */
export function portableRewrite(source: string): string | undefined {
  if (source.length > longestPattern) return undefined // refused, however it is written
  const rewritten = rewriteOf(source)
  // It is longer, and may be longer than a pattern may be.
  return rewritten !== undefined && compilePattern(rewritten).ok ? rewritten : undefined
}

function rewriteOf(source: string): string | undefined {
  const folded = foldLetters(source)
  const from = folded ?? source
  const parsed = parsePattern(from)
  if (!parsed.ok || parsed.tree === undefined) return undefined
  const { notes } = parsed
  if (notes.length === 0) return folded
  if (notes.some(({ rewrite }) => rewrite === undefined)) return undefined
  const rewritten = applyRewrites(from, notes)
  const after = parsePattern(rewritten)
  if (!after.ok || after.notes.length > 0 || after.tree === undefined) return undefined
  return sameMeaning(parsed.tree, after.tree) ? rewritten : undefined
}

export function isPortable(source: string): boolean {
  if (plainText(source) !== undefined) return true
  if (source.length > longestPattern) return false
  const parsed = parsePattern(source)
  return parsed.ok && parsed.tree !== undefined && parsed.notes.length === 0
}

function applyRewrites(source: string, notes: readonly PortabilityNote[]): string {
  let text = source
  for (const { start, end, rewrite = '' } of notes.toSorted((a, b) => b.start - a.start)) {
    text = text.slice(0, start) + rewrite + text.slice(end)
  }
  return text
}

/** Lazy and greedy find the same lines. */
function sameMeaning(a: PatternNode, b: PatternNode): boolean {
  return toJavaScript(greedy(a)) === toJavaScript(greedy(b))
}

function greedy(node: PatternNode): PatternNode {
  if (node.kind === 'repeat') return { ...node, lazy: false, child: greedy(node.child) }
  if (node.kind === 'concat' || node.kind === 'alternate') {
    return { ...node, items: node.items.map(greedy) }
  }
  // One character in brackets is the character.
  const [range, second] = node.kind === 'class' && !node.negated ? node.ranges : []
  if (range === undefined || second !== undefined || range[0] !== range[1]) return node
  return { kind: 'literal', text: String.fromCodePoint(range[0]) }
}
