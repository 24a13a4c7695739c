import { messageOf } from '../../core/errors.ts'
import type { SkillManager } from '../../library/manager.ts'
import { planInjection, renderInjection } from '../../trigger/inject.ts'
import { matchPrompt } from '../../trigger/match.ts'
import { SkillNotTrustedError } from '../../trust/decide.ts'

const tokenBudget = 10_000

/**
 * The references that the triggers of trusted skills put before a prompt. One that the conversation
 * has already, with the same text, is not repeated; the trust of skills that match is confirmed.
 */
export async function promptReferences(
  prompt: string,
  manager: SkillManager,
  isPresent: (text: string) => boolean,
  notice: (message: string) => void,
): Promise<string> {
  const skills = (await manager.list()).filter(
    ({ trustLevel, fields }) => trustLevel === 'trusted' && fields.triggers.length > 0,
  )
  const { matches, diagnostics } = matchPrompt(
    prompt,
    skills.map(({ fields: { triggers }, ...skill }) => ({ ...skill, triggers })),
  )
  for (const { message } of diagnostics) notice(message)
  const withheld = new Set<string>()
  for (const name of new Set(matches.map(({ skill }) => skill.name))) {
    try {
      await manager.requireTrusted(name, 'put text before a prompt')
    } catch (error) {
      withheld.add(name)
      if (error instanceof SkillNotTrustedError) continue
      notice(`The references of the skill ${name} were left out: ${messageOf(error)}`)
    }
  }
  const mayInject = ({ name }: { name: string }): boolean => !withheld.has(name)
  const found = planInjection(matches, { tokenBudget, mayInject })
  for (const { message } of found.diagnostics) notice(message)
  for (const { skill, path, reason } of found.deferred) {
    notice(`The reference ${path} of the skill ${skill} was left out: ${reason}.`)
  }
  return renderInjection(found.injected.filter((one) => !isPresent(renderInjection([one]))))
}
