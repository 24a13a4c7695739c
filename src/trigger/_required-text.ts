import { type PatternNode, sequenceOf } from './pattern-tree.ts'

/** Clauses that all hold for every line that matches; one text of each clause is in the line. */
export type RequiredText = readonly (readonly string[])[]

const mostClauses = 3
const mostTexts = 16

/** What a line must contain before it is worth looking at; empty where nothing is known. */
export function requiredText(node: PatternNode): RequiredText {
  return clausesOf(node)
    .toSorted((a, b) => shortest(b) - shortest(a))
    .slice(0, mostClauses)
}

function clausesOf(node: PatternNode): string[][] {
  switch (node.kind) {
    case 'literal':
      return [[node.text]]
    case 'concat':
      return sequenceOf(node).flatMap(clausesOf)
    case 'repeat':
      return node.min > 0 ? clausesOf(node.child) : []
    case 'alternate': {
      const texts: string[] = []
      for (const branch of node.items) {
        const [best] = clausesOf(branch).toSorted((a, b) => shortest(b) - shortest(a))
        if (best === undefined) return []
        texts.push(...best)
      }
      return texts.length <= mostTexts ? [texts] : []
    }
    case 'empty':
    case 'any':
    case 'class':
    case 'start':
    case 'end':
    case 'boundary':
      return []
  }
}

function shortest(texts: readonly string[]): number {
  return Math.min(...texts.map((text) => text.length))
}
