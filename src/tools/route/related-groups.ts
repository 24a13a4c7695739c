import { subjectGroups } from './subject-words.ts'
import { lookingGroups, synonymGroups } from './synonym-words.ts'
import { stemmed } from './words.ts'

/** Groups of related words, by the scored form of their members. */
export interface RelatedGroups {
  /** Numbers of the groups that a word belongs to. */
  groupsOf(word: string): readonly number[]
  membersOf(group: number): readonly string[]
}

/** Read when the first request needs it. */
export function synonyms(): RelatedGroups {
  return (knownSynonyms ??= readGroups(synonymGroups))
}

export function subjects(): RelatedGroups {
  return (knownSubjects ??= readGroups(subjectGroups))
}

/** Verbs that say that something is required, and hardly what. */
export function isLookingVerb(word: string): boolean {
  return synonyms()
    .groupsOf(word)
    .some((group) => group < lookingGroups)
}

let knownSynonyms: RelatedGroups | undefined
let knownSubjects: RelatedGroups | undefined

/** Only what a request asks for is stemmed. */
function readGroups(lines: readonly string[]): RelatedGroups {
  const written = lines.map((line) => line.split(' '))
  const byStart = new Map<string, { word: string; group: number }[]>()
  written.forEach((words, group) => {
    for (const word of words) {
      const start = word.slice(0, 3)
      const known = byStart.get(start)
      if (known === undefined) byStart.set(start, [{ word, group }])
      else known.push({ word, group })
    }
  })
  const groups = new Map<string, number[]>()
  const members = new Map<number, readonly string[]>()
  return {
    groupsOf(word) {
      const start = word.slice(0, 3)
      for (const one of byStart.get(start) ?? []) {
        const stem = stemmed(one.word)
        const known = groups.get(stem)
        if (known === undefined) groups.set(stem, [one.group])
        else if (!known.includes(one.group)) known.push(one.group)
      }
      byStart.delete(start)
      return groups.get(word) ?? []
    },
    membersOf(group) {
      let found = members.get(group)
      if (found === undefined) {
        found = [...new Set((written[group] ?? []).map(stemmed))]
        members.set(group, found)
      }
      return found
    },
  }
}
