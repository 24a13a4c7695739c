import { messageOf } from '../../core/errors.ts'
import type { SkillInfo } from '../../library/model.ts'
import { matchPrompt } from '../../trigger/match.ts'
import { planInjection, renderInjection } from '../../trigger/inject.ts'
import { SkillNotTrustedError } from '../../trust/decide.ts'

interface PromptReferences {
  /** What stands before the prompt; empty for nothing. */
  text: string
  /** What was asked for and left out, and patterns that cannot be used, as sentences. */
  notices: readonly string[]
}

interface PromptReferenceOptions {
  tokenBudget: number
  /** Whether the conversation has a text already. */
  isPresent: (text: string) => boolean
  /** Passes where a skill is still trusted. @throws {SkillNotTrustedError} */
  confirm: (name: string) => Promise<void>
}

/**
 * The references that the triggers of trusted skills put before a prompt. One that the conversation
 * has already, with the same text, is not repeated; skills that match are looked at again.
 */
export async function promptReferences(
  prompt: string,
  skills: readonly SkillInfo[],
  { tokenBudget, isPresent, confirm }: PromptReferenceOptions,
): Promise<PromptReferences> {
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
  const withheld = await withheldSkills(new Set(matches.map(({ skill }) => skill.name)), confirm)
  const injection = planInjection(matches, {
    tokenBudget,
    mayInject: ({ name }) => !withheld.has(name),
  })
  const fresh = injection.injected.filter((reference) => !isPresent(renderInjection([reference])))
  return {
    text: renderInjection(fresh),
    notices: [
      ...[...diagnostics, ...injection.diagnostics].map(({ message }) => message),
      ...[...withheld].flatMap(([skill, why]) =>
        why === undefined ? [] : [`The references of the skill ${skill} were left out: ${why}`],
      ),
      ...injection.deferred.map(
        ({ skill, path, reason }) =>
          `The reference ${path} of the skill ${skill} was left out: ${reason}.`,
      ),
    ],
  }
}

/** By name, with a sentence where it is not its trust that fails: a skill may be gone by now. */
async function withheldSkills(
  names: Iterable<string>,
  confirm: (name: string) => Promise<void>,
): Promise<ReadonlyMap<string, string | undefined>> {
  const withheld = new Map<string, string | undefined>()
  for (const name of names) {
    try {
      await confirm(name)
    } catch (error) {
      const isUntrusted = error instanceof SkillNotTrustedError
      withheld.set(name, isUntrusted ? undefined : messageOf(error))
    }
  }
  return withheld
}
