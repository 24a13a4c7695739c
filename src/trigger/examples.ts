import { readRegularFile } from '#core/read-files'
import type { RankDocument } from '#rank/index'
import { prepareRanker, type Ranker } from '#rank/ranker'
import { parseSkill } from '#skill/parse'
import type { TriggerDeclaration } from '#skill/model'
import { type ExampleVerdict, examplesOf, isByExamples, judge, matchesOf } from './judge.ts'
import { matchPrompt, type PromptMatching, type TriggerSkill } from './match.ts'

const longestSkill = 1024 * 1024

/** Tests every trigger on a prompt, those with examples too. */
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
        { kind: 'body', text: body, weight: 0.15 },
      ],
      examples: triggers.flatMap(examplesOf).map((text) => ({ text })),
    }
  })
}
