import type { RankDocument } from './ranker.ts'
import { addTo, plainWords, stemOf, termsOf, wordsOf } from './words.ts'

/** How alike a sentence is to the examples of a document. */
export interface Likeness {
  /** Likeness to what means the document: its own sentences with its examples, and the nearest. */
  score: number
  /** The part of its score that examples which do not mean it take away, 0 to 1. */
  wrong: number
  /** The example that is most alike; empty where it has none. */
  example: string
  /** How alike that one is, 0 to 1. */
  closest: number
}

const weights = {
  /** Likeness to the centre of all that means a document, where every document has examples. */
  centre: 10,
  /** Likeness to its nearest examples. */
  nearest: 8,
  neighbours: 3,
  pair: 0.3,
  wrong: 0.8,
} as const

/** From so many examples on a document counts as taught. */
const enoughExamples = 4

type Vector = ReadonlyMap<string, number>

/** Prepares the likeness of sentences to documents, by their place. */
export function prepareLikeness(
  documents: readonly RankDocument[],
): (sentence: string) => ReadonlyMap<number, Likeness> {
  const taught = documents.reduce(
    (sum, { examples = [] }) => sum + Math.min(1, examples.length / enoughExamples),
    0,
  )
  if (taught === 0) return () => new Map()
  const texts = documents.map(({ fields, examples = [] }) => ({
    own: allTerms(fields.map(({ text }) => text).join('\n')),
    examples: examples.map((example) => ({ ...example, terms: allTerms(example.text) })),
  }))
  const holders = new Map<string, number[]>()
  for (const [at, { own, examples }] of texts.entries()) {
    const terms = new Set([...own, ...examples.flatMap((example) => [...example.terms])])
    for (const term of terms) addTo(holders, term, at)
  }
  const vectorOf = (terms: ReadonlySet<string>): Vector =>
    unit(
      Array.from(terms, (term) => {
        const rarity = Math.log(1 + documents.length / ((holders.get(term)?.length ?? 0) + 0.5))
        return [term, rarity * (term.includes(' ') ? weights.pair : 1)]
      }),
    )
  const prepared = texts.map(({ own, examples }) => {
    const given = examples.map(({ text, terms, weight = 1, wrong = false }) => {
      return { text, weight, wrong, vector: vectorOf(terms) }
    })
    const right = given.filter(({ wrong }) => !wrong)
    const centre = new Map<string, number>()
    for (const { vector, weight } of [{ vector: vectorOf(own), weight: 1 }, ...right]) {
      for (const [term, value] of vector) centre.set(term, (centre.get(term) ?? 0) + value * weight)
    }
    return { centre: unit([...centre]), right, wrong: given.filter(({ wrong }) => wrong) }
  })
  const centreWeight = (weights.centre * taught) / documents.length
  return (sentence) => {
    const query = vectorOf(allTerms(sentence))
    // Grammar alone makes nothing alike.
    const touched = new Set(wordsOf(sentence).flatMap(({ stem }) => holders.get(stem) ?? []))
    return new Map(
      [...touched].flatMap((at): [number, Likeness][] => {
        const one = prepared[at]
        if (one === undefined) return []
        const near = nearestOf(query, one.right)
        const wrong = nearestOf(query, one.wrong)
        const score = centreWeight * cosine(query, one.centre) + weights.nearest * near.mean
        const example = wrong.closest > near.closest ? wrong.example : near.example
        const { closest } = near
        return [[at, { score, wrong: weights.wrong * wrong.closest ** 2, example, closest }]]
      }),
    )
  }
}

function nearestOf(
  query: Vector,
  examples: readonly { text: string; weight: number; vector: Vector }[],
): { example: string; closest: number; mean: number } {
  const near = examples
    .map(({ text, weight, vector }) => ({ text, value: cosine(query, vector) * weight }))
    .toSorted((a, b) => b.value - a.value)
    .slice(0, weights.neighbours)
  const sum = near.reduce((total, { value }) => total + value ** 2, 0)
  const { text: example = '', value: closest = 0 } = near[0] ?? {}
  return { example, closest, mean: sum / weights.neighbours }
}

/** The stems of a text, grammar included, and the pairs of neighbours. */
function allTerms(text: string): Set<string> {
  return new Set(termsOf(plainWords(text).map(stemOf)))
}

function unit(entries: readonly (readonly [string, number])[]): Vector {
  const length = Math.sqrt(entries.reduce((sum, [, value]) => sum + value ** 2, 0))
  return new Map(entries.map(([term, value]) => [term, length === 0 ? value : value / length]))
}

function cosine(one: Vector, other: Vector): number {
  let sum = 0
  for (const [term, value] of one) sum += value * (other.get(term) ?? 0)
  return sum
}
