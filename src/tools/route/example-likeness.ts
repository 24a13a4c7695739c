import type { FieldIndex } from './field-index.ts'
import type { RouteExample } from './route.ts'
import { scoredWords } from './words.ts'

export interface PreparedExample {
  /** Position of the tool. */
  tool: number
  words: ReadonlySet<string>
  /** Rarity of all its words together. */
  mass: number
  weight: number
  wrong: boolean
  request: string
}

export function prepareExamples(
  examples: readonly RouteExample[],
  positions: ReadonlyMap<string, number>,
  index: FieldIndex,
): PreparedExample[] {
  const prepared: PreparedExample[] = []
  for (const { request, tool, weight = 1, wrong = false } of examples) {
    const position = positions.get(tool)
    const words = new Set(scoredWords(request))
    if (position === undefined || words.size === 0) continue
    prepared.push({ tool: position, words, mass: massOf(words, index), weight, wrong, request })
  }
  return prepared
}

/** How much of the rarity of both is common to both: 0 to 1. */
export function likeness(
  words: Iterable<string>,
  example: PreparedExample,
  index: FieldIndex,
): number {
  let common = 0
  let mass = 0
  for (const word of words) {
    const rarity = rarityOf(word, index)
    mass += rarity
    if (example.words.has(word)) common += rarity
  }
  const all = mass + example.mass - common
  return all <= 0 ? 0 : common / all
}

function massOf(words: Iterable<string>, index: FieldIndex): number {
  let mass = 0
  for (const word of words) mass += rarityOf(word, index)
  return mass
}

function rarityOf(word: string, index: FieldIndex): number {
  return index.rarity(index.find(word)?.documents.length ?? 0)
}
