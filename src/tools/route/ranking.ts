import type { Category } from '../category/category.ts'
import { isChangingVerb } from './changing-verbs.ts'
import { likeness, prepareExamples, type PreparedExample } from './example-likeness.ts'
import { type FieldIndex, indexFields } from './field-index.ts'
import type { RequestWords } from './read-words.ts'
import type { PartKind, RouteExample } from './route.ts'
import { gatherEvidence } from './score.ts'
import { type SimilarWord, spellingIndex } from './similar-words.ts'
import type { RoutedTool, RoutedTools } from './routed-tool.ts'
import { addFit } from './slot-fit.ts'
import { fieldWeights, weights } from './weights.ts'
import { type FieldText, gatherWords, type WordTable } from './word-table.ts'
import { scoredWords } from './words.ts'

/** Tools made ready for scoring; positions are theirs. */
export interface Ranking {
  positions: ReadonlyMap<string, number>
  index: FieldIndex
  /** Rarity of a word that one tool alone has: the unit of scores. */
  unit: number
  /** Whether confirmed examples were learned for the tool. */
  hasExamples(position: number): boolean
  score(question: Question, note?: NotePart): Float64Array
}

export interface Question {
  request: RequestWords
  /** Positions of tools that are called by name. */
  named: readonly number[]
  /** Likeness of meaning by the tool's id, -1 to 1, where an embedding is configured. */
  meaning?: ReadonlyMap<string, number> | undefined
}

/** Hears of every part of every score, for explanations. */
export type NotePart = (
  position: number,
  kind: PartKind | 'word',
  text: string,
  score: number,
) => void

export interface RankingOptions {
  categories?: readonly Pick<Category, 'name' | 'keywords'>[] | undefined
  examples?: readonly RouteExample[] | undefined
}

export function prepareRanking({ tools, words }: RoutedTools, options: RankingOptions): Ranking {
  const positions = new Map(tools.map((tool, position) => [tool.id, position]))
  const learned = byTool(options.examples ?? [])
  const index = indexFields(
    learned.size === 0 ? [words] : [words, learnedWords(tools, learned)],
    fieldWeights,
  )
  const unit = index.rarity(1)
  let priors: readonly CategoryPrior[] | undefined
  const examples = prepareExamples(options.examples ?? [], positions, index)
  const names = (position: number): readonly string[] => tools[position]?.nameWords() ?? []
  const withExamples = new Set(examples.filter(({ wrong }) => !wrong).map(({ tool }) => tool))
  tools.forEach((tool, position) => {
    if (tool.hasExamples) withExamples.add(position)
  })
  let spelling: ReturnType<typeof spellingIndex> | undefined
  const similarTo = (word: string, least: number): readonly SimilarWord[] => {
    spelling ??= spellingIndex(new Set(tools.flatMap((_, position) => names(position))))
    return spelling(word, least)
  }
  return {
    positions,
    index,
    unit,
    hasExamples: (position) => withExamples.has(position),
    score(question, note) {
      const scores = new Float64Array(tools.length)
      const add = (
        position: number,
        kind: PartKind | 'word',
        text: string,
        score: number,
      ): void => {
        scores[position] = (scores[position] ?? 0) + score
        note?.(position, kind, text, score)
      }
      for (const { kind, text, tools: found, scores: parts } of gatherEvidence(
        question.request,
        index,
        similarTo,
      )) {
        found.forEach((position, at) => add(position, kind, text, parts[at] ?? 0))
      }
      priors ??= prepareCategories(tools, options.categories ?? [])
      addCategories(question.request, priors, index, add)
      addWholeNames(question.request, names, index, scores, add)
      for (const [id, value] of question.meaning ?? []) {
        const position = positions.get(id)
        if (position !== undefined) add(position, 'meaning', '', weights.meaning * unit * value)
      }
      addMemories(question.request, examples, index, unit, scores, add)
      addReserve(question.request, names, scores, add)
      addFit(question.request, tools, unit, scores, add)
      addNames(question.named, tools, scores, add)
      return scores
    },
  }
}

type Add = (position: number, kind: PartKind, text: string, score: number) => void

function byTool(examples: readonly RouteExample[]): Map<string, FieldText[]> {
  const texts = new Map<string, FieldText[]>()
  for (const { tool, request, weight, wrong } of examples) {
    if (wrong === true) continue
    const known = texts.get(tool)
    if (known === undefined) texts.set(tool, [{ text: request, weight }])
    else known.push({ text: request, weight })
  }
  return texts
}

/** What was learned stands in the last field, behind what is written. */
function learnedWords(
  tools: readonly RoutedTool[],
  learned: ReadonlyMap<string, readonly FieldText[]>,
): WordTable {
  const before = fieldWeights.slice(1).map(() => [])
  return gatherWords(
    tools.map(({ id }) => [...before, learned.get(id) ?? []]),
    fieldWeights.length,
  )
}

interface CategoryPrior {
  name: string
  keywords: ReadonlySet<string>
  positions: readonly number[]
}

/** Words of a category's name and keywords, in their scored form. */
function prepareCategories(
  tools: readonly RoutedTool[],
  categories: readonly Pick<Category, 'name' | 'keywords'>[],
): CategoryPrior[] {
  return categories.map(({ name, keywords }) => ({
    name,
    keywords: new Set(scoredWords(`${name} ${keywords.join(' ')}`)),
    positions: tools.flatMap(({ category }, position) => (category === name ? [position] : [])),
  }))
}

function addWholeNames(
  { words, weak }: RequestWords,
  names: (position: number) => readonly string[],
  index: FieldIndex,
  scores: Float64Array,
  add: Add,
): void {
  const rarities = new Map<string, number>()
  const rarityOf = (word: string): number => {
    const before = rarities.get(word)
    if (before !== undefined) return before
    const rarity = index.rarity(index.count(word))
    rarities.set(word, rarity)
    return rarity
  }
  scores.forEach((score, position) => {
    if (score <= 0) return
    const name = names(position)
    if (!name.some((word) => words.has(word))) return
    let met = 0
    let whole = 0
    for (const word of name) {
      const rarity = rarityOf(word) * (weak.has(word) ? weights.weakWord : 1)
      whole += rarity
      if (words.has(word)) met += rarity
    }
    if (met > 0)
      add(position, 'whole name', name.join(' '), (weights.wholeName * met * met) / whole)
  })
}

/** Little, because a category is a guess: it decides between tools for which as much speaks. */
function addCategories(
  { words }: RequestWords,
  priors: readonly CategoryPrior[],
  index: FieldIndex,
  add: Add,
): void {
  for (const { name, keywords, positions } of priors) {
    let hits = 0
    for (const [word, weight] of words) if (keywords.has(word)) hits += weight
    if (hits === 0) continue
    const score = (weights.category * index.rarity(positions.length) * 2 * hits) / (hits + 1)
    for (const position of positions) add(position, 'category', name, score)
  }
}

/** Where no change is asked for, a tool that is named after one stands back a little. */
function addReserve(
  { words }: RequestWords,
  names: (position: number) => readonly string[],
  scores: Float64Array,
  add: Add,
): void {
  for (const word of words.keys()) if (isChangingVerb(word)) return
  scores.forEach((score, position) => {
    const [verb = ''] = score > 0 ? names(position) : []
    if (score > 0 && isChangingVerb(verb)) add(position, 'changes', verb, -weights.reserve * score)
  })
}

/** What was confirmed or corrected for nearly the same request. */
function addMemories(
  { words }: RequestWords,
  examples: readonly PreparedExample[],
  index: FieldIndex,
  unit: number,
  scores: Float64Array,
  add: Add,
): void {
  const best = new Map<string, { example: PreparedExample; alike: number }>()
  for (const example of examples) {
    const alike = likeness(words.keys(), example, index) * example.weight
    const key = `${example.tool} ${String(example.wrong)}`
    if (alike >= leastAlike && alike > (best.get(key)?.alike ?? 0))
      best.set(key, { example, alike })
  }
  for (const { example, alike } of best.values()) {
    const { tool, wrong, request } = example
    if (!wrong) add(tool, 'asked before', request, weights.askedBefore * unit * alike)
  }
  for (const { example, alike } of best.values()) {
    const { tool, wrong, request } = example
    const score = scores[tool] ?? 0
    if (wrong) add(tool, 'corrected before', request, -weights.corrected * score * alike)
  }
}

const leastAlike = 0.6

/** Tools called by name stand before all others, and among themselves by their other scores. */
function addNames(
  named: readonly number[],
  tools: readonly RoutedTool[],
  scores: Float64Array,
  add: Add,
): void {
  if (named.length === 0) return
  const most = scores.reduce((before, score) => Math.max(before, score), 0)
  for (const position of named) {
    add(position, 'called by name', tools[position]?.name ?? '', most + 1)
  }
}
