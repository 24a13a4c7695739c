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

/** All that ranking looks up. It can be stored, and then only the words of a sentence are read. */
export interface RankIndex {
  catalogue: Catalogue
  term(term: string): IndexedTerm | undefined
  /** The single words that begin with a letter. */
  wordsBy(letter: string): readonly string[]
  example(number: number): string | undefined
}

export interface Catalogue {
  documents: readonly { id: string; name: string }[]
  kinds: readonly string[]
  counted: number
  /** The part of the documents that have examples enough, 0 to 1. */
  taught: number
}

/** Lists of numbers, because there are very many: `AT` is the place of a document. */
export interface IndexedTerm {
  /** The counted texts that have it. */
  held: number
  /** `AT, its weight before saturation, the kind of field that has it most`. */
  postings: readonly number[]
  /** Documents that have it in a field or an example. */
  holders: number
  /** `AT, its part in the centre of all that means the document`. */
  centre: readonly number[]
  /** `AT, number of the example, its part`; negative where the example does not mean the document. */
  examples: readonly number[]
}

export interface IndexParts {
  catalogue: Catalogue
  terms: ReadonlyMap<string, IndexedTerm>
  words: ReadonlyMap<string, readonly string[]>
  examples: readonly string[]
}

/** How soon a long field dilutes its words (BM25's b). */
const dilution = 0.45
/** How much a pair of neighbours counts in likeness, against a word. */
const pairInLikeness = 0.3
/** From so many examples on a document counts as taught. */
const enoughExamples = 4
/** Up to so many documents the rarity of a word is counted over their sentences. */
const smallCatalogue = 100

/** Counts the words of documents; of several with one id the first counts. */
export function indexDocuments(given: readonly RankDocument[]): IndexParts {
  const byId = new Map(given.toReversed().map((document) => [document.id, document]))
  const documents = withMentions([...byId.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1)))
  const texts = documents.map(({ fields }) => fields.map(({ text }) => text).join('\n'))
  const kinds = [...new Set(documents.flatMap(({ fields }) => fields.map(({ kind }) => kind)))]
  const terms = new Map<string, Counted>()
  const entry = (term: string): Counted => {
    const made = terms.get(term) ?? { held: 0, postings: [], holders: 0, centre: [], examples: [] }
    terms.set(term, made)
    return made
  }
  addPostings(documents, kinds, entry)
  const words = Map.groupBy(
    [...terms.keys()].filter((term) => !term.includes(' ')),
    (word) => word.charAt(0),
  )
  // In a small catalogue documents are too few to count.
  const counted = documents.length > smallCatalogue ? texts : texts.flatMap(sentencesOf)
  for (const text of counted) {
    for (const term of new Set(termsOf(wordsOf(text).map(({ stem }) => stem)))) entry(term).held++
  }
  const examples = documents.flatMap(({ examples: own = [] }) => own.map(({ text }) => text))
  if (examples.length > 0) addLikeness(documents, texts, entry)
  const parts = documents.map(({ examples: own = [] }) => Math.min(1, own.length / enoughExamples))
  const catalogue = {
    documents: documents.map(({ id, name }) => ({ id, name })),
    kinds,
    counted: counted.length,
    taught: parts.reduce((sum, part) => sum + part, 0) / Math.max(1, documents.length),
  }
  return { catalogue, terms, words, examples }
}

type Counted = Record<'held' | 'holders', number> &
  Record<'postings' | 'centre' | 'examples', number[]>

type Entry = (term: string) => Counted

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

/** BM25F: a term's occurrences in all fields of a document, by the fields' weights and lengths. */
function addPostings(documents: readonly RankDocument[], kinds: readonly string[], entry: Entry) {
  const counted = documents.map(({ fields }) =>
    fields.map((field) => {
      const stems = wordsOf(field.text).map(({ stem }) => stem)
      const terms = Map.groupBy(termsOf(stems), (term) => term)
      return { ...field, terms, length: stems.length }
    }),
  )
  const filled = counted.flat().filter(({ length }) => length > 0)
  const averages = kinds.map((kind) => {
    const fields = filled.filter((field) => field.kind === kind)
    return fields.reduce((sum, { length }) => sum + length, 0) / Math.max(1, fields.length)
  })
  for (const [at, fields] of counted.entries()) {
    const found = new Map<string, { weight: number; kind: number; most: number }>()
    for (const { kind: name, weight, terms, length } of fields) {
      const kind = kinds.indexOf(name)
      const longer = 1 + dilution * (length / (averages[kind] || 1) - 1)
      for (const [term, { length: times }] of terms) {
        const value = (weight * times) / longer
        const known = found.get(term) ?? { weight: 0, kind, most: 0 }
        const top = value > known.most ? { kind, most: value } : {}
        found.set(term, { ...known, ...top, weight: known.weight + value })
      }
    }
    for (const [term, { weight, kind }] of found) entry(term).postings.push(at, weight, kind)
  }
}

/** The parts of terms in examples and in the centres of documents, which are seeded with their own text. */
function addLikeness(documents: readonly RankDocument[], texts: readonly string[], entry: Entry) {
  const read = documents.map(({ examples = [] }, at) => {
    const own = allTerms(texts[at] ?? '')
    const given = examples.map((example) => ({ ...example, terms: allTerms(example.text) }))
    const all = new Set([...own, ...given.flatMap(({ terms }) => [...terms])])
    for (const term of all) entry(term).holders++
    return { own, given }
  })
  const vectorOf = (terms: Iterable<string>): [string, number][] =>
    unit(
      Array.from(terms, (term) => {
        return [term, likenessWeight(term, entry(term).holders, documents.length)]
      }),
    ).filter(([, value]) => value > 0)
  let number = 0
  for (const [at, { own, given }] of read.entries()) {
    const sum = new Map(vectorOf(own))
    for (const { terms, weight = 1, wrong = false } of given) {
      for (const [term, value] of vectorOf(terms)) {
        entry(term).examples.push(at, number, (wrong ? -1 : 1) * value * weight)
        if (!wrong) sum.set(term, (sum.get(term) ?? 0) + value * weight)
      }
      number++
    }
    for (const [term, value] of unit([...sum])) entry(term).centre.push(at, value)
  }
}

/** The weight of a term before vectors get their length; `all`: the number of documents. */
export function likenessWeight(term: string, holders = 0, all: number): number {
  // In a large catalogue what many documents have says nothing.
  if (all > smallCatalogue && holders > all / 4) return 0
  return Math.log(1 + all / (holders + 0.5)) * (term.includes(' ') ? pairInLikeness : 1)
}

/** The stems of a text, grammar included, and the pairs of neighbours. */
export function allTerms(text: string): Set<string> {
  return new Set(termsOf(plainWords(text).map(stemOf)))
}

export function unit(entries: readonly [string, number][]): [string, number][] {
  const length = Math.sqrt(entries.reduce((sum, [, value]) => sum + value ** 2, 0))
  return entries.map(([term, value]) => [term, length === 0 ? value : value / length])
}
