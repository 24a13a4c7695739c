import type { Activation, SkillManager } from '../../library/index.ts'
import { SkillNotFoundError } from '../../skill/index.ts'

/** A name of `skills`, with the arguments behind it. */
export function splitSkill(entry: string): { name: string; argumentText: string } {
  const text = entry.trim()
  const blank = text.search(/\s/)
  if (blank === -1) return { name: text, argumentText: '' }
  return { name: text.slice(0, blank), argumentText: text.slice(blank).trim() }
}

/**
 * The whole content of skills that a subagent has from the start, arguments in place. Nothing becomes
 * active in the conversation of the parent.
 *
 * @throws {SkillNotFoundError} for one that is not there, and what else a skill that cannot be used
 *   throws.
 */
export async function loadSkills(
  entries: readonly string[],
  manager: SkillManager | undefined,
  subagent: string,
): Promise<readonly Activation[]> {
  const loaded: Activation[] = []
  for (const entry of entries) {
    const { name, argumentText } = splitSkill(entry)
    if (manager === undefined) throw withoutSkills(name, subagent)
    try {
      loaded.push(await manager.prepare(name, argumentText, { source: 'code' }))
    } catch (error) {
      throw error instanceof SkillNotFoundError ? wantedBy(subagent, name, error) : error
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

function withoutSkills(name: string, subagent: string): SkillNotFoundError {
  return new SkillNotFoundError({
    code: 'skill-not-found',
    message: `There is no skill called ${name}, which the subagent ${subagent} wants: its parent has no skills.`,
    hint: 'Give the parent `skills` or `skillDirs`.',
  })
}
