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
  wordsBy(letter: string): readonly string[]
  example(number: number): string | undefined
}

export interface Catalogue {
  ids: readonly string[]
  kinds: readonly string[]
  counted: number
  /** The sentences and examples that likeness is counted over. */
  compared: number
  /** The part of the documents that have examples enough, 0 to 1. */
  taught: number
}

/** Lists of numbers, because there are very many: `AT` is the place of a document. */
export interface IndexedTerm {
  /** The counted texts that have it. */
  held: number
  /** `AT, its weight before saturation, the kind of field that has it most`. */
  postings: number[]
  /** The compared sentences and examples that have it. */
  holders: number
  /** `AT, its part in the centre of all that means the document`. */
  centre: number[]
  /** `AT, number of the example, its part`; negative where the example does not mean the document. */
  examples: number[]
}

export type IndexParts = ReturnType<typeof indexDocuments>

/** How soon a long field dilutes its words (BM25's b). */
const dilution = 0.5
const pairInLikeness = 0.4
/** How much the document's own sentences count in its centre, against one example. */
const ownInCentre = 2
/** Fields from this weight on say what the document is for. */
const tellingWeight = 1
const enoughExamples = 4
/** Up to so many documents the rarity of a word is counted over their sentences. */
const smallCatalogue = 100

/** Counts the words of documents; of several with one id the first counts. */
export function indexDocuments(given: readonly RankDocument[]) {
  const byId = new Map(given.toReversed().map((document) => [document.id, document]))
  const documents = withMentions([...byId.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1)))
  const texts = documents.map(({ fields }) => fields.map(({ text }) => text).join('\n'))
  const kinds = [...new Set(documents.flatMap(({ fields }) => fields.map(({ kind }) => kind)))]
  const terms = new Map<string, IndexedTerm>()
  const entry = (term: string): IndexedTerm => {
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
  const compared = examples.length > 0 ? addLikeness(documents, entry) : 0
  const parts = documents.map(({ examples: own = [] }) => Math.min(1, own.length / enoughExamples))
  const catalogue = {
    ids: documents.map(({ id }) => id),
    kinds,
    counted: counted.length,
    compared,
    taught: parts.reduce((sum, part) => sum + part, 0) / Math.max(1, documents.length),
  }
  return { catalogue, terms, words, examples }
}

type Entry = (term: string) => IndexedTerm

/** Credits what a sentence says of another document, `for charts see make-chart`, to that one. */
function withMentions(documents: readonly RankDocument[]): readonly RankDocument[] {
  const names = new Set(documents.map(({ name }) => name).filter((name) => /\w[-_]\w/.test(name)))
  const mentions = new Map<string, RankField[]>()
  const isOwn = (sentence: string, own: string, field: RankField): boolean => {
    const others = [...sentence.matchAll(namePattern)].filter(
      ([name]) => name !== own && names.has(name),
    )
    let start = 0
    for (const [at, { 0: name, index }] of others.entries()) {
      const text = sentence.slice(start, others[at + 1]?.index)
      addTo(mentions, name, { ...field, kind: 'mention', text })
      start = index + name.length
    }
    return others.length === 0
  }
  const own = documents.map(({ name, fields }) =>
    fields.map((field) => {
      const kept = sentencesOf(field.text).filter((sentence) => isOwn(sentence, name, field))
      return { ...field, text: kept.join('\n') }
    }),
  )
  return documents.map((document, at) => {
    return { ...document, fields: [...(own[at] ?? []), ...(mentions.get(document.name) ?? [])] }
  })
}

const namePattern = /[A-Za-z0-9]{1,60}(?:[-_][A-Za-z0-9]{1,60}){1,12}/g

/** BM25F: a term's occurrences in all fields of a document, by the fields' weights and lengths. */
function addPostings(documents: readonly RankDocument[], kinds: readonly string[], entry: Entry) {
  const counted = documents.map(({ fields }) =>
    fields.map((field) => {
      const stems = wordsOf(field.text).map(({ stem }) => stem)
      const terms = Map.groupBy(termsOf(stems), (term) => term)
      return { ...field, terms, length: stems.length }
    }),
  )
  const averages = kinds.map((name) => {
    const fields = counted.flat().filter(({ kind, length }) => kind === name && length > 0)
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

/** The parts of terms in examples and in the centres of documents, which their own sentences begin. */
function addLikeness(documents: readonly RankDocument[], entry: Entry): number {
  const read = documents.map(({ fields, examples = [] }) => {
    const telling = fields.filter(({ weight }) => weight >= tellingWeight)
    const own = telling.flatMap(({ text }) => sentencesOf(text)).map(allTerms)
    const given = examples.map((example) => ({ ...example, terms: allTerms(example.text) }))
    return { own, given }
  })
  const compared = read.flatMap(({ own, given }) => [...own, ...given.map(({ terms }) => terms)])
  for (const terms of compared) for (const term of terms) entry(term).holders++
  const vectorOf = (given: ReadonlySet<string>): [string, number][] =>
    vector(given, compared.length, (term) => entry(term).holders)
  let number = 0
  for (const [at, { own, given }] of read.entries()) {
    const sum = new Map<string, number>()
    const add = ([term, value]: [string, number], weight: number): unknown =>
      sum.set(term, (sum.get(term) ?? 0) + value * weight)
    for (const part of own.flatMap(vectorOf)) add(part, 1)
    for (const [term, value] of unit([...sum])) sum.set(term, ownInCentre * value)
    for (const { terms, weight = 1, wrong = false } of given) {
      for (const part of vectorOf(terms)) {
        entry(part[0]).examples.push(at, number, (wrong ? -1 : 1) * part[1] * weight)
        if (!wrong) add(part, weight)
      }
      number++
    }
    for (const [term, value] of unit([...sum])) entry(term).centre.push(at, value)
  }
  return compared.length
}

/** What terms weigh in likeness, as a vector of length 1; `all`: how many texts are compared. */
export function vector(
  terms: ReadonlySet<string>,
  all: number,
  holdersOf: (term: string) => number | undefined,
): [string, number][] {
  const weighed = Array.from(terms, (term): [string, number] => {
    const holders = holdersOf(term) ?? 0
    // Where much is compared, a common word says little, and the list of who has it is long.
    const isCommon = all > 1000 && holders > all / 20
    const rarity = isCommon ? 0 : Math.log(1 + all / (holders + 0.5))
    return [term, term.includes(' ') ? pairInLikeness * rarity : rarity]
  })
  return unit(weighed.filter(([, weight]) => weight > 0))
}

/** Stems, grammar included, and the pairs of neighbours. */
export function allTerms(text: string): Set<string> {
  return new Set(termsOf(plainWords(text).map(stemOf)))
}

function unit(entries: readonly [string, number][]): [string, number][] {
  const length = Math.sqrt(entries.reduce((sum, [, value]) => sum + value ** 2, 0))
  return entries.map(([term, value]) => [term, length === 0 ? value : value / length])
}
