import { compareText } from '../core/diagnostic.ts'

interface ScoredEntry {
  name: string
  description: string
}

/**
 * The entries that fit a request best, by BM25 over their words; a name counts three times. Only
 * those that share a word with the request, best first, ties by name.
 */
export function scoreSkills<Entry extends ScoredEntry>(
  query: string,
  entries: readonly Entry[],
  most: number,
): Entry[] {
  const documents = entries.map((entry) => ({
    entry,
    words: [
      ...Array.from({ length: 3 }, () => wordsOf(entry.name)).flat(),
      ...wordsOf(entry.description),
    ],
  }))
  const average = sum(documents.map(({ words }) => words.length)) / Math.max(1, documents.length)
  const wanted = [...new Set(wordsOf(query))]
  const weights = wanted.map((word) => {
    const having = documents.filter(({ words }) => words.includes(word)).length
    return Math.log(1 + (documents.length - having + 0.5) / (having + 0.5))
  })
  return documents
    .map(({ entry, words }) => ({
      entry,
      score: sum(
        wanted.map((word, index) => {
          const count = words.filter((other) => other === word).length
          const length = saturation * (1 - lengthWeight + (lengthWeight * words.length) / average)
          return ((weights[index] ?? 0) * count * (saturation + 1)) / (count + length)
        }),
      ),
    }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || compareText(a.entry.name, b.entry.name))
    .slice(0, most)
    .map(({ entry }) => entry)
}

/** The usual k1 and b. */
const saturation = 1.2
const lengthWeight = 0.75

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** Endings are cut so that `reviews`, `reviewing` and `review` are one word. */
function wordsOf(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? []
  return words.map((word) =>
    word.length > 4 ? word.replace(/(?:ing|ies|ed|es|s|e|y)$/, '') : word,
  )
}
