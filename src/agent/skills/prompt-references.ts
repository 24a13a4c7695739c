import { messageOf } from '../../core/errors.ts'
import type { SkillInfo } from '../../library/model.ts'
import { planInjection, renderInjection } from '../../trigger/inject.ts'
import { matchPrompt } from '../../trigger/match.ts'
import { SkillNotTrustedError } from '../../trust/decide.ts'

interface PromptReferences {
  /** What stands before the prompt; empty for nothing. */
  text: string
  notices: readonly string[]
}

interface PromptReferenceOptions {
  tokenBudget: number
  isPresent: (text: string) => boolean
  confirm: (name: string) => Promise<void>
}

/**
 * The references that the triggers of trusted skills put before a prompt. One that the conversation
 * has already, with the same text, is not repeated; the trust of skills that match is confirmed.
 */
export async function promptReferences(
  prompt: string,
  skills: readonly SkillInfo[],
  { tokenBudget, isPresent, confirm }: PromptReferenceOptions,
): Promise<PromptReferences> {
  const withTriggers = skills.flatMap(({ name, directory, path, fields, trustLevel }) =>
    trustLevel === 'trusted' && fields.triggers.length > 0
      ? [{ name, directory, path, triggers: fields.triggers }]
      : [],
  )
  const { matches, diagnostics } = matchPrompt(prompt, withTriggers)
  const notices: string[] = []
  const withheld = new Set<string>()
  for (const name of new Set(matches.map(({ skill }) => skill.name))) {
    try {
      await confirm(name)
    } catch (error) {
      withheld.add(name)
      if (error instanceof SkillNotTrustedError) continue
      notices.push(`The references of the skill ${name} were left out: ${messageOf(error)}`)
    }
  }
  const injection = planInjection(matches, {
    tokenBudget,
    mayInject: ({ name }) => !withheld.has(name),
  })
  const fresh = injection.injected.filter((reference) => !isPresent(renderInjection([reference])))
  const leftOut = injection.deferred.map(
    ({ skill, path, reason }) =>
      `The reference ${path} of the skill ${skill} was left out: ${reason}.`,
  )
  const messages = [...diagnostics, ...injection.diagnostics].map(({ message }) => message)
  return { text: renderInjection(fresh), notices: [...messages, ...notices, ...leftOut] }
}
