import { estimateTokens, type TriggerDeclaration } from '../skill/index.ts'
import { promptText } from './prompt-text.ts'
import { firstMatch, type TriggerSkill } from './match.ts'
import { type NearMiss, nearMiss } from './near-miss.ts'
import { compilePattern } from './pattern.ts'
import { readTarget, type TargetReader } from './read-target.ts'

/** What one trigger made of a prompt. */
export type TriggerVerdict = { trigger: TriggerDeclaration } & (
  | {
      outcome: 'fired'
      text: string
      promptLine: number
      tokens: number | undefined
      problem?: string | undefined
    }
  | { outcome: 'near-miss'; miss: NearMiss }
  | { outcome: 'no-match' }
  | { outcome: 'invalid'; reason: string }
)

export interface SkillExplanation {
  skill: string
  verdicts: readonly TriggerVerdict[]
}

/** Says of every trigger of every skill what it made of a prompt, and why the near misses missed. */
export function explainPrompt(
  prompt: string,
  skills: readonly TriggerSkill[],
  options: { read?: TargetReader | undefined } = {},
): SkillExplanation[] {
  const { read = readTarget } = options
  const text = promptText(prompt)
  return skills.map((skill) => ({
    skill: skill.name,
    verdicts: skill.triggers.map((trigger): TriggerVerdict => {
      const reading = compilePattern(trigger.match)
      if (!reading.ok) return { trigger, outcome: 'invalid', reason: reading.problem.message }
      const place = firstMatch(reading.pattern, text)
      if (place !== undefined) {
        const target = read(skill.directory, trigger.inject)
        const tokens = target.ok ? estimateTokens(target.text) : undefined
        const problem = target.ok ? undefined : target.message
        return { trigger, outcome: 'fired', ...place, tokens, problem }
      }
      const miss = nearMiss(trigger, text)
      return miss === undefined
        ? { trigger, outcome: 'no-match' }
        : { trigger, outcome: 'near-miss', miss }
    }),
  }))
}
