import { explainPrompt, type SkillExplanation } from '../explain.ts'
import type { TriggerSkill } from '../match.ts'
import { injectionFor, type MatchResult, matchResult } from './injection.ts'
import type { Settled } from './skills.ts'

/** The time for explanations: a user types and waits for the answer. */
const patienceMs = 300
const mostVerdicts = 300

interface TypedMatch extends MatchResult {
  /** Of every trigger that fired, nearly fired or is invalid. */
  explanation: readonly SkillExplanation[]
  /** How many triggers there are. */
  triggers: number
  /** How many do not match at all. */
  quiet: number
  /** How many were not explained, for want of time. */
  untried: number
}

/**
 * Returns what `match --explain` returns, while a prompt is typed. Near misses take a hundred times as
 * long as matches, so with very many triggers some are left out and counted.
 */
export function matchWhileTyping(context: Settled, prompt: string): TypedMatch {
  const answer = injectionFor(context, { prompt, references: [], tokenBudget: undefined })
  const skills = answer.skills.filter(({ triggers }) => triggers.length > 0)
  const fired = new Set(answer.matches.map(({ skill }) => skill))
  const { elapsed } = context.runtime
  const end = elapsed() + patienceMs
  const explained = new Map<TriggerSkill, SkillExplanation>()
  let said = 0
  let tried = 0
  for (const skill of likelyFirst(skills, prompt, fired)) {
    if (elapsed() > end || said > mostVerdicts) break
    for (const explanation of explainPrompt(prompt, [skill])) {
      const verdicts = explanation.verdicts.filter(({ outcome }) => outcome !== 'no-match')
      tried += explanation.verdicts.length
      said += verdicts.length
      if (verdicts.length > 0) explained.set(skill, { ...explanation, verdicts })
    }
  }
  const triggers = skills.reduce((sum, skill) => sum + skill.triggers.length, 0)
  return {
    ...matchResult(prompt, answer),
    explanation: skills.flatMap((skill) => explained.get(skill) ?? []),
    triggers,
    quiet: tried - said,
    untried: triggers - tried,
  }
}

/** Skills that fired, then those of which a pattern has letters of the prompt, then the others. */
function likelyFirst(
  skills: readonly TriggerSkill[],
  prompt: string,
  fired: ReadonlySet<TriggerSkill>,
): TriggerSkill[] {
  const typed = prompt.toLowerCase()
  const rank = (skill: TriggerSkill): number => {
    if (fired.has(skill)) return 0
    const shares = skill.triggers.some(({ match }) =>
      (match.toLowerCase().match(/\p{L}{4}/gu) ?? []).some((letters) => typed.includes(letters)),
    )
    return shares ? 1 : 2
  }
  return skills
    .map((skill) => ({ skill, rank: rank(skill) }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ skill }) => skill)
}
