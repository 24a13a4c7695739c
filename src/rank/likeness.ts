import type { RankDocument } from './ranker.ts'
import { plainWords, stemOf, wordsOf } from './words.ts'

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

/**
 * Prepares the likeness of sentences to documents, by their place. A document's own sentences take
 * part in its centre, so that one example does not stand for all that it does; the fewer documents
 * have examples, the less the centres count. Grammar counts: people ask in their own manner.
 */
export function prepareLikeness(
  documents: readonly RankDocument[],
): (sentence: string) => ReadonlyMap<number, Likeness> {
  const taught = documents.reduce(
    (sum, { examples = [] }) => sum + Math.min(1, examples.length / enoughExamples),
    0,
  )
  if (taught === 0) return () => new Map()
  const texts = documents.map(({ fields, examples = [] }) => ({
    own: termsOf(fields.map(({ text }) => text).join('\n')),
    examples: examples.map((example) => ({ ...example, terms: termsOf(example.text) })),
  }))
  const holders = new Map<string, number[]>()
  texts.forEach(({ own, examples }, at) => {
    const terms = new Set([...own, ...examples.flatMap((example) => [...example.terms])])
    for (const term of terms) {
      const list = holders.get(term) ?? []
      holders.set(term, list)
      list.push(at)
    }
  })
  const vectorOf = (terms: ReadonlySet<string>): Vector =>
    unit(
      new Map(
        [...terms].map((term) => {
          const rarity = Math.log(1 + documents.length / ((holders.get(term)?.length ?? 0) + 0.5))
          return [term, rarity * (term.includes(' ') ? weights.pair : 1)]
        }),
      ),
    )
  const prepared = texts.map(({ own, examples }) => {
    const given = examples.map(({ text, terms, weight = 1, wrong = false }) => ({
      text,
      weight,
      wrong,
      vector: vectorOf(terms),
    }))
    const right = given.filter(({ wrong }) => !wrong)
    const centre = new Map<string, number>()
    for (const { vector, weight } of [{ vector: vectorOf(own), weight: 1 }, ...right]) {
      for (const [term, value] of vector) centre.set(term, (centre.get(term) ?? 0) + value * weight)
    }
    return { centre: unit(centre), right, wrong: given.filter(({ wrong }) => wrong) }
  })
  const centreWeight = (weights.centre * taught) / documents.length
  return (sentence) => {
    const terms = termsOf(sentence)
    const query = vectorOf(terms)
    // Grammar alone makes nothing alike.
    const words = wordsOf(sentence).map(({ stem }) => stem)
    const touched = new Set(words.flatMap((stem) => holders.get(stem) ?? []))
    const likenesses = new Map<number, Likeness>()
    for (const at of touched) {
      const one = prepared[at]
      if (one === undefined) continue
      const near = nearestOf(query, one.right)
      const wrong = nearestOf(query, one.wrong)
      likenesses.set(at, {
        score: centreWeight * cosine(query, one.centre) + weights.nearest * near.mean,
        wrong: weights.wrong * wrong.closest ** 2,
        example: wrong.closest > near.closest ? wrong.example : near.example,
        closest: near.closest,
      })
    }
    return likenesses
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
  const [first] = near
  return {
    example: first?.text ?? '',
    closest: first?.value ?? 0,
    mean: sum / weights.neighbours,
  }
}

/** The stems of a text, grammar included, and the pairs of neighbours. */
function termsOf(text: string): Set<string> {
  const stems = plainWords(text).map(stemOf)
  return new Set(
    stems.flatMap((stem, at) => (at === 0 ? [stem] : [stem, `${stems[at - 1]} ${stem}`])),
  )
}

function unit(vector: Vector): Vector {
  const length = Math.sqrt(cosine(vector, vector))
  return length === 0 ? vector : new Map([...vector].map(([term, value]) => [term, value / length]))
}

function cosine(one: Vector, other: Vector): number {
  let sum = 0
  for (const [term, value] of one) sum += value * (other.get(term) ?? 0)
  return sum
}
