import { explainPrompt, type SkillExplanation } from '../explain.ts'
import type { TriggerSkill } from '../match.ts'
import { injectionFor, matchResult } from './injection.ts'
import type { Settled } from './skills.ts'

/** A user types and waits for the answer. */
const mostTried = 300

/** `match --explain` while a prompt is typed; with very many triggers some are left out (`untried`). */
export function matchWhileTyping(context: Settled, prompt: string) {
  const answer = injectionFor(context, { prompt, references: [], tokenBudget: undefined })
  const skills = answer.skills.filter(({ triggers }) => triggers.length > 0)
  const fired = new Set(answer.matches.map(({ skill }) => skill))
  const explained = new Map<TriggerSkill, SkillExplanation>()
  let said = 0
  let tried = 0
  const firedFirst = [...fired, ...skills.filter((skill) => !fired.has(skill))]
  for (const skill of firedFirst) {
    if (tried > mostTried) break
    for (const explanation of explainPrompt(prompt, [skill], answer.skills)) {
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
