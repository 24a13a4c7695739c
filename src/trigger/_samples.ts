import { parsePattern } from './parse-pattern.ts'
import { invertRanges } from './pattern-classes.ts'
import type { PatternNode } from './pattern-tree.ts'

/** A short line that a pattern matches, if one can be made from its parts; undefined otherwise. */
export function sampleLine(source: string): string | undefined {
  const parsed = parsePattern(source)
  if (!parsed.ok || parsed.tree === undefined) return undefined
  const sample = sampleOf(parsed.tree)
  return sample.length > 4000 ? undefined : sample
}

function sampleOf(node: PatternNode): string {
  switch (node.kind) {
    case 'literal':
      return node.text
    case 'any':
      return 'x'
    case 'class': {
      const ranges = node.negated ? invertRanges(node.ranges) : node.ranges
      // A visible character where there is one.
      const [low = 0x78] = ranges.find(([, high]) => high >= 0x20) ?? ranges[0] ?? []
      return String.fromCodePoint(Math.max(low, 0x20))
    }
    case 'concat':
      return node.items.map(sampleOf).join('')
    case 'alternate':
      return node.items[0] === undefined ? '' : sampleOf(node.items[0])
    case 'repeat':
      return sampleOf(node.child).repeat(Math.min(node.min, 1000))
    case 'empty':
    case 'start':
    case 'end':
    case 'boundary':
      return ''
  }
}
