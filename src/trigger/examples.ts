import { readRegularFile } from '../core/read-files.ts'
import type { RankDocument } from '../rank/index.ts'
import { prepareRanker, type Ranker } from '../rank/ranker.ts'
import { plainWords } from '../rank/words.ts'
import { parseSkill } from '../skill/parse.ts'
import type { TriggerDeclaration } from '../skill/model.ts'
import { matchPrompt, type PromptMatching, type TriggerMatch, type TriggerSkill } from './match.ts'

/** A trigger with examples fires from this probability on: 95 of 100 such prompts then mean its skill. */
export const sureFrom = 0.9

const longestPrompt = 2000
const longestSkill = 1024 * 1024

/** Tests every trigger on a prompt, those with examples too. */
export function matchTriggers<Skill extends TriggerSkill>(
  prompt: string,
  skills: readonly Skill[],
): PromptMatching<Skill> {
  const { matches, diagnostics } = matchPrompt(prompt, skills)
  const verdict = judgeExamples(prompt, skills)
  const skill = skills.find(({ name }) => name === verdict?.name)
  return { matches: [...matches, ...matchesOf(verdict, skill)], diagnostics }
}

const rankers = new WeakMap<readonly TriggerSkill[], Ranker | undefined>()

/** What a prompt means among skills; undefined where none has examples. */
export function judgeExamples(
  prompt: string,
  skills: readonly TriggerSkill[],
): ExampleVerdict | undefined {
  if (!rankers.has(skills)) {
    const hasExamples = skills.some(({ triggers }) => triggers.some(isByExamples))
    rankers.set(skills, hasExamples ? prepareRanker(skillDocuments(skills)) : undefined)
  }
  const rank = rankers.get(skills)
  return rank && judge(prompt, rank)
}

/** The skills that fit a request best; only those with something in common with it, best first. */
export function findSkills<Skill extends DescribedSkill>(
  request: string,
  skills: readonly Skill[],
  most: number,
): Skill[] {
  const { ranked } = prepareRanker(skillDocuments(skills))(request)
  const byName = new Map(skills.map((skill) => [skill.name, skill]))
  return ranked.slice(0, most).flatMap(({ id }) => byName.get(id) ?? [])
}

interface DescribedSkill {
  name: string
  /** Its `SKILL.md`; what cannot be read counts with its description alone. */
  path?: string | undefined
  description?: string | undefined
  triggers?: readonly TriggerDeclaration[] | undefined
}

/** Characters of bodies that all skills together may add. */
const longestBodies = 2_000_000

export function skillDocuments(skills: readonly DescribedSkill[]): RankDocument[] {
  const longest = Math.floor(longestBodies / skills.length)
  return skills.map(({ name, path = '', description: given = '', triggers = [] }) => {
    const reading = readRegularFile(path, { maxBytes: longestSkill })
    const { skill } = parseSkill(reading.ok ? reading.text : '', { path })
    const { description = given, whenToUse = '' } = skill?.fields ?? {}
    const body = skill?.body.slice(0, longest) ?? ''
    return {
      id: name,
      name,
      fields: [
        { kind: 'name', text: name, weight: 3 },
        { kind: 'description', text: `${description}\n${whenToUse}`.trim(), weight: 1 },
        { kind: 'headings', text: (body.match(/^#.*$/gm) ?? []).join('\n'), weight: 0.2 },
        { kind: 'body', text: body, weight: 0.2 },
      ],
      examples: triggers.flatMap(examplesOf).map((text) => ({ text })),
    }
  })
}

/** What a prompt means: a skill, and whether that is sure. */
export interface ExampleVerdict {
  name: string
  probability: number
  /** The example that is most alike. */
  example: string
  /** The words of the prompt that count most. */
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

function isByExamples({ when }: TriggerDeclaration): boolean {
  return when?.kind === 'examples'
}

function examplesOf({ when }: TriggerDeclaration): readonly string[] {
  return when?.kind === 'examples' ? when.examples : []
}
