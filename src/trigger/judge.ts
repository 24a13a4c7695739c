import type { Ranked, Ranker, Ranking, RankPart } from '../rank/ranker.ts'
import { plainWords, stemOf, wordsOf } from '../rank/words.ts'
import type { TriggerDeclaration } from '../skill/model.ts'
import type { TriggerMatch, TriggerSkill } from './match.ts'

/** A trigger with examples fires from this probability on: 95 of 100 such prompts then mean its skill. */
export const sureFrom = 0.85

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
  const ranking = rank(typed)
  const [first] = ranking.ranked
  if (first === undefined) return undefined
  const example = first.parts.find(({ kind }) => kind === 'example')?.text ?? ''
  const isSame = plainWords(example).join(' ') === plainWords(typed).join(' ')
  const probability = isSame ? 1 : probabilityOf(first, ranking, example)
  const heaviest = ranking.words.toSorted((a, b) => b.weight - a.weight).slice(0, 5)
  const words = heaviest.map(({ word }) => word)
  return { name: first.id, probability, example, words, isSure: probability >= sureFrom }
}

/**
 * A logistic regression, fitted by cross-validation on prompts for 25 skills: how far the first skill
 * is ahead, in all and by words of fields alone; the parts of the prompt that its fields and its
 * nearest example have; how much the prompt says.
 */
function probabilityOf(first: Ranked, { ranked, words }: Ranking, example: string): number {
  const [, ...others] = ranked
  const best = Math.max(0, ...others.map(byWords))
  const lead = 1 - (others[0]?.score ?? 0) / first.score
  const wordsLead = Math.max(-1, 1 - best / Math.max(byWords(first), 1e-9))
  const all = words.reduce((sum, { weight }) => sum + weight, 0)
  const partOf = (isIn: (word: string) => boolean): number =>
    words.reduce((sum, { word, weight }) => (isIn(word) ? sum + weight : sum), 0) / all
  const inFields = new Set(first.parts.filter(isOfField).map(({ text }) => text))
  const inExample = new Set(plainWords(example).map(stemOf))
  const held = partOf((word) => inFields.has(word))
  const shared = partOf((word) => inExample.has(stemOf(word)))
  const sum = -2.9 + 5.8 * lead + 1.7 * wordsLead + 1.3 * held + 0.55 * shared
  return 1 / (1 + Math.exp(-sum - 0.85 * Math.log(1 + all)))
}

function byWords({ parts }: Ranked): number {
  return parts.filter(isOfField).reduce((sum, { score }) => sum + score, 0)
}

function isOfField({ kind }: RankPart): boolean {
  return kind !== 'example' && kind !== 'wrong example'
}

/** The triggers with examples that a verdict fires; none where it is not sure. */
export function matchesOf<Skill extends TriggerSkill>(
  prompt: string,
  verdict: ExampleVerdict | undefined,
  skill: Skill | undefined,
): TriggerMatch<Skill>[] {
  if (verdict?.isSure !== true || skill === undefined || !isAlike(prompt, skill)) return []
  const { example } = verdict
  const own = skill.triggers.filter(isByExamples)
  const alike = own.filter((trigger) => examplesOf(trigger).includes(example))
  return (alike.length > 0 ? alike : own).map((trigger) => {
    return { skill, trigger, text: example, promptLine: 1 }
  })
}

/** Whether one example, with the name of its skill, has two words of the prompt. */
function isAlike(prompt: string, { name, triggers }: TriggerSkill): boolean {
  const said = new Set(wordsOf(prompt).map(({ stem }) => stem))
  return triggers.flatMap(examplesOf).some((example) => {
    const own = new Set(plainWords(`${name} ${example}`).map(stemOf))
    return [...said].filter((stem) => own.has(stem)).length >= Math.min(2, said.size)
  })
}

export function isByExamples({ when }: TriggerDeclaration): boolean {
  return when?.kind === 'examples'
}

export function examplesOf({ when }: TriggerDeclaration): readonly string[] {
  return when?.kind === 'examples' ? when.examples : []
}
