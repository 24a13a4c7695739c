import type { Ranker } from '#rank/ranker'
import { comparedWords, stemOf, wordsOf } from '#rank/words'
import type { TriggerDeclaration } from '#skill/model'
import type { TriggerMatch, TriggerSkill } from './match.ts'

/** A trigger with examples fires at this probability or a higher one. */
export const sureFrom = 0.77

const longestPrompt = 2000

/** Which skill a prompt means, judged by the examples of triggers. */
export interface ExampleVerdict {
  name: string
  probability: number
  /** Proper names in the prompt that the skill lacks. */
  missing: readonly string[]
  /** The skill's nearest example; empty if no example shares a word with the prompt. */
  example: string
  words: readonly string[]
  /** The prompt names the skill in full. */
  isNamed: boolean
  /** Another skill that fits the prompt nearly as well. */
  rival: string | undefined
  isSure: boolean
}

/** Parts of a score that are not words. */
const likenessKinds = new Set(['example', 'wrong example', 'likeness', 'named in full'])

/** Undefined if the prompt calls a skill by name, or no skill fits. */
export function judge(prompt: string, rank: Ranker): ExampleVerdict | undefined {
  const typed = prompt.slice(0, longestPrompt)
  if (isCall(typed)) return undefined
  const { ranked, certainty, named, missing } = rank(typed)
  const [first, second] = ranked
  if (!first) return undefined
  const example = first.parts.find(({ kind }) => kind === 'example')?.text ?? ''
  const said = first.parts.filter(({ kind }) => !likenessKinds.has(kind))
  const words = said.map(({ text }) => text)
  const rival = second && second.score > 0.7 * first.score ? second.id : undefined
  const isNamed = named.length === 1
  const probability = isNamed ? Math.max(certainty, 0.99) : certainty
  const isSure = probability >= sureFrom
  return { name: first.id, probability, missing, example, words, isNamed, rival, isSure }
}

/** A call by name means nothing else. */
export function isCall(prompt: string): boolean {
  return /^\s*[/$]/.test(prompt)
}

/** Returns the triggers with examples that a verdict fires; none if the verdict is not certain. */
export function matchesOf<Skill extends TriggerSkill>(
  prompt: string,
  verdict: ExampleVerdict | undefined,
  skill: Skill | undefined,
): TriggerMatch<Skill>[] {
  if (!verdict?.isSure || !skill) return []
  const { example, words, isNamed } = verdict
  const single = words.filter((word) => !word.includes(' '))
  const isSame = verdict.probability === 1
  if (!isSame && !isNamed && maxShared(prompt, skill) < (single.length > 2 ? 1 : 2)) return []
  const own = skill.triggers.filter(isByExamples)
  const alike = own.filter((trigger) => examplesOf(trigger).includes(example))
  return (alike.length > 0 ? alike : own).map((trigger) => {
    return { skill, trigger, text: example, promptLine: 1 }
  })
}

function maxShared(prompt: string, { name, triggers }: TriggerSkill): number {
  const promptStems = new Set(wordsOf(prompt).map(({ stem }) => stem))
  const shared = triggers.flatMap(examplesOf).map((example) => {
    const skillStems = new Set(comparedWords(`${name} ${example}`).map(stemOf))
    return [...promptStems].filter((stem) => skillStems.has(stem)).length
  })
  return Math.max(...shared)
}

export function isByExamples({ when }: TriggerDeclaration): boolean {
  return when?.kind === 'examples'
}

export function examplesOf({ when }: TriggerDeclaration): readonly string[] {
  return when?.kind === 'examples' ? when.examples : []
}

/** Prompts that do not mean the skill. */
export function counterexamplesOf({ when }: TriggerDeclaration): readonly string[] {
  return when?.kind === 'examples' ? (when.not ?? []) : []
}
