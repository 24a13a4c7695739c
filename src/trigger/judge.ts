import type { Ranker } from '../rank/ranker.ts'
import { plainWords } from '../rank/words.ts'
import type { TriggerDeclaration } from '../skill/model.ts'
import type { TriggerMatch, TriggerSkill } from './match.ts'

/** A trigger with examples fires from this probability on: 95 of 100 such prompts then mean its skill. */
export const sureFrom = 0.9

const longestPrompt = 2000

export interface ExampleVerdict {
  name: string
  probability: number
  example: string
  words: readonly string[]
  isSure: boolean
}

export function judge(prompt: string, rank: Ranker): ExampleVerdict | undefined {
  const typed = prompt.slice(0, longestPrompt)
  // A call by name means nothing else.
  if (/^\s*[/$]/.test(typed)) return undefined
  const { ranked, probability, words: all } = rank(typed)
  const [first] = ranked
  if (first === undefined) return undefined
  const example = first.parts.find(({ kind }) => kind === 'example')?.text ?? ''
  const isSame = plainWords(example).join(' ') === plainWords(typed).join(' ')
  const heaviest = all.toSorted((a, b) => b.weight - a.weight).slice(0, 5)
  const words = heaviest.map(({ word }) => word)
  return { name: first.id, probability, example, words, isSure: isSame || probability >= sureFrom }
}

/** The triggers with examples that a verdict fires; none where it is not sure. */
export function matchesOf<Skill extends TriggerSkill>(
  verdict: ExampleVerdict | undefined,
  skill: Skill | undefined,
): TriggerMatch<Skill>[] {
  if (verdict?.isSure !== true || skill === undefined) return []
  const { example } = verdict
  const own = skill.triggers.filter(isByExamples)
  const alike = own.filter((trigger) => examplesOf(trigger).includes(example))
  return (alike.length > 0 ? alike : own).map((trigger) => {
    return { skill, trigger, text: example, promptLine: 1 }
  })
}

export function isByExamples({ when }: TriggerDeclaration): boolean {
  return when?.kind === 'examples'
}

export function examplesOf({ when }: TriggerDeclaration): readonly string[] {
  return when?.kind === 'examples' ? when.examples : []
}
