import type { GatheredWords, Occurrences, WordTable } from './word-table.ts'
import { stemmed } from './words.ts'

/**
 * Words as they are kept in a file: by scored form, a text for each word of that form, with its
 * places between commas and, where not all are 1, its counts behind `*`.
 */
export type KeptWords = Readonly<Record<string, readonly string[]>>

export function keptWords({ written }: GatheredWords): KeptWords {
  const byStem = new Map<string, string[]>()
  for (const [word, found] of [...written.values()].flat()) {
    const stem = stemmed(word)
    const others = byStem.get(stem)
    if (others === undefined) byStem.set(stem, [placesText(found)])
    else others.push(placesText(found))
  }
  return Object.fromEntries(byStem)
}

/** The table that {@link keptWords} wrote; only what is asked for is read. Never throws. */
export function readKeptWords(words: unknown, size: number, lengths: Float64Array): WordTable {
  const byStem: object = typeof words === 'object' && words !== null ? words : {}
  return {
    size,
    lengths,
    forms(word) {
      const texts: unknown = Object.hasOwn(byStem, word) ? Reflect.get(byStem, word) : []
      if (!Array.isArray(texts)) return []
      return texts.map((text: unknown) => readPlaces(String(text), lengths.length))
    },
  }
}

function placesText({ places, counts }: Occurrences): string {
  const all = places.join(',')
  return counts.every((count) => count === 1) ? all : `${all}*${counts.join(',')}`
}

function readPlaces(text: string, end: number): Occurrences {
  const star = text.indexOf('*')
  const places = readNumbers(star < 0 ? text : text.slice(0, star))
  const counts = star < 0 ? places.map(() => 1) : readNumbers(text.slice(star + 1))
  const last = places.at(-1) ?? 0
  return counts.length === places.length && last < end ? { places, counts } : none
}

const none: Occurrences = { places: [], counts: [] }

function readNumbers(text: string): number[] {
  try {
    const numbers: unknown = JSON.parse(`[${text}]`)
    return Array.isArray(numbers) ? numbers : []
  } catch {
    return []
  }
}
