import { prepareRanker, type RankDocument, type Ranking } from '../rank/ranker.ts'
import { readRegularFile } from '../core/read-files.ts'
import { plainWords, wordsOf } from '../rank/words.ts'
import { splitFrontmatter } from '../skill/frontmatter.ts'
import type { SkillFields } from '../skill/model.ts'
import { matchPrompt, type PromptMatching, type TriggerMatch, type TriggerSkill } from './match.ts'

/** A trigger with examples fires from this probability on: 95 of 100 such prompts then mean its skill. */
export const sureFrom = 0.86

const longestPrompt = 2000
const mostRanked = 60
const longestSkill = 1024 * 1024

/** Tests every trigger on a prompt, those with examples too. */
export function matchTriggers<Skill extends TriggerSkill>(
  prompt: string,
  skills: readonly Skill[],
): PromptMatching<Skill> {
  const { matches, diagnostics } = matchPrompt(prompt, skills)
  const found = matchExamples(prompt, skills)
  return { matches: found === undefined ? matches : [...matches, ...found], diagnostics }
}

/** Words of bodies that all skills together may add; a prompt is compared with all of them. */
const mostKeywords = 5000
const mostForOne = 200
const mostTimes = 10

/** What each skill says of itself; empty where no skill has a trigger with examples. */
export function aboutSkills(skills: readonly { path: string; fields: SkillFields }[]): string[] {
  if (!skills.some(({ fields }) => hasExamples(fields))) return []
  const most = Math.min(mostForOne, Math.floor(mostKeywords / skills.length))
  return skills.map(({ path, fields: { description = '', whenToUse = '' } }) => {
    const reading = readRegularFile(path, { maxBytes: longestSkill })
    const split = splitFrontmatter(reading.ok ? reading.text : '')
    const body = split.found ? split.body : ''
    const headings = body.match(/^#.*$/gm) ?? []
    const texts = wordsOf(body).map(({ text }) => text)
    const counted = [...Map.groupBy(texts, (text) => text)]
      .filter(([, { length }]) => length > 1)
      .toSorted(([, one], [, other]) => other.length - one.length)
      .slice(0, most)
      .flatMap(([, repeated]) => repeated.slice(0, mostTimes))
    return [`${description}\n${whenToUse}`.trim(), headings.join('\n'), counted.join('\n')].join(
      '\0',
    )
  })
}

/** What a prompt means among skills with examples: the best one, and whether that is sure. */
export interface ExampleVerdict<Skill extends TriggerSkill> {
  skill: Skill
  probability: number
  /** The example that is most alike. */
  example: string
  /** The words of the prompt that count most. */
  words: readonly string[]
  isSure: boolean
}

/** The triggers with examples that mean what the prompt does; undefined where nothing is sure. */
export function matchExamples<Skill extends TriggerSkill>(
  prompt: string,
  skills: readonly Skill[],
): TriggerMatch<Skill>[] | undefined {
  const verdict = judgeExamples(prompt, skills)
  if (verdict?.isSure !== true) return undefined
  const { skill, example } = verdict
  const own = skill.triggers.filter(({ when }) => when?.kind === 'examples')
  const alike = own.filter((trigger) => examplesOf(trigger).includes(example))
  return (alike.length > 0 ? alike : own).map((trigger) => {
    return { skill, trigger, text: example, promptLine: 1 }
  })
}

export function judgeExamples<Skill extends TriggerSkill>(
  prompt: string,
  skills: readonly Skill[],
): ExampleVerdict<Skill> | undefined {
  const typed = prompt.slice(0, longestPrompt)
  // A call by name means nothing else.
  if (/^\s*[/$]/.test(typed) || !skills.some(hasExamples)) return undefined
  const ranking = prepareRanker(nearest(typed, skills).map(documentOf))(typed)
  const [first] = ranking.ranked
  const skill = skills.find(({ name }) => name === first?.id)
  if (first === undefined || skill === undefined) return undefined
  const example = first.parts.find(({ kind }) => kind === 'example')?.text ?? ''
  const isSame = plainWords(example).join(' ') === plainWords(typed).join(' ')
  const isSure = isSame || (ranking.probability >= sureFrom && isAlike(typed, skill))
  return { skill, probability: ranking.probability, example, words: heaviest(ranking), isSure }
}

/** Whether one example, with the name of its skill, has two words of the prompt. */
function isAlike(prompt: string, { name, triggers }: TriggerSkill): boolean {
  const said = new Set(wordsOf(prompt).map(({ stem }) => stem))
  return triggers.flatMap(examplesOf).some((example) => {
    const own = new Set(wordsOf(`${name} ${example}`).map(({ stem }) => stem))
    return [...said].filter((stem) => own.has(stem)).length >= 2
  })
}

/** Where there are very many skills, those that have most of the prompt's words. */
function nearest<Skill extends TriggerSkill>(
  prompt: string,
  skills: readonly Skill[],
): readonly Skill[] {
  if (skills.length <= mostRanked) return skills
  const words = new Set(wordsOf(prompt).map(({ text }) => text.slice(0, 5)))
  const counted = skills.map((skill) => {
    const [about = ''] = (skill.about ?? '').split('\0', 1)
    const text = [skill.name, about, ...skill.triggers.flatMap(examplesOf)].join(' ').toLowerCase()
    return { skill, count: [...words].filter((word) => text.includes(word)).length }
  })
  const sorted = counted.toSorted((one, other) => other.count - one.count)
  return sorted.slice(0, mostRanked).map(({ skill }) => skill)
}

function hasExamples({ triggers }: Pick<TriggerSkill, 'triggers'>): boolean {
  return triggers.some(({ when }) => when?.kind === 'examples')
}

function heaviest({ words }: Ranking): string[] {
  const sorted = words.toSorted((a, b) => b.weight - a.weight)
  return sorted.slice(0, 5).map(({ word }) => word)
}

function documentOf({ name, about = '', triggers }: TriggerSkill): RankDocument {
  const [description = '', headings = '', words = ''] = about.split('\0')
  return {
    id: name,
    name,
    fields: [
      { kind: 'name', text: name, weight: 3 },
      { kind: 'description', text: description, weight: 1 },
      { kind: 'headings', text: headings, weight: 0.2 },
      { kind: 'body', text: words, weight: 0.1 },
    ],
    examples: triggers.flatMap(examplesOf).map((text) => ({ text })),
  }
}

function examplesOf({ when }: TriggerSkill['triggers'][number]): readonly string[] {
  return when?.kind === 'examples' ? when.examples : []
}
