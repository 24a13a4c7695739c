import { editDistance } from '../core/text.ts'
import { type Likeness, prepareLikeness } from './likeness.ts'
import { type Evidence, sureness } from './sureness.ts'
import { plainWords, sentencesOf, stemOf, type Word, wordsOf } from './words.ts'

/** Something that a sentence may mean: fields of text, and sentences that are known to mean it. */
export interface RankDocument {
  id: string
  /** The words of its name; a sentence that says them probably means it. */
  name: string
  fields: readonly RankField[]
  examples?: readonly RankExample[] | undefined
}

export interface RankField {
  /** What the field is called in an explanation. */
  kind: string
  text: string
  weight: number
}

export interface RankExample {
  text: string
  /** 0 to 1: how much it counts. Default 1. */
  weight?: number | undefined
  /** The sentence does not mean the document. */
  wrong?: boolean | undefined
}

export interface RankOptions {
  /** Likeness of meaning by the document's id, -1 to 1; counts only where the words are not sure. */
  meaning?: ReadonlyMap<string, number> | undefined
}

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
  /** Documents with any evidence, best first; equal ones in the order of their ids. */
  ranked: readonly Ranked[]
  /** The probability that the first is meant, 0 to 1. */
  probability: number
  /** The words that were compared, with their weight: 1 is a word that one document has. */
  words: readonly { word: string; weight: number }[]
}

export interface Ranker {
  /** Ranks the documents for a sentence. Pure: the same sentence gives the same ranking. */
  rank(sentence: string, options?: RankOptions): Ranking
}

/** Chosen by cross-validation on MetaTool and on prompts for 25 skills; all lie on plateaus. */
const weights = {
  /** How soon another occurrence of a word stops counting (BM25's k1). */
  saturation: 2,
  /** How much a long field dilutes its words (BM25's b). */
  dilution: 0.45,
  /** Two words that follow each other as they do in a document. */
  pair: 0.5,
  /** A word that no document has, for one that it begins or that is spelled alike. */
  similar: 0.4,
  /** Likeness of meaning, as a part of what the words can reach. */
  meaning: 1,
} as const

/** From this probability on the words decide without the meaning. */
export const sureOfWords = 0.8

/** Up to so many documents the rarity of a word is counted over their sentences. */
const smallCatalogue = 100

/** Prepares documents for ranking; of several with one id the first counts. */
export function prepareRanker(documents: readonly RankDocument[]): Ranker {
  const byId = new Map<string, RankDocument>()
  for (const document of documents) if (!byId.has(document.id)) byId.set(document.id, document)
  const all = withMentions([...byId.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1)))
  const index = indexOf(all)
  const likenessOf = prepareLikeness(all)

  return {
    rank(sentence, { meaning } = {}) {
      const query = readQuery(sentence, index)
      const likeness = likenessOf(sentence)
      const found = wordParts(query, index)
      addLikeness(found, likeness, query.reach)
      let ranked = inOrder(found, all, index.rarest)
      let probability = sureness(evidenceOf(ranked, query, index, likeness))
      if (meaning !== undefined && probability < sureOfWords) {
        addMeaning(found, all, meaning, Math.max(query.reach, index.rarest))
        ranked = inOrder(found, all, index.rarest)
        probability = sureness(evidenceOf(ranked, query, index, likeness))
      }
      const words = query.words.map(({ text, weight }) => ({
        word: text,
        weight: rounded(weight / index.rarest),
      }))
      return { ranked, probability: rounded(probability), words }
    },
  }
}

/**
 * A sentence that names another document, as `for charts see make-chart`, speaks of that one: its
 * words are credited there. Only names of several words joined by a sign are looked for.
 */
function withMentions(documents: readonly RankDocument[]): readonly RankDocument[] {
  const names = new Set(documents.map(({ name }) => name).filter((name) => /\w[-_]\w/.test(name)))
  if (names.size === 0) return documents
  const mentions = new Map<string, RankField[]>()
  const isOwn = (sentence: string, own: string, field: RankField): boolean => {
    const others = (
      sentence.match(/[A-Za-z0-9]{1,60}(?:[-_][A-Za-z0-9]{1,60}){1,12}/g) ?? []
    ).filter((name) => name !== own && names.has(name))
    for (const name of new Set(others)) {
      const mention = { ...field, kind: 'mention', text: sentence }
      mentions.set(name, [...(mentions.get(name) ?? []), mention])
    }
    return others.length === 0
  }
  const own = documents.map(({ fields, ...document }) => ({
    ...document,
    fields: fields.map((field) => {
      const sentences = sentencesOf(field.text)
      const kept = sentences.filter((sentence) => isOwn(sentence, document.name, field))
      return kept.length === sentences.length ? field : { ...field, text: kept.join('\n') }
    }),
  }))
  return own.map((document) => ({
    ...document,
    fields: [...document.fields, ...(mentions.get(document.name) ?? [])],
  }))
}

interface Posting {
  /** The document's place. */
  at: number
  /** Weight of the term in the document, before saturation. */
  weight: number
  /** The field that has it most. */
  kind: string
}

interface Index {
  postings: ReadonlyMap<string, readonly Posting[]>
  rarity(term: string): number
  /** The rarity of a word that one document has. */
  rarest: number
  /** The single words of all documents, by their first letter. */
  vocabulary: ReadonlyMap<string, readonly string[]>
  /** The place of each document, and the stems of its name. */
  documents: ReadonlyMap<string, { at: number; name: readonly string[] }>
}

function indexOf(documents: readonly RankDocument[]): Index {
  const counted = documents.map(({ fields }) =>
    fields.map(({ kind, text, weight }) => {
      const words = wordsOf(text)
      return { kind, weight, terms: countTerms(words), length: words.length }
    }),
  )
  const average = averageLengths(counted.flat())
  const postings = new Map<string, Posting[]>()
  counted.forEach((fields, at) => {
    for (const [term, { weight, kind }] of termWeights(fields, average)) {
      const list = postings.get(term)
      if (list === undefined) postings.set(term, [{ at, weight, kind }])
      else list.push({ at, weight, kind })
    }
  })
  const { holders, total } =
    documents.length > smallCatalogue
      ? { holders: undefined, total: documents.length }
      : sentenceSpread(documents)
  const rarityOf = (count: number): number => Math.log(1 + (total - count + 0.5) / (count + 0.5))
  const rarest = Math.max(rarityOf(1), 0.1)
  const single = [...postings.keys()].filter((term) => !term.includes(' '))
  return {
    postings,
    rarity(term) {
      const count = (holders ?? postings).get(term)
      const held = typeof count === 'number' ? count : (count?.length ?? 0)
      return held === 0 ? rarest : Math.max(rarityOf(held), 0.05)
    },
    rarest,
    vocabulary: Map.groupBy(single, (term) => term.charAt(0)),
    documents: new Map(
      documents.map(({ id, name }, at) => [
        id,
        { at, name: [...new Set(plainWords(name).map(stemOf))] },
      ]),
    ),
  }
}

interface CountedField {
  kind: string
  weight: number
  terms: ReadonlyMap<string, number>
  length: number
}

function averageLengths(fields: readonly CountedField[]): Map<string, number> {
  const filled = Map.groupBy(
    fields.filter(({ length }) => length > 0),
    ({ kind }) => kind,
  )
  return new Map(
    [...filled].map(([kind, some]) => [
      kind,
      some.reduce((sum, { length }) => sum + length, 0) / some.length,
    ]),
  )
}

/** BM25F: a term's occurrences in all fields of a document, by the fields' weights and lengths. */
function termWeights(
  fields: readonly CountedField[],
  average: ReadonlyMap<string, number>,
): Map<string, { weight: number; kind: string; most: number }> {
  const weighted = new Map<string, { weight: number; kind: string; most: number }>()
  for (const { kind, weight, terms, length } of fields) {
    const share = length / (average.get(kind) ?? 1)
    const dilution = 1 - weights.dilution + weights.dilution * share
    for (const [term, times] of terms) {
      const value = (weight * times) / dilution
      const known = weighted.get(term)
      if (known === undefined) weighted.set(term, { weight: value, kind, most: value })
      else {
        known.weight += value
        if (value > known.most) Object.assign(known, { kind, most: value })
      }
    }
  }
  return weighted
}

/** In how many sentences each term is: in a small catalogue documents are too few to count. */
function sentenceSpread(documents: readonly RankDocument[]): {
  holders: ReadonlyMap<string, number>
  total: number
} {
  const sentences = documents.flatMap(({ fields }) =>
    fields.flatMap(({ text }) => sentencesOf(text)),
  )
  const holders = new Map<string, number>()
  for (const sentence of sentences) {
    for (const term of countTerms(wordsOf(sentence)).keys()) {
      holders.set(term, (holders.get(term) ?? 0) + 1)
    }
  }
  return { holders, total: sentences.length }
}

/** The stems of words, and the pairs of neighbours. */
function countTerms(words: readonly Word[]): Map<string, number> {
  const terms = new Map<string, number>()
  words.forEach(({ stem }, at) => {
    const next = words[at + 1]
    const pair = next === undefined ? [] : [`${stem} ${next.stem}`]
    for (const term of [stem, ...pair]) terms.set(term, (terms.get(term) ?? 0) + 1)
  })
  return terms
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

function readQuery(sentence: string, index: Index): Query {
  const read = wordsOf(sentence)
  const words = new Map<string, QueryTerm>()
  const pairs = new Map<string, QueryTerm>()
  read.forEach(({ text, stem }, at) => {
    if (!words.has(stem)) words.set(stem, queryWord(text, stem, index))
    const next = read[at + 1]
    const term = `${stem} ${next?.stem ?? ''}`
    if (next === undefined || !index.postings.has(term)) return
    const weight = weights.pair * index.rarity(term)
    pairs.set(term, { term, text: `${text} ${next.text}`, weight })
  })
  const single = [...words.values()]
  const reach = single.reduce((sum, { weight }) => sum + weight, 0)
  return { words: single, pairs: [...pairs.values()], reach }
}

function queryWord(text: string, stem: string, index: Index): QueryTerm {
  const term = index.postings.has(stem) ? stem : similarWord(stem, index)
  if (term === undefined) return { term: stem, text, weight: index.rarest }
  return term === stem
    ? { term, text, weight: index.rarity(term) }
    : { term, text: `${text} (${term})`, weight: weights.similar * index.rarity(term) }
}

/** The word of the documents that was probably meant: one that continues it, or a misspelling. */
function similarWord(word: string, { vocabulary }: Index): string | undefined {
  if (!/^[a-z]{4,}$/.test(word)) return undefined
  const gap = (other: string): number => Math.abs(other.length - word.length)
  const near = (vocabulary.get(word.charAt(0)) ?? []).filter(
    (other) => other.length >= 4 && gap(other) <= 4,
  )
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

type Found = Map<number, RankPart[]>

function wordParts({ words, pairs }: Query, { postings }: Index): Found {
  const found: Found = new Map()
  for (const { term, text, weight } of [...words, ...pairs]) {
    for (const { at, weight: own, kind } of postings.get(term) ?? []) {
      const share = (own * (weights.saturation + 1)) / (own + weights.saturation)
      addPart(found, at, { kind, text, score: weight * share })
    }
  }
  return found
}

function addLikeness(found: Found, likeness: ReadonlyMap<number, Likeness>, reach: number): void {
  for (const [at, { score, wrong, example }] of likeness) {
    if (score > 0) {
      const text = example || 'its own sentences'
      addPart(found, at, { kind: 'example', text, score: score * Math.max(reach, 0.01) })
    }
    const sum = sumOf(found.get(at) ?? [])
    if (wrong > 0) addPart(found, at, { kind: 'wrong example', text: example, score: -sum * wrong })
  }
}

function addMeaning(
  found: Found,
  documents: readonly RankDocument[],
  meaning: ReadonlyMap<string, number>,
  reach: number,
): void {
  documents.forEach(({ id }, at) => {
    const likeness = meaning.get(id) ?? 0
    const score = likeness * weights.meaning * reach
    if (score > 0) addPart(found, at, { kind: 'meaning', text: likeness.toFixed(2), score })
  })
}

function addPart(found: Found, at: number, part: RankPart): void {
  const parts = found.get(at)
  if (parts === undefined) found.set(at, [part])
  else parts.push(part)
}

function inOrder(found: Found, documents: readonly RankDocument[], rarest: number): Ranked[] {
  return [...found]
    .flatMap(([at, parts]) => {
      const id = documents[at]?.id
      const score = rounded(sumOf(parts) / rarest)
      return id === undefined || score <= 0 ? [] : [{ at, id, score, parts }]
    })
    .toSorted((a, b) => b.score - a.score || a.at - b.at)
    .map(({ id, score, parts }) => ({
      id,
      score,
      parts: parts
        .map((part) => ({ ...part, score: rounded(part.score / rarest) }))
        .toSorted((a, b) => Math.abs(b.score) - Math.abs(a.score)),
    }))
}

/** What says whether the first is meant, whatever the size of the catalogue. */
function evidenceOf(
  [first, second, ...others]: readonly Ranked[],
  { words, reach }: Query,
  { documents, postings, rarest }: Index,
  likeness: ReadonlyMap<number, Likeness>,
): Evidence {
  const { at = -1, name = [] } = documents.get(first?.id ?? '') ?? {}
  const said = new Set(words.map(({ term }) => term))
  const score = first?.score ?? 0
  const covered = words
    .filter(({ term }) => postings.get(term)?.some((posting) => posting.at === at))
    .reduce((sum, { weight }) => sum + weight, 0)
  return {
    reached: reach === 0 ? 0 : (score * rarest) / reach,
    lead: score === 0 ? 0 : (score - (second?.score ?? 0)) / score,
    covered: reach === 0 ? 0 : covered / reach,
    name: name.filter((word) => said.has(word)).length / Math.max(1, name.length),
    example: likeness.get(at)?.closest ?? 0,
    words: words.length,
    rivals: others.filter((one) => one.score > 0.8 * score).length,
  }
}

function sumOf(parts: readonly RankPart[]): number {
  return parts.reduce((sum, { score }) => sum + score, 0)
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
