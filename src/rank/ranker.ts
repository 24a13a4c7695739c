import { editDistance } from '../core/text.ts'
import { type Likeness, prepareLikeness } from './likeness.ts'
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

export interface Ranker {
  /**
   * Ranks the documents for a sentence. Pure: the same sentence gives the same ranking. `meaning` is
   * likeness by the document's id, -1 to 1; it counts only where the words are not sure.
   */
  rank(sentence: string, options?: { meaning?: ReadonlyMap<string, number> | undefined }): Ranking
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
      let probability = sureness(ranked, query, index, likeness)
      if (meaning !== undefined && probability < sureOfWords) {
        const reach = weights.meaning * Math.max(query.reach, index.rarest)
        all.forEach(({ id }, at) => {
          const likely = Math.max(0, meaning.get(id) ?? 0)
          addPart(found, at, { kind: 'meaning', text: likely.toFixed(2), score: likely * reach })
        })
        ranked = inOrder(found, all, index.rarest)
        probability = sureness(ranked, query, index, likeness)
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
  const own = documents.map(({ name, fields }) =>
    fields.map((field) => {
      const kept = sentencesOf(field.text).filter((sentence) => isOwn(sentence, name, field))
      return { ...field, text: kept.join('\n') }
    }),
  )
  return documents.map((document, at) => ({
    ...document,
    fields: [...(own[at] ?? []), ...(mentions.get(document.name) ?? [])],
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
    fields.map((field) => {
      const words = wordsOf(field.text)
      return { ...field, terms: countTerms(words), length: words.length }
    }),
  )
  const byKind = Map.groupBy(counted.flat(), ({ kind }) => kind)
  const lengths = new Map(
    [...byKind].map(([kind, fields]) => {
      const filled = fields.filter(({ length }) => length > 0)
      const sum = filled.reduce((total, { length }) => total + length, 0)
      return [kind, sum / Math.max(1, filled.length)]
    }),
  )
  const average = (kind: string): number => lengths.get(kind) || 1
  const postings = new Map<string, Posting[]>()
  counted.forEach((fields, at) => {
    for (const [term, { weight, kind }] of termWeights(fields, average)) {
      const list = postings.get(term) ?? []
      postings.set(term, list)
      list.push({ at, weight, kind })
    }
  })
  // In a small catalogue documents are too few to count.
  const texts = documents.map(({ fields }) => fields.map(({ text }) => text).join('\n'))
  const counts = documents.length > smallCatalogue ? texts : texts.flatMap(sentencesOf)
  const holders = new Map<string, number>()
  for (const term of counts.flatMap((text) => [...countTerms(wordsOf(text)).keys()])) {
    holders.set(term, (holders.get(term) ?? 0) + 1)
  }
  const rarityOf = (held: number): number =>
    Math.log(1 + (counts.length - held + 0.5) / (held + 0.5))
  const rarest = Math.max(rarityOf(1), 0.1)
  const single = [...postings.keys()].filter((term) => !term.includes(' '))
  return {
    postings,
    rarity(term) {
      const held = holders.get(term) ?? 0
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

/** BM25F: a term's occurrences in all fields of a document, by the fields' weights and lengths. */
function termWeights(
  fields: readonly (RankField & { terms: ReadonlyMap<string, number>; length: number })[],
  average: (kind: string) => number,
): Map<string, { weight: number; kind: string; most: number }> {
  const weighted = new Map<string, { weight: number; kind: string; most: number }>()
  for (const { kind, weight, terms, length } of fields) {
    const dilution = 1 + weights.dilution * (length / average(kind) - 1)
    for (const [term, times] of terms) {
      const value = (weight * times) / dilution
      const known = weighted.get(term) ?? { weight: 0, kind, most: 0 }
      const top = value > known.most ? { kind, most: value } : {}
      weighted.set(term, { ...known, ...top, weight: known.weight + value })
    }
  }
  return weighted
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
  const similar = index.postings.has(stem) ? undefined : similarWord(stem, index)
  if (similar === undefined) return { term: stem, text, weight: index.rarity(stem) }
  const weight = weights.similar * index.rarity(similar)
  return { term: similar, text: `${text} (${similar})`, weight }
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

function addPart(found: Found, at: number, part: RankPart): void {
  found.set(at, [...(found.get(at) ?? []), part])
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

/**
 * The probability that the first is meant, whatever the size of the catalogue: a logistic regression,
 * fitted on MetaTool without and with examples, and on single steps over large and small catalogues.
 */
function sureness(
  [first, second, ...others]: readonly Ranked[],
  { words, reach }: Query,
  { documents, postings, rarest }: Index,
  likeness: ReadonlyMap<number, Likeness>,
): number {
  if (first === undefined || reach === 0) return 0
  const { at = -1, name = [] } = documents.get(first.id) ?? {}
  const said = new Set(words.map(({ term }) => term))
  const held = words.filter(({ term }) => postings.get(term)?.some((one) => one.at === at))
  const lead = 1 - (second?.score ?? 0) / first.score
  const reached = (first.score * rarest) / reach
  const example = likeness.get(at)?.closest ?? 0
  const rivals = others.filter((one) => one.score > 0.8 * first.score).length
  const sum =
    -4.2 +
    Math.log(1 + reached) +
    1.4 * lead +
    1.3 * Math.sqrt(lead * Math.min(1, reached)) +
    (2 * held.reduce((total, { weight }) => total + weight, 0)) / reach +
    (0.6 * name.filter((word) => said.has(word)).length) / Math.max(1, name.length) -
    0.5 * example +
    0.9 * Math.log(1 + words.length) -
    0.4 * Math.log(1 + rivals)
  const probability = 1 / (1 + Math.exp(-sum))
  return example > 0.95 && lead > 0.1 ? Math.max(probability, 0.95) : probability
}

function sumOf(parts: readonly RankPart[]): number {
  return parts.reduce((sum, { score }) => sum + score, 0)
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
