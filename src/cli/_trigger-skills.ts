import type { Diagnostic } from '../base/index.ts'
import { discoverOptionsFrom, discoverSkills, findSkill, type SkillInfo } from '../library/index.ts'
import type { TriggerSkill } from '../trigger/index.ts'
import type { CommandContext } from './command.ts'

/** A skill with triggers as the commands about triggers see it. */
export interface InstalledSkill extends TriggerSkill {
  info: SkillInfo
}

/** The skills that are named, or all that are installed here, in order of precedence. */
export function skillsFor(
  context: CommandContext,
  references: readonly string[],
): { skills: InstalledSkill[]; diagnostics: readonly Diagnostic[] } {
  const options = discoverOptionsFrom(context.runtime, context.settings)
  if (references.length > 0) {
    const skills = references.map((reference) => installed(findSkill(reference, options)))
    return { skills, diagnostics: skills.flatMap(({ info }) => aboutTriggers(info.diagnostics)) }
  }
  const { skills, diagnostics } = discoverSkills(options)
  const found = skills.map(installed)
  const own = found.flatMap(({ info }) => aboutTriggers(info.diagnostics))
  return { skills: found, diagnostics: [...diagnostics, ...own] }
}

/** What a reading of the whole skill found about its triggers. */
export function aboutTriggers(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return diagnostics.filter(
    ({ code, message }) =>
      code.startsWith('trigger-') || (sharedCodes.has(code) && message.includes('trigger')),
  )
}

/** Codes that other fields have too. */
const sharedCodes: ReadonlySet<string> = new Set(['path-outside', 'field-type'])

/** The words of the command line as one prompt, or standard input where there are none. */
export async function promptFor(
  context: CommandContext,
  words: readonly string[],
): Promise<string> {
  return words.length > 0 ? words.join(' ') : await context.readStandardInput()
}

function installed(info: SkillInfo): InstalledSkill {
  const { name, directory, path, fields } = info
  return { name, directory, path, triggers: fields.triggers, info }
}
