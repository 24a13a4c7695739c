import { explainPrompt, type SkillExplanation, type TriggerSkill } from '../trigger/index.ts'
import type { ViewWorld } from '../view/index.ts'
import { injectionFor } from '../trigger/commands/injection.ts'
import { matchResult } from '../trigger/commands/injection.ts'
import type { CommandContext } from './command.ts'

/** Somebody types, and waits for the answer. */
const patienceMs = 300
const mostVerdicts = 300

/**
 * What `match --explain` says, while a prompt is typed. Near misses take a hundred times as long as
 * matches, so that with very many triggers some are not looked at for them; which is counted.
 */
export function viewMatch(context: CommandContext, prompt: string): ReturnType<ViewWorld['match']> {
  const answer = injectionFor(context, { prompt, references: [], tokenBudget: undefined })
  const skills = answer.skills.filter(({ triggers }) => triggers.length > 0)
  const { elapsed } = context.runtime
  const end = elapsed() + patienceMs
  const explained = new Map<TriggerSkill, SkillExplanation>()
  let [said, tried] = [0, 0]
  for (const skill of likelyFirst(
    skills,
    prompt,
    new Set(answer.matches.map((match) => match.skill)),
  )) {
    if (elapsed() > end || said > mostVerdicts) break
    const [explanation] = explainPrompt(prompt, [skill])
    if (explanation === undefined) continue
    const verdicts = explanation.verdicts.filter(({ outcome }) => outcome !== 'no-match')
    tried += explanation.verdicts.length
    said += verdicts.length
    if (verdicts.length > 0) explained.set(skill, { ...explanation, verdicts })
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
