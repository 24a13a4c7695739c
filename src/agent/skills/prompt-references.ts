import type { SkillInfo } from '../../library/index.ts'
import { matchPrompt, planInjection, renderInjection } from '../../trigger/index.ts'

export interface PromptReferences {
  /** What stands before the prompt; empty for nothing. */
  text: string
  /** What was asked for and left out, and patterns that cannot be used, as sentences. */
  notices: readonly string[]
}

/**
 * The references that the triggers of trusted skills put before a prompt. One that the conversation
 * has already, with the same text, is not repeated.
 */
export function promptReferences(
  prompt: string,
  skills: readonly SkillInfo[],
  tokenBudget: number,
  isPresent: (text: string) => boolean,
): PromptReferences {
  const trusted = skills.filter(
    ({ trustLevel, fields }) => trustLevel === 'trusted' && fields.triggers.length > 0,
  )
  const { matches, diagnostics } = matchPrompt(
    prompt,
    trusted.map(({ name, directory, path, fields }) => ({
      name,
      directory,
      path,
      triggers: fields.triggers,
    })),
  )
  const injection = planInjection(matches, { tokenBudget })
  const fresh = injection.injected.filter((reference) => !isPresent(renderInjection([reference])))
  return {
    text: renderInjection(fresh),
    notices: [
      ...[...diagnostics, ...injection.diagnostics].map(({ message }) => message),
      ...injection.deferred.map(
        ({ skill, path, reason }) =>
          `The reference ${path} of the skill ${skill} was left out: ${reason}.`,
      ),
    ],
  }
}
