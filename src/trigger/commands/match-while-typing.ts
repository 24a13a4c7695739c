import { explainPrompt, type SkillExplanation } from '../explain.ts'
import type { TriggerSkill } from '../match.ts'
import { injectionFor, matchResult } from './injection.ts'
import type { Settled } from './skills.ts'

/** The time for explanations: a user types and waits for the answer. */
const patienceMs = 300
const mostVerdicts = 300

/**
 * Returns what `match --explain` returns, while a prompt is typed: of every trigger that fired, nearly
 * fired or is invalid. Near misses take a hundred times as long as matches, so with very many triggers
 * some are left out: `triggers` counts all, `quiet` those that do not match, `untried` those left out.
 */
export function matchWhileTyping(context: Settled, prompt: string) {
  const answer = injectionFor(context, { prompt, references: [], tokenBudget: undefined })
  const skills = answer.skills.filter(({ triggers }) => triggers.length > 0)
  const fired = new Set(answer.matches.map(({ skill }) => skill))
  const { elapsed } = context.runtime
  const end = elapsed() + patienceMs
  const explained = new Map<TriggerSkill, SkillExplanation>()
  let said = 0
  let tried = 0
  const ranked = Map.groupBy(skills, (skill) => (fired.has(skill) ? 0 : shares(skill, prompt)))
  for (const skill of ([0, 1, 2] as const).flatMap((rank) => ranked.get(rank) ?? [])) {
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

/** 1 where a pattern of the skill has letters of the prompt, else 2. */
function shares({ triggers }: TriggerSkill, prompt: string): 1 | 2 {
  const typed = prompt.toLowerCase()
  const isShared = triggers.some(({ match }) =>
    (match.toLowerCase().match(/\p{L}{4}/gu) ?? []).some((letters) => typed.includes(letters)),
  )
  return isShared ? 1 : 2
}
