import { type Context, option } from '#core/command'
import { type Diagnostic, SkillrailError } from '#core/errors'
import { budgetRange } from '#core/option-values'
import { readRegularFile } from '#core/read-files'
import { discoverOptionsFrom, discoverSkills } from '#library/discover'
import { findSkill } from '#library/find-skill'
import { maxSkillBytes, type SkillInfo } from '#library/model'
import { isInTriggers } from '#trigger/read-triggers'

export type Settled = Pick<Context, 'runtime' | 'settings'>

export type InstalledSkill = SkillInfo & Pick<SkillInfo['fields'], 'triggers'>

/** The skills that are named, or all that are installed here, in order of precedence. */
export function skillsFor(
  { runtime, settings }: Settled,
  references: readonly string[],
): { skills: InstalledSkill[]; diagnostics: readonly Diagnostic[] } {
  const options = discoverOptionsFrom(runtime, settings)
  const discovery = references.length > 0 ? undefined : discoverSkills(options)
  const found = discovery?.skills ?? references.map((reference) => findSkill(reference, options))
  const skills = found.map((info) => ({ ...info, triggers: info.fields.triggers }))
  const own = found.flatMap(({ path, diagnostics }) => aboutTriggers(path, diagnostics))
  return { skills, diagnostics: [...(discovery?.diagnostics ?? []), ...own] }
}

/** The diagnostics of a whole skill that are about its triggers. */
export function aboutTriggers(path: string, diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return diagnostics.filter(
    ({ code, line }) =>
      code.startsWith('trigger-') ||
      (sharedCodes.has(code) && isInTriggers(readText(path), path, line)),
  )
}

const sharedCodes: ReadonlySet<string> = new Set(['path-outside', 'field-type'])

export function readText(path: string, maxBytes: number = maxSkillBytes): string {
  const reading = readRegularFile(path, { maxBytes })
  if (reading.ok) return reading.text
  throw new SkillrailError({ code: reading.code, message: `${reading.message}.` })
}

export const skillArguments = { '[skill...]': 'names or paths (default: all that are installed)' }

export const promptOptions = {
  skill: option.list(
    '--skill <skill>',
    'only this skill, by name or path; it need not be installed (repeatable)',
  ),
  budget: option.integer('--budget <tokens>', 'skip references that do not fit', budgetRange),
} as const

export async function promptFor(context: Context, words: readonly string[]): Promise<string> {
  return words.length > 0 ? words.join(' ') : await context.stdin()
}
