import type { FieldIndex } from './field-index.ts'
import { type RelatedGroups, subjects, synonyms } from './related-groups.ts'
import type { PartKind, FieldName } from './route.ts'
import type { RequestWords } from './read-words.ts'
import { lookingGroups } from './synonym-words.ts'
import type { SimilarWord } from './similar-words.ts'
import { weights } from './weights.ts'

/** Words of a request that count for tools, and how much for each. */
export interface Evidence {
  kind: Exclude<PartKind, FieldName> | 'word'
  /** What of the request it is, and what it met. */
  text: string
  /** Positions of tools. */
  tools: readonly number[]
  /** One for each of `tools`. */
  scores: readonly number[]
}

/** Everything in the words of a request that speaks for a tool, in the order of the words. */
export function* gatherEvidence(
  request: RequestWords,
  index: FieldIndex,
  similarTo: (word: string, least: number) => readonly SimilarWord[],
): Generator<Evidence> {
  const openSynonyms = new Map<number, GroupUse>()
  const openSubjects = new Map<number, GroupUse>()
  let unknown = 0
  for (const [word, weight] of request.words) {
    const found = index.find(word)
    if (found !== undefined) {
      const rarity = wordRarity(word, found.documents.length, index) * weight
      yield {
        kind: 'word',
        text: word,
        tools: found.documents,
        scores: found.weights.map((count) => rarity * saturate(count)),
      }
    } else if (unknown < mostUnknown) {
      unknown += 1
      for (const similar of similarTo(word, weights.similarity)) {
        yield* similarEvidence(word, weight, similar, index)
      }
    }
    const rest = weight * (found === undefined ? 1 : weights.knownWord)
    open(openSynonyms, synonyms(), word, rest, Math.max)
    if (!request.weak.has(word))
      open(openSubjects, subjects(), word, rest, (before, now) => before + now)
  }
  yield* groupEvidence('synonym', openSynonyms, synonyms(), index)
  yield* groupEvidence('subject', openSubjects, subjects(), index)
}

/** Unknown words for which similar ones are looked up; the search costs more than the others. */
const mostUnknown = 32

/**
 * Of the verbs of looking, the rarity of all that mean the same: that only one description happens
 * to have a `show` says nothing about what is to be shown.
 */
function wordRarity(word: string, documents: number, index: FieldIndex): number {
  let most = documents
  for (const group of synonyms().groupsOf(word)) {
    if (group >= lookingGroups) continue
    most = Math.max(most, countMembers(synonyms().membersOf(group), index).tools.length)
  }
  return index.rarity(most)
}

function saturate(count: number): number {
  return (count * (weights.saturation + 1)) / (count + weights.saturation)
}

function* similarEvidence(
  word: string,
  weight: number,
  similar: SimilarWord,
  index: FieldIndex,
): Generator<Evidence> {
  const found = index.find(similar.word)
  if (found === undefined) return
  const rarity = index.rarity(found.documents.length) * weight
  const factor = rarity * weights.similarWord * similar.likeness
  yield {
    kind: 'similar word',
    text: `${word} ~ ${similar.word}`,
    tools: found.documents,
    scores: found.weights.map((count) => factor * saturate(count)),
  }
}

/** A group that words of the request belong to. */
interface GroupUse {
  strength: number
  words: string[]
}

function open(
  uses: Map<number, GroupUse>,
  groups: RelatedGroups,
  word: string,
  weight: number,
  join: (before: number, now: number) => number,
): void {
  const numbers = groups.groupsOf(word)
  // A word of many subjects says little of each.
  const strength = weight / Math.sqrt(numbers.length)
  for (const number of numbers) {
    const use = uses.get(number)
    if (use === undefined) uses.set(number, { strength, words: [word] })
    else {
      use.strength = join(use.strength, strength)
      use.words.push(word)
    }
  }
}

function* groupEvidence(
  kind: 'synonym' | 'subject',
  uses: ReadonlyMap<number, GroupUse>,
  groups: RelatedGroups,
  index: FieldIndex,
): Generator<Evidence> {
  for (const [number, { strength, words }] of uses) {
    const { tools, counts } = countMembers(groups.membersOf(number), index)
    if (tools.length === 0) continue
    const rarity = index.rarity(tools.length)
    const factor =
      rarity * (kind === 'synonym' ? weights.synonym * strength : subjectFactor(strength))
    yield {
      kind,
      text: words.join(' '),
      tools,
      scores: counts.map((count) => factor * saturate(count)),
    }
  }
}

function subjectFactor(strength: number): number {
  const limit = weights.subjectSaturation
  return (weights.subject * strength * (1 + limit)) / (strength + limit)
}

/** How much each tool has of the words of a group together. */
function countMembers(
  members: readonly string[],
  index: FieldIndex,
): { tools: number[]; counts: number[] } {
  const sums = new Map<number, number>()
  for (const member of members) {
    const found = index.find(member)
    found?.documents.forEach((document, at) => {
      sums.set(document, (sums.get(document) ?? 0) + (found.weights[at] ?? 0))
    })
  }
  return { tools: [...sums.keys()], counts: [...sums.values()] }
}
