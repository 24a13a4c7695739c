import { isLookingVerb } from './related-groups.ts'
import type { FieldWeight } from './weights.ts'
import type { Occurrences, WordTable } from './word-table.ts'

/** Where a word occurs: positions of documents, ascending, and how much it counts in each. */
export interface Postings {
  documents: readonly number[]
  weights: readonly number[]
}

/** An inverted index over documents of several fields (BM25F: Robertson and others, 2004). */
export interface FieldIndex {
  size: number
  /** By a word's scored form. */
  find(word: string): Postings | undefined
  /** How many documents have the word, without their weights being computed. */
  count(word: string): number
  /** How rare a word is that so many documents have. */
  rarity(documents: number): number
  /** How much each field of a document contributes to a word's weight, in the order of the fields. */
  shares(document: number, word: string): number[]
}

/**
 * An index over tables of words of the same documents: what is known of the documents, and what was
 * added to it.
 */
export function indexFields(
  tables: readonly WordTable[],
  fields: readonly FieldWeight[],
): FieldIndex {
  const width = fields.length
  const size = tables[0]?.size ?? 0
  const lengths = sumOfLengths(tables)
  const averages = fields.map((_, field) => averageLength(lengths, width, field))
  const share = (place: number, count: number, isLooking: boolean): number => {
    const field = place % width
    const { weight = 0, dilution = 0, lookingVerb = 1 } = fields[field] ?? {}
    const length = lengths[place] ?? 0
    const part = isLooking ? lookingVerb : 1
    return (part * weight * count) / (1 - dilution + (dilution * length) / (averages[field] ?? 1))
  }
  const formsOf = (word: string): readonly Occurrences[] =>
    tables.flatMap((table) => table.forms(word))
  const known = new Map<string, Postings | undefined>()
  return {
    size,
    find(word) {
      if (known.has(word)) return known.get(word)
      const isLooking = isLookingVerb(word)
      const found = join(formsOf(word), width, (place, count) => share(place, count, isLooking))
      if (known.size >= mostKnown) known.clear()
      known.set(word, found)
      return found
    },
    count(word) {
      const forms = formsOf(word)
      if (known.has(word) || forms.length > 1) return this.find(word)?.documents.length ?? 0
      let count = 0
      let last = -1
      for (const place of forms[0]?.places ?? []) {
        const document = Math.floor(place / width)
        if (document !== last) count += 1
        last = document
      }
      return count
    },
    rarity: (found) => Math.log(1 + (size - found + 0.5) / (found + 0.5)),
    shares(document, word) {
      const isLooking = isLookingVerb(word)
      const shares = fields.map(() => 0)
      for (const form of formsOf(word)) {
        form.places.forEach((place, at) => {
          if (Math.floor(place / width) !== document) return
          const field = place % width
          shares[field] = (shares[field] ?? 0) + share(place, form.counts[at] ?? 0, isLooking)
        })
      }
      return shares
    },
  }
}

const mostKnown = 20_000

function sumOfLengths(tables: readonly WordTable[]): Float64Array {
  const [first, ...others] = tables.map(({ lengths }) => lengths)
  if (first === undefined || others.length === 0) return first ?? new Float64Array()
  return first.map((length, at) => others.reduce((sum, other) => sum + (other[at] ?? 0), length))
}

function join(
  forms: readonly Occurrences[],
  width: number,
  share: (place: number, count: number) => number,
): Postings | undefined {
  const [only, ...others] = forms
  if (only === undefined) return undefined
  if (others.length === 0) return joinOne(only, width, share)
  const weights = new Map<number, number>()
  for (const { places, counts } of forms) {
    places.forEach((place, at) => {
      const document = Math.floor(place / width)
      weights.set(document, (weights.get(document) ?? 0) + share(place, counts[at] ?? 0))
    })
  }
  if (weights.size === 0) return undefined
  const documents = [...weights.keys()].toSorted((a, b) => a - b)
  return { documents, weights: documents.map((document) => weights.get(document) ?? 0) }
}

/** The same sums without the search for what is the same document: places ascend. */
function joinOne(
  { places, counts }: Occurrences,
  width: number,
  share: (place: number, count: number) => number,
): Postings {
  const documents: number[] = []
  const weights: number[] = []
  let last = -1
  for (let at = 0; at < places.length; at++) {
    const place = places[at] ?? 0
    const document = Math.floor(place / width)
    const weight = share(place, counts[at] ?? 0)
    if (document === last) weights.push((weights.pop() ?? 0) + weight)
    else {
      documents.push(document)
      weights.push(weight)
      last = document
    }
  }
  return { documents, weights }
}

/** Over the documents that have the field. */
function averageLength(lengths: Float64Array, width: number, field: number): number {
  let sum = 0
  let having = 0
  for (let place = field; place < lengths.length; place += width) {
    const length = lengths[place] ?? 0
    sum += length
    if (length > 0) having += 1
  }
  return having === 0 ? 1 : sum / having
}
