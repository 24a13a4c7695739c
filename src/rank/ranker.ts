import { addTo } from '#core/lists'
import { editDistance } from '#core/text'
import {
  allTerms,
  formOf,
  holdersOfForms,
  indexDocuments,
  type RankDocument,
  type RankField,
  type RankIndex,
  type RankOptions,
  vector,
} from './index.ts'
import { type LetterLikeness, prepareLetters } from './letters.ts'
import { namesIn } from './names.ts'
import { charactersOf, properNames, stemOf, type Word, wordsOf } from './words.ts'

export interface Ranked {
  id: string
  /** 1 is the score of one word that no other document has. */
  score: number
  /** Parts of the score, greatest first; they add up to it. */
  parts: readonly RankPart[]
}

export interface RankPart {
  /** The field with the words, or `letters`, `example`, `wrong example`, `likeness` or `named in full`. */
  kind: string
  text: string
  score: number
}

export interface Ranking {
  /** Best first; equal scores in the order of their IDs. */
  ranked: readonly Ranked[]
  /** The probability that the first document is meant, 0 to 1, if nearly all sentences mean one of them. */
  probability: number
  /** The same if most sentences mean none of them, although they may be about the same matters. */
  certainty: number
  /** Documents that the sentence names in full; they are the first ones. */
  named: readonly string[]
  /** The compared words with their weight: 1 is a word that only one document has. */
  words: readonly { word: string; weight: number }[]
  /** Proper names in the sentence that the first document lacks: it may be about something else. */
  missing: readonly string[]
}

export type Ranker = (sentence: string) => Ranking

/** The shortest beginning that words with nearly the same stem have in common. */
const shortestRoot = 5

/** Chosen by cross-validation on MetaTool and on prompts for 25 skills; small changes make no difference. */
const weights = {
  /** How soon another occurrence of a word stops counting (BM25's k1), in a search and in a prompt. */
  saturation: 2,
  promptSaturation: 1.5,
  /** Two neighbouring words that are neighbours in a document too. */
  pair: 0.6,
  /** The same in the other order. */
  swapped: 0.3,
  /** Neighbours in a document with another word between them in the sentence. */
  apart: 0.2,
  /** Another word of a document with nearly the same stem: `analysis` for `analyze`. */
  relative: 0.4,
  /** A similar word in place of one that no document has: the same beginning or a similar spelling. */
  similar: 0.4,
  /** A word that is two words in the other text: `webhook` for `web hook`. */
  joined: 0.6,
  /** A word in exactly the same form: `boards`, not `board`. */
  form: 0.1,
  /** Likeness by letters, for the whole sentence. */
  letters: 0.6,
  /** One character of a pair from a script without blanks. */
  character: 0.4,
  /** Likeness to the centre of a document's sentences and examples, if every document has examples. */
  centre: 8,
  /** The same for a prompt: the centre of a few examples is like every prompt in the same tone. */
  promptCentre: 1,
  /** Likeness to its nearest examples, in a search and in a prompt. */
  nearest: 8,
  promptNearest: 4,
  neighbours: 3,
  wrong: 0.8,
} as const

export function prepareRanker(
  documents: readonly RankDocument[],
  options: RankOptions = {},
): Ranker {
  const { catalogue, terms, words, examples } = indexDocuments(documents, options)
  const index: RankIndex = {
    catalogue,
    term: (term) => terms.get(term),
    wordsBy: (letter) => words.get(letter) ?? [],
    example: (number) => examples[number],
  }
  if (options.isSearch !== true) return rankerOf(index, options)
  const byId = new Map(documents.toReversed().map((document) => [document.id, document]))
  const texts = catalogue.ids.map((id) => ownText(byId.get(id)?.fields ?? []))
  return rankerOf(index, options, prepareLetters(texts, holdersOfForms(terms)))
}

/** Returns the text of the fields, without the names of what several documents belong to. */
function ownText(fields: readonly RankField[]): string {
  return fields.flatMap(({ isShared, text }) => (isShared === true ? [] : [text])).join('\n')
}

export function rankerOf(
  index: RankIndex,
  { isSearch = false }: RankOptions = {},
  letterLikeness?: LetterLikeness,
): Ranker {
  const rarest = Math.max(rarityOf(1, index), 0.1)
  return (sentence) => {
    const query = readQuery(sentence, index, isSearch)
    const parts = wordParts(query, index, isSearch)
    if (letterLikeness) {
      addLetters(parts, letterLikeness(sentence), query.reach * (1 - index.catalogue.taught))
    }
    const likeness = likenessOf(sentence, index, isSearch)
    addLikeness(parts, likeness, query.reach, 1 - leadOf(parts))
    const byWords = inOrder(parts, index, rarest)
    const fullNames = namesIn(sentence, index.catalogue.ids)
    const ranking = withNamed(byWords, fullNames)
    const words = query.words.map(({ text, score }) => {
      return { word: text, weight: roundScore(score / rarest) }
    })
    const confidence = confidenceIn(ranking, query, index, rarest)
    const nearest = likeness.get(index.catalogue.ids.indexOf(ranking[0]?.id ?? ''))
    const paraphrase = nearest && confidence.missing.length === 0 ? Math.sqrt(nearest.closest) : 0
    const certainty = Math.max(confidence.certainty, roundScore(paraphrase))
    const none = nearest?.isDenied === true ? { probability: 0, certainty: 0 } : { certainty }
    return { ranked: ranking, named: fullNames, ...confidence, ...none, words }
  }
}

function rarityOf(textsWithTerm: number, { catalogue: { counted } }: RankIndex): number {
  return Math.log(1 + (counted - textsWithTerm + 0.5) / (textsWithTerm + 0.5))
}

interface QueryTerm {
  term: string
  /** The term's words in the sentence. */
  text: string
  score: number
}

interface Query {
  words: readonly QueryTerm[]
  /** Pairs of its words, and words that are nearly the same. They add to a score, but need not occur. */
  extras: readonly QueryTerm[]
  /** The total score of its words. */
  reach: number
  sentence: string
}

function readQuery(sentence: string, index: RankIndex, isSearch: boolean): Query {
  const tokens = wordsOf(sentence)
  const words = new Map<string, QueryTerm>()
  const extras = new Map<string, QueryTerm>()
  const addExtra = (extra: QueryTerm): void => {
    if (extra.score > (extras.get(extra.term)?.score ?? 0)) extras.set(extra.term, extra)
  }
  for (const [at, word] of tokens.entries()) {
    const { text, stem } = word
    if (!words.has(stem)) {
      words.set(stem, queryWord(text, stem, index))
      const looseTerms = isSearch
        ? [...relativesOf(word, index), ...halvesOf(word, index), ...characterTerms(word, index)]
        : []
      for (const term of looseTerms) addExtra(term)
    }
    if (isSearch && hasPostings(index, formOf(text))) {
      const score = weights.form * rarityIn(index, stem)
      addExtra({ term: formOf(text), text: `${text} (exact)`, score })
    }
    const [next, afterNext] = tokens.slice(at + 1, at + 3)
    if (isSearch && next) for (const joined of joinedOf(word, next, index)) addExtra(joined)
    const loosePairs = [
      [next, word, weights.swapped],
      [word, afterNext, weights.apart],
    ] as const
    const pairs = [[word, next, weights.pair] as const, ...(isSearch ? loosePairs : [])]
    for (const [first, second, weight] of pairs) {
      const term = `${first?.stem ?? ''} ${second?.stem ?? ''}`
      if (!first || !second || !hasPostings(index, term)) continue
      addExtra({
        term,
        text: `${first.text} ${second.text}`,
        score: weight * rarityIn(index, term),
      })
    }
  }
  const single = [...words.values()]
  return { words: single, extras: [...extras.values()], reach: sumOf(single), sentence }
}

/** Returns the words of documents that differ from a word in at most the last two letters of their stems. */
function relativesOf({ text, stem }: Word, index: RankIndex): QueryTerm[] {
  if (!isLetters(stem) || !hasPostings(index, stem)) return []
  const rarity = rarityIn(index, stem)
  return index.wordsBy(stem.charAt(0)).flatMap((other) => {
    const shared = Math.max(shortestRoot, Math.max(stem.length, other.length) - 2)
    const isNear = Math.min(stem.length, other.length) >= shared
    if (other === stem || !isNear || !other.startsWith(stem.slice(0, shared))) return []
    const score = weights.relative * Math.min(rarity, rarityIn(index, other))
    return [{ term: other, text: `${text} (${other})`, score }]
  })
}

/** The shortest half of a word that may be written as two. */
const shortestHalf = 3

/** Returns the neighbours of a document that are one word in the sentence, if no document has that word. */
function halvesOf({ text, stem }: Word, index: RankIndex): QueryTerm[] {
  if (hasPostings(index, stem)) return []
  const cuts = Math.max(0, text.length - 2 * shortestHalf + 1)
  return Array.from({ length: cuts }, (_, at) => at + shortestHalf).flatMap((cut) => {
    const term = `${stemOf(text.slice(0, cut))} ${stemOf(text.slice(cut))}`
    if (!hasPostings(index, term)) return []
    const score = weights.joined * rarityIn(index, term)
    return [{ term, text: `${text} (${term})`, score }]
  })
}

/** Returns the word of a document that is two neighbours in the sentence. */
function joinedOf(word: Word, next: Word, index: RankIndex): QueryTerm[] {
  const term = stemOf(`${word.text}${next.text}`)
  if (!hasPostings(index, term)) return []
  const text = `${word.text} ${next.text} (${term})`
  return [{ term, text, score: weights.joined * rarityIn(index, term) }]
}

function characterTerms({ text }: Word, index: RankIndex): QueryTerm[] {
  return charactersOf(text)
    .filter((character) => hasPostings(index, character))
    .map((character) => {
      return {
        term: character,
        text: character,
        score: weights.character * rarityIn(index, character),
      }
    })
}

function isLetters(word: string): boolean {
  return /^[a-z]{4,}$/.test(word)
}

function holdersOf(index: RankIndex, term: string): number[] {
  const { postings, examples } = index.term(term) ?? {}
  return [...tuples(postings, 3), ...tuples(examples, 3)].map(([at]) => at)
}

function hasPostings(index: RankIndex, term: string): boolean {
  return (index.term(term)?.postings.length ?? 0) > 0
}

function rarityIn(index: RankIndex, term: string): number {
  return Math.max(rarityOf(index.term(term)?.held || 1, index), 0.05)
}

function queryWord(text: string, stem: string, index: RankIndex): QueryTerm {
  const term = hasPostings(index, stem) ? undefined : similarWord(stem, index)
  if (term === undefined) return { term: stem, text, score: rarityIn(index, stem) }
  return { term, text: `${text} (${term})`, score: weights.similar * rarityIn(index, term) }
}

/** Returns the documents' word that is probably meant: one with the same beginning or a similar spelling. */
function similarWord(word: string, { wordsBy }: RankIndex): string | undefined {
  if (!isLetters(word)) return undefined
  const most = word.length >= 8 ? 2 : 1
  const near = wordsBy(word.charAt(0)).flatMap((candidate) => {
    const gap = Math.abs(candidate.length - word.length)
    if (candidate.length < 4 || gap > 4) return []
    if (candidate.startsWith(word) || word.startsWith(candidate))
      return [{ other: candidate, edits: gap / 10 }]
    const edits = gap <= most ? editDistance(word, candidate) : Infinity
    return edits <= most ? [{ other: candidate, edits }] : []
  })
  return near.toSorted((a, b) => a.edits - b.edits)[0]?.other
}

interface Likeness {
  score: number
  /** Likeness to the nearest right example, 0 to 1. */
  closest: number
  wrong: number
  /** The nearest examples; empty if the sentence shares nothing with one. */
  example: string
  wrongExample: string
  /** A wrong example is nearer than every right one and than the centre of the document. */
  isDenied: boolean
}

function likenessOf(
  sentence: string,
  index: RankIndex,
  isSearch: boolean,
): ReadonlyMap<number, Likeness> {
  const { compared, taught } = index.catalogue
  const centreWeight = isSearch ? weights.centre : weights.promptCentre
  const nearestWeight = isSearch ? weights.nearest : weights.promptNearest
  const query = vector(allTerms(sentence), compared, isSearch, (term) => index.term(term)?.holders)
  const centres = new Map<number, number>()
  const values = new Map<number, Map<number, number>>()
  // Grammar alone is not likeness.
  const stems = new Set(wordsOf(sentence).map(({ stem }) => stem))
  const documents = new Set<number>()
  for (const [term, value] of query) {
    const { centre, examples } = index.term(term) ?? {}
    for (const [at, part] of tuples(centre, 2)) {
      centres.set(at, (centres.get(at) ?? 0) + value * part)
      if (stems.has(term)) documents.add(at)
    }
    for (const [at, number, part] of tuples(examples, 3)) {
      const sums = values.get(at) ?? new Map<number, number>()
      values.set(at, sums.set(number, (sums.get(number) ?? 0) + value * part))
    }
  }
  return new Map(
    Array.from(documents, (at) => {
      const near = [...(values.get(at) ?? [])].toSorted(([, a], [, b]) => b - a)
      const nearestRight = near.filter(([, value]) => value > 0).slice(0, weights.neighbours)
      const [number = -1, closest = 0] = nearestRight[0] ?? []
      const [wrongNumber = -1, negative = 0] = near.at(-1) ?? []
      const wrong = Math.max(0, -negative)
      const mean = nearestRight.reduce((sum, [, value]) => sum + value ** 2, 0) / weights.neighbours
      const centre = centres.get(at) ?? 0
      const score = centreWeight * taught * centre + nearestWeight * mean
      const example = index.example(number) ?? ''
      const wrongExample = wrong > 0 ? (index.example(wrongNumber) ?? '') : ''
      const denial = {
        wrong: weights.wrong * wrong ** 2,
        wrongExample,
        isDenied: wrong > Math.max(closest, centre),
      }
      return [at, { score, closest, example, ...denial }]
    }),
  )
}

/** The parts of the score by the position of the document. */
type Parts = Map<number, RankPart[]>

function wordParts(
  { words, extras }: Query,
  { catalogue, term: look }: RankIndex,
  isSearch: boolean,
): Parts {
  const parts: Parts = new Map()
  const saturation = isSearch ? weights.saturation : weights.promptSaturation
  for (const { term, text, score } of [...words, ...extras]) {
    for (const [at, weight, place] of tuples(look(term)?.postings, 3)) {
      const kind = catalogue.kinds[place] ?? ''
      const share = (weight * (saturation + 1)) / (weight + saturation)
      addTo(parts, at, { kind, text, score: score * share })
    }
  }
  return parts
}

/** The number of documents that are compared by letters: the best ones by words. */
const comparedByLetters = 50

/** @param reach how much the likeness can add; examples say more than letters */
function addLetters(parts: Parts, likenessAt: (at: number) => number, reach: number): void {
  const byScore = Array.from(parts, ([at, documentParts]) => ({ at, score: sumOf(documentParts) }))
  const best = byScore.toSorted((a, b) => b.score - a.score || a.at - b.at)
  for (const { at } of best.slice(0, comparedByLetters)) {
    const score = weights.letters * reach * likenessAt(at)
    if (score > 0) addTo(parts, at, { kind: 'letters', text: 'words with the same letters', score })
  }
}

/** @param doubt how far words leave it open which document is meant; a near example counts anyway */
function addLikeness(
  parts: Parts,
  likeness: ReadonlyMap<number, Likeness>,
  reach: number,
  doubt: number,
): void {
  for (const [at, { score: fullScore, closest, wrong, example, wrongExample }] of likeness) {
    const score = fullScore * Math.max(doubt, closest ** 2)
    if (score > 0) {
      const kind = example === '' ? 'likeness' : 'example'
      const text = example || 'its own sentences'
      addTo(parts, at, { kind, text, score: score * Math.max(reach, 0.01) })
    }
    const sum = sumOf(parts.get(at) ?? [])
    if (wrong > 0)
      addTo(parts, at, { kind: 'wrong example', text: wrongExample, score: -sum * wrong })
  }
}

/**
 * How far words alone put the first document ahead of the second. Without such a lead, likeness decides.
 */
function leadOf(parts: Parts): number {
  const [first = 0, second = 0] = Array.from(parts.values(), sumOf).toSorted((a, b) => b - a)
  return first > 0 ? 1 - second / first : 0
}

function inOrder(byDocument: Parts, { catalogue: { ids } }: RankIndex, rarest: number): Ranked[] {
  return [...byDocument]
    .toSorted(([a], [b]) => a - b)
    .flatMap(([at, rankParts]) => {
      const id = ids[at]
      const score = roundScore(sumOf(rankParts) / rarest)
      const parts = rankParts
        .map((part) => ({ ...part, score: roundScore(part.score / rarest) }))
        .toSorted((a, b) => Math.abs(b.score) - Math.abs(a.score))
      return id === undefined || score <= 0 ? [] : [{ id, score, parts }]
    })
    .toSorted((a, b) => b.score - a.score)
}

/**
 * Returns the probability that the first document is meant, and the proper names that it lacks: a
 * logistic regression, fitted by cross-validation on prompts for 25 skills, on parts of them, and on
 * MetaTool.
 */
function confidenceIn(
  [first, ...otherDocuments]: readonly Ranked[],
  { words, reach, sentence }: Query,
  index: RankIndex,
  rarest: number,
): Pick<Ranking, 'probability' | 'certainty' | 'missing'> {
  if (!first || reach === 0) return { probability: 0, certainty: 0, missing: [] }
  const { ids, kinds, taught } = index.catalogue
  const at = ids.indexOf(first.id)
  const isMissing = ({ stem }: Word) => !holdersOf(index, stem).includes(at)
  const missing = properNames(sentence).filter((name) => wordsOf(name).some(isMissing))
  const partOf = (isMeant: (holders: number[]) => boolean) =>
    sumOf(words.filter(({ term }) => isMeant(holdersOf(index, term)))) / reach
  const worth = reach / rarest
  const lead = 1 - (otherDocuments[0]?.score ?? 0) / first.score
  const byWords = sumOf(first.parts.filter(({ kind }) => kinds.includes(kind)))
  // Letters tell which document is meant, not that one is.
  const letters = first.parts.find(({ kind }) => kind === 'letters')?.score ?? 0
  const ahead = Math.sqrt(lead * Math.min(1, (first.score - letters) / worth))
  const rivals = otherDocuments.filter(({ score }) => score > 0.8 * first.score).length
  const facts: readonly number[] = [
    1,
    taught,
    ahead,
    taught * ahead,
    Math.log(1 + worth),
    Math.log(1 + words.length),
    Math.log(1 + byWords / worth),
    partOf((holders) => holders.includes(at)),
    taught * partOf((holders) => holders.length === 0),
    Math.log(1 + rivals),
    Math.log(1 + missing.length),
    Math.log(ids.length),
  ]
  const example = first.parts.find(({ kind }) => kind === 'example')?.text ?? ''
  const stems = new Set(wordsOf(example).map(({ stem }) => stem))
  const isSame = stems.size === words.length && words.every(({ term }) => stems.has(term))
  const logistic = (coefficients: readonly number[]): number => {
    const sum = facts.reduce((total, fact, place) => total + fact * (coefficients[place] ?? 0), 0)
    return isSame ? 1 : roundScore(1 / (1 + Math.exp(-sum)))
  }
  return { probability: logistic(usual), certainty: logistic(strict), missing }
}

/** Coefficients of the facts in their order; those of `usual` were fitted without the last fact. */
const usual = [-6.1, 1.45, 4.2, -1.3, 3.8, -2.1, 3.3, 0.65, -3.5, -0.8, -1]
/**
 * Fitted on prompts for 176 skills, alone and among up to 366, so that half of the prompts mean no skill: near misses
 * that the authors of the prompts wrote, and prompts of skills that were left out. The first two and the
 * last are lower than fitted, so that the threshold of a trigger leaves a margin in projects of any size.
 */
const strict = [-9.54, -0.33, 3.49, 0.54, 1.37, 0.82, 2.4, 1.53, 0.49, -0.31, -1.06, 0.19]

/** Puts documents that are named in full before all others. */
function withNamed(ranking: readonly Ranked[], fullNames: readonly string[]): readonly Ranked[] {
  if (fullNames.length === 0) return ranking
  const most = ranking[0]?.score ?? 0
  const first = fullNames.map((id): Ranked => {
    const { score, parts } = ranking.find((one) => one.id === id) ?? { score: 0, parts: [] }
    const gain = most + 1
    return {
      id,
      score: roundScore(score + gain),
      parts: [{ kind: 'named in full', text: id, score: gain }, ...parts],
    }
  })
  const otherDocuments = ranking.filter(({ id }) => !fullNames.includes(id))
  return [...first.toSorted((a, b) => b.score - a.score), ...otherDocuments]
}

function sumOf(parts: readonly { score: number }[]): number {
  return parts.reduce((sum, { score }) => sum + score, 0)
}

function roundScore(value: number): number {
  return Math.round(value * 10_000) / 10_000
}

function* tuples(list: readonly number[] = [], size: 2 | 3): Generator<[number, number, number]> {
  for (let at = 0; at < list.length; at += size) {
    yield [list[at] ?? 0, list[at + 1] ?? 0, list[at + 2] ?? 0]
  }
}
