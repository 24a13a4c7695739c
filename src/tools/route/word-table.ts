import { contentWords, stemmed } from './words.ts'

/** Where a word occurs as it is written: document times fields plus field, and how often there. */
export interface Occurrences {
  /** Ascending. */
  places: readonly number[]
  counts: readonly number[]
}

/** The words of documents of several fields. */
export interface WordTable {
  /** Number of documents. */
  size: number
  /** Words of each place. */
  lengths: Float64Array
  /** Where the words are whose scored form is this one, in the order of their first place. */
  forms(word: string): readonly Occurrences[]
}

/** The same with every word as it is written, by its beginning. */
export interface GatheredWords extends WordTable {
  written: ReadonlyMap<string, readonly (readonly [word: string, found: Occurrences])[]>
}

/** A text and how much it counts (default 1). */
export interface FieldText {
  text: string
  weight?: number | undefined
}

/**
 * `documents[d][f]` are the texts of field `f` of document `d`, at most `width` fields in each.
 * Words are stemmed when they are first asked for: a command that routes one request needs few.
 */
export function gatherWords(
  documents: readonly (readonly (readonly FieldText[])[])[],
  width: number,
): GatheredWords {
  const lengths = new Float64Array(documents.length * width)
  const written = new Map<string, { places: number[]; counts: number[] }>()
  const byStart = new Map<string, [string, Occurrences][]>()
  documents.forEach((document, position) => {
    document.forEach((texts, field) => {
      for (const { text, weight = 1 } of texts) {
        const words = contentWords(text)
        const place = position * width + field
        lengths[place] = (lengths[place] ?? 0) + words.length * weight
        for (const word of words) {
          let known = written.get(word)
          if (known === undefined) {
            known = { places: [], counts: [] }
            written.set(word, known)
            const others = byStart.get(startOf(word))
            if (others === undefined) byStart.set(startOf(word), [[word, known]])
            else others.push([word, known])
          }
          const last = known.places.length - 1
          if (known.places[last] === place) known.counts[last] = (known.counts[last] ?? 0) + weight
          else {
            known.places.push(place)
            known.counts.push(weight)
          }
        }
      }
    })
  })
  const byStem = new Map<string, Occurrences[]>()
  const stemmedStarts = new Set<string>()
  return {
    size: documents.length,
    lengths,
    written: byStart,
    forms(word) {
      const start = startOf(word)
      if (!stemmedStarts.has(start)) {
        stemmedStarts.add(start)
        for (const [candidate, found] of byStart.get(start) ?? []) {
          const stem = stemmed(candidate)
          const others = byStem.get(stem)
          if (others === undefined) byStem.set(stem, [found])
          else others.push(found)
        }
      }
      return byStem.get(word) ?? []
    },
  }
}

/** What a stem and its word begin with alike. */
export function startOf(word: string): string {
  return word.slice(0, 3)
}
