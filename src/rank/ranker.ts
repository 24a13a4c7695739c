import { editDistance } from '../core/text.ts'
import {
  allTerms,
  indexDocuments,
  likenessWeight,
  type RankDocument,
  type RankIndex,
  unit,
} from './index.ts'
import { addTo, plainWords, stemOf, wordsOf } from './words.ts'

export interface Ranked {
  id: string
  /** 1 is one word that no other document has. */
  score: number
  /** Parts of the score, greatest first; they add up to it. */
  parts: readonly RankPart[]
}

export interface RankPart {
  /** The field that has the words, `example`, `wrong example` or `meaning`. */
  kind: string
  text: string
  score: number
}

export interface Ranking {
  /** Best first; equal ones in the order of their ids. */
  ranked: readonly Ranked[]
  /** The probability that the first is meant, 0 to 1. */
  probability: number
  /** The words that were compared, with their weight: 1 is a word that one document has. */
  words: readonly { word: string; weight: number }[]
}

export type Ranker = (sentence: string, meaning?: ReadonlyMap<string, number>) => Ranking

/** Chosen by cross-validation on MetaTool and on prompts for 25 skills; all lie on plateaus. */
const weights = {
  /** How soon another occurrence of a word stops counting (BM25's k1). */
  saturation: 2,
  /** Two words that follow each other as they do in a document. */
  pair: 0.5,
  /** A word that no document has, for one that it begins or that is spelled alike. */
  similar: 0.4,
  /** Likeness of meaning, as a part of what the words can reach. */
  meaning: 1,
  /** Likeness to the centre of all that means a document, where every document has examples. */
  centre: 10,
  /** Likeness to its nearest examples. */
  nearest: 8,
  neighbours: 3,
  wrong: 0.8,
} as const

/** From this probability on the words decide without the meaning. */
export const sureOfWords = 0.8

export function prepareRanker(documents: readonly RankDocument[]): Ranker {
  const { catalogue, terms, words, examples } = indexDocuments(documents)
  return rankerOf({
    catalogue,
    term: (term) => terms.get(term),
    wordsBy: (letter) => words.get(letter) ?? [],
    example: (number) => examples[number],
  })
}

export function rankerOf(index: RankIndex): Ranker {
  const { documents } = index.catalogue
  const rarest = Math.max(rarityOf(1, index), 0.1)
  return (sentence, meaning) => {
    const query = readQuery(sentence, index)
    const likeness = likenessOf(sentence, index)
    const found = wordParts(query, index)
    addLikeness(found, likeness, query.reach)
    const ranking = () => {
      const ranked = inOrder(found, index, rarest)
      return { ranked, probability: sureness(ranked, query, index, likeness) }
    }
    let best = ranking()
    if (meaning !== undefined && best.probability < sureOfWords) {
      const reach = weights.meaning * Math.max(query.reach, rarest)
      for (const [at, { id }] of documents.entries()) {
        const likely = Math.max(0, meaning.get(id) ?? 0)
        addTo(found, at, { kind: 'meaning', text: likely.toFixed(2), score: likely * reach })
      }
      best = ranking()
    }
    const words = query.words.map(({ text: word, weight }) => {
      return { word, weight: rounded(weight / rarest) }
    })
    return { ranked: best.ranked, probability: rounded(best.probability), words }
  }
}

function rarityOf(held: number, { catalogue: { counted } }: RankIndex): number {
  return Math.log(1 + (counted - held + 0.5) / (held + 0.5))
}

interface QueryTerm {
  term: string
  /** What of the sentence it is. */
  text: string
  weight: number
}

interface Query {
  words: readonly QueryTerm[]
  pairs: readonly QueryTerm[]
  /** What all of its words are worth together. */
  reach: number
}

function readQuery(sentence: string, index: RankIndex): Query {
  const read = wordsOf(sentence)
  const words = new Map<string, QueryTerm>()
  const pairs = new Map<string, QueryTerm>()
  for (const [at, { text, stem }] of read.entries()) {
    if (!words.has(stem)) words.set(stem, queryWord(text, stem, index))
    const next = read[at + 1]
    const term = `${stem} ${next?.stem ?? ''}`
    if (next === undefined || !hasPostings(index, term)) continue
    const weight = weights.pair * rarityIn(index, term)
    pairs.set(term, { term, text: `${text} ${next.text}`, weight })
  }
  const single = [...words.values()]
  const reach = single.reduce((sum, { weight }) => sum + weight, 0)
  return { words: single, pairs: [...pairs.values()], reach }
}

function hasPostings(index: RankIndex, term: string): boolean {
  return (index.term(term)?.postings.length ?? 0) > 0
}

function rarityIn(index: RankIndex, term: string): number {
  return Math.max(rarityOf(index.term(term)?.held || 1, index), 0.05)
}

function queryWord(text: string, stem: string, index: RankIndex): QueryTerm {
  const similar = hasPostings(index, stem) ? undefined : similarWord(stem, index)
  if (similar === undefined) return { term: stem, text, weight: rarityIn(index, stem) }
  const weight = weights.similar * rarityIn(index, similar)
  return { term: similar, text: `${text} (${similar})`, weight }
}

/** The word of the documents that was probably meant: one that continues it, or a misspelling. */
function similarWord(word: string, { wordsBy }: RankIndex): string | undefined {
  if (!/^[a-z]{4,}$/.test(word)) return undefined
  const gap = (other: string): number => Math.abs(other.length - word.length)
  const near = wordsBy(word.charAt(0)).filter((other) => other.length >= 4 && gap(other) <= 4)
  const [continued] = near
    .filter((other) => other.startsWith(word) || word.startsWith(other))
    .toSorted((a, b) => gap(a) - gap(b))
  const most = word.length >= 8 ? 2 : 1
  const alike = near.flatMap((other) => {
    const edits = gap(other) <= most ? editDistance(word, other) : Infinity
    return edits <= most ? [{ other, edits }] : []
  })
  return continued ?? alike.toSorted((a, b) => a.edits - b.edits)[0]?.other
}

/** How alike a sentence is to what means a document. */
type Likeness = { score: number; wrong: number; example: string; closest: number }

/** The likeness of a sentence to documents, by their place. */
function likenessOf(sentence: string, index: RankIndex): ReadonlyMap<number, Likeness> {
  const { documents, taught } = index.catalogue
  const terms = Array.from(allTerms(sentence), (term) => ({ term, facts: index.term(term) }))
  const query = unit(
    terms.map(({ term, facts }) => [term, likenessWeight(term, facts?.holders, documents.length)]),
  )
  const centres = new Map<number, number>()
  const values = new Map<number, Map<number, number>>()
  // Grammar alone makes nothing alike.
  const stems = new Set(wordsOf(sentence).map(({ stem }) => stem))
  const touched = new Set<number>()
  for (const [place, [term, value]] of query.entries()) {
    const { centre, examples } = terms[place]?.facts ?? {}
    for (const [at, part] of tuples(centre, 2)) {
      centres.set(at, (centres.get(at) ?? 0) + value * part)
      if (stems.has(term)) touched.add(at)
    }
    for (const [at, number, part] of tuples(examples, 3)) {
      const own = values.get(at) ?? new Map<number, number>()
      values.set(at, own.set(number, (own.get(number) ?? 0) + value * part))
    }
  }
  return new Map(
    Array.from(touched, (at) => {
      const near = [...(values.get(at) ?? [])].toSorted(([, a], [, b]) => b - a)
      const right = near.filter(([, value]) => value > 0).slice(0, weights.neighbours)
      const [number = -1, closest = 0] = right[0] ?? []
      const [wrongNumber = -1, negative = 0] = near.at(-1) ?? []
      const wrong = Math.max(0, -negative)
      const mean = right.reduce((sum, [, value]) => sum + value ** 2, 0) / weights.neighbours
      const score = weights.centre * taught * (centres.get(at) ?? 0) + weights.nearest * mean
      const example = index.example(wrong > closest ? wrongNumber : number) ?? ''
      return [at, { score, wrong: weights.wrong * wrong ** 2, example, closest }]
    }),
  )
}

type Found = Map<number, RankPart[]>

function wordParts({ words, pairs }: Query, { catalogue, term: look }: RankIndex): Found {
  const found: Found = new Map()
  for (const { term, text, weight } of [...words, ...pairs]) {
    for (const [at, own, place] of tuples(look(term)?.postings, 3)) {
      const kind = catalogue.kinds[place] ?? ''
      const share = (own * (weights.saturation + 1)) / (own + weights.saturation)
      addTo(found, at, { kind, text, score: weight * share })
    }
  }
  return found
}

function addLikeness(found: Found, likeness: ReadonlyMap<number, Likeness>, reach: number): void {
  for (const [at, { score, wrong, example }] of likeness) {
    if (score > 0) {
      const text = example || 'its own sentences'
      addTo(found, at, { kind: 'example', text, score: score * Math.max(reach, 0.01) })
    }
    const sum = sumOf(found.get(at) ?? [])
    if (wrong > 0) addTo(found, at, { kind: 'wrong example', text: example, score: -sum * wrong })
  }
}

function inOrder(found: Found, { catalogue: { documents } }: RankIndex, rarest: number): Ranked[] {
  return [...found]
    .toSorted(([a], [b]) => a - b)
    .flatMap(([at, parts]) => {
      const id = documents[at]?.id
      const score = rounded(sumOf(parts) / rarest)
      return id === undefined || score <= 0 ? [] : [{ id, score, parts }]
    })
    .toSorted((a, b) => b.score - a.score)
    .map(({ parts, ...ranked }) => ({
      ...ranked,
      parts: parts
        .map((part) => ({ ...part, score: rounded(part.score / rarest) }))
        .toSorted((a, b) => Math.abs(b.score) - Math.abs(a.score)),
    }))
}

/** The probability that the first is meant: a logistic regression over large and small catalogues. */
function sureness(
  [first, second, ...others]: readonly Ranked[],
  { words, reach }: Query,
  index: RankIndex,
  likeness: ReadonlyMap<number, Likeness>,
): number {
  if (first === undefined || reach === 0) return 0
  const { documents } = index.catalogue
  const rarest = Math.max(rarityOf(1, index), 0.1)
  const at = documents.findIndex(({ id }) => id === first.id)
  const name = [...new Set(plainWords(documents[at]?.name ?? '').map(stemOf))]
  const near = likeness.get(at)?.closest ?? 0
  const said = new Set(words.map(({ term }) => term))
  const held = words.filter(({ term }) =>
    [...tuples(index.term(term)?.postings, 3)].some(([place]) => place === at),
  )
  const lead = 1 - (second?.score ?? 0) / first.score
  const reached = (first.score * rarest) / reach
  const rivals = others.filter((one) => one.score > 0.8 * first.score).length
  const sum =
    -4.2 +
    Math.log(1 + reached) +
    1.4 * lead +
    1.3 * Math.sqrt(lead * Math.min(1, reached)) +
    (2 * held.reduce((total, { weight }) => total + weight, 0)) / reach +
    (0.6 * name.filter((word) => said.has(word)).length) / Math.max(1, name.length) -
    0.5 * near +
    0.9 * Math.log(1 + words.length) -
    0.4 * Math.log(1 + rivals)
  const probability = 1 / (1 + Math.exp(-sum))
  return near > 0.95 && lead > 0.1 ? Math.max(probability, 0.95) : probability
}

function sumOf(parts: readonly RankPart[]): number {
  return parts.reduce((sum, { score }) => sum + score, 0)
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000
}

/** The numbers of a flat list, so many at a time. */
function* tuples(list: readonly number[] = [], size: 2 | 3): Generator<[number, number, number]> {
  for (let at = 0; at < list.length; at += size) {
    yield [list[at] ?? 0, list[at + 1] ?? 0, list[at + 2] ?? 0]
  }
}
