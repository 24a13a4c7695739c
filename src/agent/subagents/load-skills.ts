import type { Activation, InvocationSource, SkillManager } from '../../library/index.ts'
import { SkillInvocationError, SkillNotFoundError } from '../../skill/index.ts'

/** A name of `skills`, with the arguments behind it. */
export function splitSkill(entry: string): { name: string; argumentText: string } {
  const text = entry.trim()
  const blank = text.search(/\s/)
  if (blank === -1) return { name: text, argumentText: '' }
  return { name: text.slice(0, blank), argumentText: text.slice(blank).trim() }
}

/**
 * The whole content of skills that a subagent has from the start, arguments in place. Nothing becomes
 * active in the conversation of the parent. The definition names them, not whoever delegates; only a
 * model must not come by it to what is withheld from it.
 *
 * @throws {SkillNotFoundError} for one that is not there, {SkillInvocationError} for one that no model
 *   may start, and what else a skill that cannot be used throws.
 */
export async function loadSkills(
  entries: readonly string[],
  manager: SkillManager | undefined,
  subagent: string,
  delegator: InvocationSource = 'code',
): Promise<readonly Activation[]> {
  const source = delegator === 'model' ? 'model' : 'code'
  const loaded: Activation[] = []
  for (const entry of entries) {
    const { name, argumentText } = splitSkill(entry)
    if (manager === undefined) throw withoutSkills(name, subagent)
    try {
      loaded.push(await manager.prepare(name, argumentText, { source }))
    } catch (error) {
      if (error instanceof SkillNotFoundError) throw wantedBy(subagent, name, error)
      throw isWithheld(error) ? withheldBy(subagent, name, error) : error
    }
  }
  return loaded
}

function wantedBy(subagent: string, name: string, error: SkillNotFoundError): SkillNotFoundError {
  return new SkillNotFoundError({
    code: error.code,
    message: `There is no skill called ${name}, which the subagent ${subagent} is to have.`,
    hint: error.hint,
    cause: error,
  })
}

function isWithheld(error: unknown): boolean {
  return error instanceof SkillInvocationError && error.code === 'model-invocation-disabled'
}

function withheldBy(subagent: string, name: string, cause: unknown): SkillInvocationError {
  return new SkillInvocationError({
    code: 'model-invocation-disabled',
    message: `The ${notForModels(subagent, name)}.`,
    hint: forWhom,
    cause,
  })
}

/** Why a model never comes to a subagent, to go behind `the`. */
export function notForModels(subagent: string, skill: string): string {
  return `subagent ${subagent} may not be started by a model: its skill ${skill} sets disable-model-invocation`
}

export const forWhom: string =
  'A person can delegate to it, a program too, and so can a skill with `context: fork` that a person activates.'

function withoutSkills(name: string, subagent: string): SkillNotFoundError {
  return new SkillNotFoundError({
    code: 'skill-not-found',
    message: `There is no skill called ${name}, which the subagent ${subagent} wants: its parent has no skills.`,
    hint: 'Give the parent `skills` or `skillDirs`.',
  })
}
