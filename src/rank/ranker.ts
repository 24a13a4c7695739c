import { editDistance } from '../core/text.ts'
import { type Likeness, prepareLikeness } from './likeness.ts'
import { addTo, plainWords, sentencesOf, stemOf, termsOf, wordsOf } from './words.ts'

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

/** Ranks documents for a sentence. */
type Ranker = (sentence: string, meaning?: ReadonlyMap<string, number>) => Ranking

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
  const byId = new Map(documents.toReversed().map((document) => [document.id, document]))
  const all = withMentions([...byId.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1)))
  const index = indexOf(all)
  const likenessOf = prepareLikeness(all)

  return (sentence, meaning) => {
    const query = readQuery(sentence, index)
    const likeness = likenessOf(sentence)
    const found = wordParts(query, index)
    addLikeness(found, likeness, query.reach)
    const ranking = () => {
      const ranked = inOrder(found, index)
      return { ranked, probability: sureness(ranked, query, index, likeness) }
    }
    let best = ranking()
    if (meaning !== undefined && best.probability < sureOfWords) {
      const reach = weights.meaning * Math.max(query.reach, index.rarest)
      for (const [at, { id }] of all.entries()) {
        const likely = Math.max(0, meaning.get(id) ?? 0)
        addTo(found, at, { kind: 'meaning', text: likely.toFixed(2), score: likely * reach })
      }
      best = ranking()
    }
    const words = query.words.map(({ text, weight }) => {
      return { word: text, weight: rounded(weight / index.rarest) }
    })
    return { ranked: best.ranked, probability: rounded(best.probability), words }
  }
}

/** Credits a sentence that names another document, `for charts see make-chart`, to that one. */
function withMentions(documents: readonly RankDocument[]): readonly RankDocument[] {
  const names = new Set(documents.map(({ name }) => name).filter((name) => /\w[-_]\w/.test(name)))
  if (names.size === 0) return documents
  const mentions = new Map<string, RankField[]>()
  const isOwn = (sentence: string, own: string, field: RankField): boolean => {
    const said = sentence.match(/[A-Za-z0-9]{1,60}(?:[-_][A-Za-z0-9]{1,60}){1,12}/g) ?? []
    const others = new Set(said.filter((name) => name !== own && names.has(name)))
    for (const name of others) addTo(mentions, name, { ...field, kind: 'mention', text: sentence })
    return others.size === 0
  }
  const own = documents.map((document) => {
    const fields = document.fields.map((field) => {
      const sentences = sentencesOf(field.text)
      const kept = sentences.filter((sentence) => isOwn(sentence, document.name, field))
      return { ...field, text: kept.join('\n') }
    })
    return { ...document, fields }
  })
  return own.map((document) => {
    const { name, fields } = document
    return { ...document, fields: [...fields, ...(mentions.get(name) ?? [])] }
  })
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
  documents: readonly RankDocument[]
  postings: ReadonlyMap<string, readonly Posting[]>
  rarity(term: string): number
  /** The rarity of a word that one document has. */
  rarest: number
  /** The single words of all documents. */
  vocabulary: readonly string[]
}

function indexOf(documents: readonly RankDocument[]): Index {
  const postings = postingsOf(documents)
  // In a small catalogue documents are too few to count.
  const texts = documents.map(({ fields }) => fields.map(({ text }) => text).join('\n'))
  const counted = documents.length > smallCatalogue ? texts : texts.flatMap(sentencesOf)
  const holders = Map.groupBy(
    counted.flatMap((text) => [...new Set(termsOf(wordsOf(text).map(({ stem }) => stem)))]),
    (term) => term,
  )
  const rarityOf = (held: number): number =>
    Math.log(1 + (counted.length - held + 0.5) / (held + 0.5))
  const rarest = Math.max(rarityOf(1), 0.1)
  return {
    documents,
    postings,
    rarity(term) {
      const held = holders.get(term)?.length
      return held === undefined ? rarest : Math.max(rarityOf(held), 0.05)
    },
    rarest,
    vocabulary: [...postings.keys()].filter((term) => !term.includes(' ')),
  }
}

/** BM25F: a term's occurrences in all fields of a document, by the fields' weights and lengths. */
function postingsOf(documents: readonly RankDocument[]): Map<string, Posting[]> {
  const counted = documents.map(({ fields }) =>
    fields.map((field) => {
      const stems = wordsOf(field.text).map(({ stem }) => stem)
      const terms = Map.groupBy(termsOf(stems), (term) => term)
      return { ...field, terms, length: stems.length }
    }),
  )
  const filled = counted.flat().filter(({ length }) => length > 0)
  const averages = new Map(
    Array.from(
      Map.groupBy(filled, ({ kind }) => kind),
      ([kind, fields]) => [
        kind,
        fields.reduce((sum, { length }) => sum + length, 0) / fields.length,
      ],
    ),
  )
  const postings = new Map<string, Posting[]>()
  for (const [at, fields] of counted.entries()) {
    const found = new Map<string, Posting & { most: number }>()
    for (const { kind, weight, terms, length } of fields) {
      const dilution = 1 + weights.dilution * (length / (averages.get(kind) ?? 1) - 1)
      for (const [term, { length: times }] of terms) {
        const value = (weight * times) / dilution
        const known = found.get(term) ?? { at, weight: 0, kind, most: 0 }
        const top = value > known.most ? { kind, most: value } : {}
        found.set(term, { ...known, ...top, weight: known.weight + value })
      }
    }
    for (const [term, posting] of found) addTo(postings, term, posting)
  }
  return postings
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
  for (const [at, { text, stem }] of read.entries()) {
    if (!words.has(stem)) words.set(stem, queryWord(text, stem, index))
    const next = read[at + 1]
    const term = `${stem} ${next?.stem ?? ''}`
    if (next === undefined || !index.postings.has(term)) continue
    const weight = weights.pair * index.rarity(term)
    pairs.set(term, { term, text: `${text} ${next.text}`, weight })
  }
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
  const near = vocabulary.filter(
    (other) => other.startsWith(word.charAt(0)) && other.length >= 4 && gap(other) <= 4,
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

function inOrder(found: Found, { documents, rarest }: Index): Ranked[] {
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
  const at = documents.findIndex(({ id }) => id === first.id)
  const name = [...new Set(plainWords(documents[at]?.name ?? '').map(stemOf))]
  const near = likeness.get(at)?.closest ?? 0
  const said = new Set(words.map(({ term }) => term))
  const held = words.filter(({ term }) => postings.get(term)?.some((one) => one.at === at))
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
