import { addTo } from '#core/lists'
import {
  charactersOf,
  comparedWords,
  sentencesOf,
  stemOf,
  stopWords,
  termsOf,
  wordsOf,
} from './words.ts'

/** A possible meaning of a sentence: fields of text, and example sentences that mean it. */
export interface RankDocument {
  id: string
  /** The words of its name; a sentence with these words probably means the document. */
  name: string
  fields: readonly RankField[]
  examples?: readonly RankExample[] | undefined
}

export interface RankField {
  /** The field's name in an explanation. */
  kind: string
  text: string
  weight: number
  /** Describes what the document takes, not its purpose. The rarity of a word does not depend on it. */
  isDetail?: boolean | undefined
  /**
   * Names what several documents belong to, such as a server. The rarity of its words counts these documents
   * as one.
   */
  isShared?: boolean | undefined
}

export interface RankExample {
  text: string
  /** The sentence does not mean the document. */
  wrong?: boolean | undefined
}

export interface RankOptions {
  /**
   * The sentence is a request for one of the documents, so related words, loose pairs and parts of words count too. A
   * prompt has too many words beside the point for that.
   */
  isSearch?: boolean | undefined
}

/** The data that ranking looks up. A stored index is read only for the words of a sentence. */
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
  /** The number of sentences and examples for likeness. */
  compared: number
  /** The share of documents with enough examples, 0 to 1. */
  taught: number
}

/** Flat lists of numbers, because an index has very many: `AT` is the position of a document. */
export interface IndexedTerm {
  /** The number of counted texts with the term. */
  held: number
  /** `AT, the term's weight before saturation, the kind of the field with its highest weight`. */
  postings: number[]
  /** The number of compared sentences and examples with the term. */
  holders: number
  /** `AT, the term's part in the centre of the document's sentences and examples`. */
  centre: number[]
  /** `AT, number of the example, the term's part`; negative for an example that is wrong for the document. */
  examples: number[]
}

/** An index in memory, in the parts that are stored. */
export interface IndexParts {
  catalogue: Catalogue
  terms: ReadonlyMap<string, IndexedTerm>
  /** Terms that are single words, by their first letter. */
  words: ReadonlyMap<string, readonly string[]>
  examples: readonly string[]
}

/** How much a long field dilutes its words (BM25's b), in a search and for prompts. */
const dilution = { search: 0.5, prompt: 0.75 } as const
/** The weight of a word in an example of a prompt, relative to one in the description. */
const exampleWeight = 0.3
const pairInLikeness = 0.4
/**
 * A word of grammar says how a sentence is built, not what it is about. In a prompt it does not count: people ask for
 * other work in the same words.
 */
const grammarInLikeness = { search: 0.6, prompt: 0 } as const
const grammarStems: ReadonlySet<string> = new Set([...stopWords].map(stemOf))
/** The weight of the document's sentences in its centre, relative to one example. */
const sentencesInCentre = 2
/** Fields with at least this weight describe the purpose of the document. */
const purposeWeight = 1
const enoughExamples = 4
/**
 * Up to this number of documents, the rarity of a word is counted over their sentences. The long bodies of skills have
 * many sentences, in which common words become rare, so for prompts this is only done where documents are few.
 */
const smallCatalogue = { search: 100, prompt: 10 } as const

/**
 * Indexes the words of documents. If several have the same ID, the first counts. For a search, the forms of words and
 * single characters of scripts without blanks are indexed too.
 */
export function indexDocuments(
  allDocuments: readonly RankDocument[],
  { isSearch = false }: RankOptions = {},
): IndexParts {
  const byId = new Map(allDocuments.toReversed().map((document) => [document.id, document]))
  const sorted = [...byId.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const documents = isSearch ? withMentions(sorted) : withMentions(sorted).map(withExampleFields)
  const texts = documents.map(({ fields }) => {
    const countedFields = fields.filter(({ isDetail }) => isDetail !== true)
    const owner = fields.filter(({ isShared }) => isShared).map(({ text }) => text)
    return { text: countedFields.map(({ text }) => text).join('\n'), owner: owner.join(' ') }
  })
  const kinds = [...new Set(documents.flatMap(({ fields }) => fields.map(({ kind }) => kind)))]
  const terms = new Map<string, IndexedTerm>()
  const entry = (term: string): IndexedTerm => {
    const value = terms.get(term) ?? { held: 0, postings: [], holders: 0, centre: [], examples: [] }
    terms.set(term, value)
    return value
  }
  addPostings(documents, kinds, entry, isSearch)
  const words = Map.groupBy(
    [...terms.keys()].filter((term) => !term.includes(' ')),
    (word) => word.charAt(0),
  )
  // A small catalogue has too few documents, so their sentences are counted.
  const countedTexts =
    documents.length > (isSearch ? smallCatalogue.search : smallCatalogue.prompt)
      ? texts
      : texts.flatMap(({ text, owner }) => sentencesOf(text).map((part) => ({ text: part, owner })))
  const isCounted = countOnce()
  for (const { text, owner } of countedTexts) {
    const stems = wordsOf(text).map(({ stem }) => stem)
    for (const term of new Set(indexedTerms(stems, isSearch))) {
      if (isCounted(term, owner)) entry(term).held++
    }
  }
  const examples = documents.flatMap((document) => document.examples?.map(({ text }) => text) ?? [])
  const compared = examples.length > 0 ? addLikeness(documents, entry, isSearch) : 0
  const parts = documents.map((document) => {
    const rightExamples = (document.examples ?? []).filter(({ wrong }) => wrong !== true)
    return Math.min(1, rightExamples.length / enoughExamples)
  })
  const catalogue = {
    ids: documents.map(({ id }) => id),
    kinds,
    counted: countedTexts.length,
    compared,
    taught: parts.reduce((sum, part) => sum + part, 0) / Math.max(1, documents.length),
  }
  return { catalogue, terms, words, examples }
}

/** Returns a filter that lets a word of an owner's name pass once for this owner. */
function countOnce(): (term: string, owner: string) => boolean {
  const owners = new Map<string, Map<string, boolean>>()
  return (term, owner) => {
    const words =
      owners.get(owner) ?? new Map(wordsOf(owner).map(({ stem }) => [stem, false] as const))
    owners.set(owner, words)
    if (words.get(term) === true) return false
    if (words.has(term)) words.set(term, true)
    return true
  }
}

type Entry = (term: string) => IndexedTerm

/** Moves a sentence about another document, `for charts see make-chart`, to that document. */
function withMentions(documents: readonly RankDocument[]): readonly RankDocument[] {
  const names = new Set(documents.map(({ name }) => name).filter((name) => /\w[-_]\w/.test(name)))
  const mentions = new Map<string, RankField[]>()
  const isAboutItself = (sentence: string, document: string, field: RankField): boolean => {
    const mentionMatches = [...sentence.matchAll(namePattern)].filter(
      ([name]) => name !== document && names.has(name),
    )
    let start = 0
    for (const [at, { 0: name, index }] of mentionMatches.entries()) {
      const text = sentence.slice(start, mentionMatches[at + 1]?.index)
      addTo(mentions, name, { ...field, kind: 'mention', text })
      start = index + name.length
    }
    return mentionMatches.length === 0
  }
  const fieldsOf = documents.map(({ name, fields }) =>
    fields.map((field) => {
      const sentences = sentencesOf(field.text).filter((text) => isAboutItself(text, name, field))
      return { ...field, text: sentences.join('\n') }
    }),
  )
  return documents.map((document, at) => {
    return {
      ...document,
      fields: [...(fieldsOf[at] ?? []), ...(mentions.get(document.name) ?? [])],
    }
  })
}

/**
 * Adds the words of examples to the words of a document. Each example is a field, so that a long one does not count
 * more than a short one.
 */
function withExampleFields(document: RankDocument): RankDocument {
  const rightExamples = (document.examples ?? []).filter(({ wrong }) => wrong !== true)
  const fields = rightExamples.map(({ text }) => {
    return { kind: 'examples', text, weight: exampleWeight }
  })
  return { ...document, fields: [...document.fields, ...fields] }
}

const namePattern = /[A-Za-z0-9]{1,60}(?:[-_][A-Za-z0-9]{1,60}){1,12}/g

/** Returns the terms of a text's stems that are indexed. */
function indexedTerms(stems: readonly string[], isSearch: boolean): readonly string[] {
  const characters = isSearch ? stems.flatMap(charactersOf) : []
  return [...termsOf(stems), ...characters]
}

/** No stem begins with it. */
const formSign = '='

/** Returns the term for a word in exactly this form. */
export function formOf(word: string): string {
  return `${formSign}${word}`
}

/** Returns each word in its form, and the number of documents that have it. */
export function* holdersOfForms(
  terms: ReadonlyMap<string, IndexedTerm>,
): Generator<[word: string, holders: number]> {
  for (const [term, { postings }] of terms) {
    if (term.startsWith(formSign)) yield [term.slice(formSign.length), postings.length / 3]
  }
}

/** Adds the weights of BM25F: a term's occurrences in all fields, by the fields' weights and lengths. */
function addPostings(
  documents: readonly RankDocument[],
  kinds: readonly string[],
  entry: Entry,
  isSearch: boolean,
) {
  const fieldStems = documents.map(({ fields }) =>
    fields.map((field) => {
      const words = wordsOf(field.text)
      const stems = words.map(({ stem }) => stem)
      const forms = isSearch ? words.map(({ text }) => formOf(text)) : []
      const terms = Map.groupBy([...indexedTerms(stems, isSearch), ...forms], (term) => term)
      return { ...field, terms, length: words.length }
    }),
  )
  const averages = kinds.map((name) => {
    const fields = fieldStems.flat().filter(({ kind, length }) => kind === name && length > 0)
    return fields.reduce((sum, { length }) => sum + length, 0) / Math.max(1, fields.length)
  })
  for (const [at, fields] of fieldStems.entries()) {
    const totals = new Map<string, { weight: number; kind: number; most: number }>()
    for (const { kind: name, weight, terms, length } of fields) {
      const kind = kinds.indexOf(name)
      const longer =
        1 + (isSearch ? dilution.search : dilution.prompt) * (length / (averages[kind] || 1) - 1)
      for (const [term, { length: times }] of terms) {
        const value = (weight * times) / longer
        const total = totals.get(term) ?? { weight: 0, kind, most: 0 }
        const top = value > total.most ? { kind, most: value } : {}
        totals.set(term, { ...total, ...top, weight: total.weight + value })
      }
    }
    for (const [term, { weight, kind }] of totals) entry(term).postings.push(at, weight, kind)
  }
}

/**
 * Adds the parts of terms in examples and in the centres of documents. A centre starts with the document's
 * sentences.
 */
function addLikeness(documents: readonly RankDocument[], entry: Entry, isSearch: boolean): number {
  const texts = documents.map(({ fields, examples: allExamples = [] }) => {
    const purposes = fields.filter(({ weight }) => weight >= purposeWeight)
    const sentences = purposes.flatMap(({ text }) => sentencesOf(text)).map(allTerms)
    const examples = allExamples.map((example) => ({ ...example, terms: allTerms(example.text) }))
    return { sentences, examples }
  })
  const comparedTexts = texts.flatMap(({ sentences, examples }) => [
    ...sentences,
    ...examples.map(({ terms }) => terms),
  ])
  for (const terms of comparedTexts) for (const term of terms) entry(term).holders++
  const vectorOf = (terms: ReadonlySet<string>): [string, number][] =>
    vector(terms, comparedTexts.length, isSearch, (term) => entry(term).holders)
  let number = 0
  for (const [at, { sentences, examples }] of texts.entries()) {
    const sum = new Map<string, number>()
    const add = ([term, value]: [string, number]): unknown =>
      sum.set(term, (sum.get(term) ?? 0) + value)
    for (const part of sentences.flatMap(vectorOf)) add(part)
    for (const [term, value] of unit([...sum])) sum.set(term, sentencesInCentre * value)
    for (const { terms, wrong = false } of examples) {
      for (const part of vectorOf(terms)) {
        entry(part[0]).examples.push(at, number, (wrong ? -1 : 1) * part[1])
        if (!wrong) add(part)
      }
      number++
    }
    for (const [term, value] of unit([...sum])) entry(term).centre.push(at, value)
  }
  return comparedTexts.length
}

/**
 * Returns the weights of terms in likeness as a unit vector; `comparedCount`: the number of compared texts.
 */
export function vector(
  terms: ReadonlySet<string>,
  comparedCount: number,
  isSearch: boolean,
  holdersOf: (term: string) => number | undefined,
): [string, number][] {
  const grammar = isSearch ? grammarInLikeness.search : grammarInLikeness.prompt
  const isGrammar = (term: string): boolean =>
    grammarStems.has(term) || (!isSearch && term.split(' ').every((word) => grammarStems.has(word)))
  const weights = Array.from(terms, (term): [string, number] => {
    const holders = holdersOf(term) ?? 0
    // Among many texts, a common word says little, and its list of texts is long.
    const isCommon = comparedCount > 1000 && holders > comparedCount / 20
    const rarity = isCommon ? 0 : Math.log(1 + comparedCount / (holders + 0.5))
    if (isGrammar(term)) return [term, grammar * rarity]
    return [term, term.includes(' ') ? pairInLikeness * rarity : rarity]
  })
  return unit(weights.filter(([, weight]) => weight > 0))
}

/** Returns the stems of all words, including grammar, and the pairs of neighbours. */
export function allTerms(text: string): Set<string> {
  return new Set(termsOf(comparedWords(text).map(stemOf)))
}

function unit(entries: readonly [string, number][]): [string, number][] {
  const length = Math.sqrt(entries.reduce((sum, [, value]) => sum + value ** 2, 0))
  return entries.map(([term, value]) => [term, length === 0 ? value : value / length])
}
