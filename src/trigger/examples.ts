import { readRegularFile } from '#core/read-files'
import type { RankDocument } from '#rank/index'
import { prepareRanker, type Ranker } from '#rank/ranker'
import { namesIn } from '#rank/names'
import { sentencesOf } from '#rank/words'
import { parseSkill } from '#skill/parse'
import type { TriggerDeclaration } from '#skill/model'
import {
  counterexamplesOf,
  type ExampleVerdict,
  examplesOf,
  isByExamples,
  judge,
  matchesOf,
} from './judge.ts'
import { matchPrompt, type PromptMatching, type TriggerSkill } from './match.ts'

const longestSkill = 1024 * 1024

/** Tests every trigger on a prompt, including triggers with examples. */
export function matchTriggers<Skill extends TriggerSkill>(
  prompt: string,
  skills: readonly Skill[],
): PromptMatching<Skill> {
  const { matches, diagnostics } = matchPrompt(prompt, skills)
  const verdict = judgeExamples(prompt, skills)
  const skill = skills.find(({ name }) => name === verdict?.name)
  return { matches: [...matches, ...matchesOf(prompt, verdict, skill)], diagnostics }
}

const rankers = new WeakMap<readonly TriggerSkill[], Ranker | undefined>()

/** Judges which skill a prompt means; undefined if no skill has examples. */
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

/** Returns the skills that fit a request, best first; each has something in common with it. */
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
  path?: string | undefined
  description?: string | undefined
  triggers?: readonly TriggerDeclaration[] | undefined
}

/** Most characters of bodies, over all skills. */
const longestBodies = 2_000_000

export function skillDocuments(skills: readonly DescribedSkill[]): RankDocument[] {
  const longest = Math.floor(longestBodies / skills.length)
  const names = skills.map(({ name }) => name)
  return skills.map(({ name, path = '', description: fallback = '', triggers = [] }) => {
    const reading = readRegularFile(path, { maxBytes: longestSkill })
    const { skill } = parseSkill(reading.ok ? reading.text : '', { path })
    const { description = fallback, whenToUse = '' } = skill?.fields ?? {}
    const body = skill?.body.slice(0, longest) ?? ''
    return {
      id: name,
      name,
      fields: [
        { kind: 'name', text: name, weight: 3 },
        {
          kind: 'description',
          text: `${withoutExclusions(description, names)}\n${withoutExclusions(whenToUse, names)}`.trim(),
          weight: 1,
        },
        { kind: 'headings', text: (body.match(/^#.*$/gm) ?? []).join('\n'), weight: 0.2 },
        { kind: 'body', text: body, weight: 0.15 },
      ],
      examples: [
        ...triggers.flatMap(examplesOf).map((text) => ({ text })),
        ...triggers.flatMap(counterexamplesOf).map((text) => ({ text, wrong: true })),
      ],
    }
  })
}

/**
 * Removes sentences that say what a skill is not for ("Do not use it to merge PDFs."), because their words would count
 * for it. Keeps the first sentence, which says what it is for, and sentences with another skill's name: the ranker
 * moves their words to that skill.
 */
function withoutExclusions(text: string, names: readonly string[]): string {
  return sentencesOf(text)
    .filter((sentence, at) => {
      const isExclusion = at > 0 && exclusionPattern.test(sentence)
      return !isExclusion || namesIn(sentence, names).length > 0
    })
    .join('\n')
}

/** A negation at the start of a sentence, but not `not only` or `no-code`. Chinese has no blank after it. */
const exclusionPattern =
  /^[^\p{L}]*(?:(?:do\s+not|don['’]t|never|not?)\b(?!\s+only\b|-)|[不勿](?![仅但只光]))/iu
