import { compareText } from '../../core/diagnostic.ts'

export interface SimilarWord {
  word: string
  /** 0 to 1. */
  likeness: number
}

/** Finds the words of a vocabulary that are spelled like a given one: typing errors, word parts. */
export function spellingIndex(
  vocabulary: Iterable<string>,
): (word: string, least: number) => SimilarWord[] {
  const words = [...vocabulary].filter((word) => word.length >= shortest)
  const byTrigram = new Map<string, number[]>()
  const sizes: number[] = []
  words.forEach((word, position) => {
    const parts = trigrams(word)
    sizes.push(parts.size)
    for (const part of parts) {
      const known = byTrigram.get(part)
      if (known === undefined) byTrigram.set(part, [position])
      else known.push(position)
    }
  })
  return (word, least) => {
    if (word.length < shortest) return []
    const parts = trigrams(word)
    const common = new Map<number, number>()
    for (const part of parts) {
      for (const position of byTrigram.get(part) ?? []) {
        common.set(position, (common.get(position) ?? 0) + 1)
      }
    }
    const similar: SimilarWord[] = []
    for (const [position, count] of common) {
      const likeness = (2 * count) / (parts.size + (sizes[position] ?? 0))
      if (likeness >= least) similar.push({ word: words[position] ?? '', likeness })
    }
    return similar.toSorted((a, b) => b.likeness - a.likeness || compareText(a.word, b.word))
  }
}

/** Three letters say nothing about a shorter word. */
const shortest = 4

function trigrams(word: string): Set<string> {
  const padded = `^${word}$`
  const parts = new Set<string>()
  for (let at = 0; at + 3 <= padded.length; at++) parts.add(padded.slice(at, at + 3))
  return parts
}
