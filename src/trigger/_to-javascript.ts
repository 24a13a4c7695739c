import type { CharacterRange, PatternNode } from './pattern-tree.ts'

/**
 * The source of a JavaScript expression, for the flag `u`, that matches in one line exactly what the
 * tree does. Every set is spelled out, so that nothing depends on what JavaScript calls a space or
 * the end of a line.
 */
export function toJavaScript(node: PatternNode): string {
  switch (node.kind) {
    case 'empty':
      return '(?:)'
    case 'literal':
      return Array.from(node.text, escape).join('')
    case 'any':
      return '[^\\n]'
    case 'class':
      return `[${node.negated ? '^' : ''}${node.ranges.map(range).join('')}]`
    case 'start':
      return '^'
    case 'end':
      return '$'
    case 'boundary':
      return node.negated ? '\\B' : '\\b'
    case 'concat':
      return node.items.map((item) => atom(item, item.kind === 'alternate')).join('')
    case 'alternate':
      return node.items.map(toJavaScript).join('|')
    case 'repeat':
      return `${atom(node.child, !isSingle(node.child))}${times(node)}${node.lazy ? '?' : ''}`
  }
}

function atom(node: PatternNode, needsGroup: boolean): string {
  return needsGroup ? `(?:${toJavaScript(node)})` : toJavaScript(node)
}

function isSingle(node: PatternNode): boolean {
  if (node.kind === 'literal') return Array.from(node.text).length === 1
  return node.kind === 'any' || node.kind === 'class'
}

function times({ min, max }: { min: number; max: number }): string {
  if (max === Infinity) return min === 0 ? '*' : min === 1 ? '+' : `{${min},}`
  if (min === 0 && max === 1) return '?'
  return min === max ? `{${min}}` : `{${min},${max}}`
}

function range([low, high]: CharacterRange): string {
  return low === high ? code(low) : `${code(low)}-${code(high)}`
}

function code(point: number): string {
  return `\\u{${point.toString(16)}}`
}

function escape(character: string): string {
  return /[\\^$.*+?()[\]{}|/]/.test(character) ? `\\${character}` : character
}
