import type { Context } from '#core/command'
import { type Diagnostic, SkillrailError } from '#core/errors'
import { readRegularFile } from '#core/read-files'
import { discoverOptionsFrom, discoverSkills } from '#library/discover'
import { findSkill } from '#library/find-skill'
import { maxSkillBytes, type SkillInfo } from '#library/model'
import { maxPromptBytes, type PromptCasesReading, readPromptCases } from '#trigger/prompt-cases'
import { isInTriggers } from '#trigger/read-triggers'

export type Settled = Pick<Context, 'runtime' | 'settings'>

export type InstalledSkill = SkillInfo & Pick<SkillInfo['fields'], 'triggers'>

/**
 * The skills that are named, or all that are installed here, in order of precedence. An installed skill has
 * the triggers of overlays, also if it is named by its path.
 */
export function skillsFor(
  { runtime, settings }: Settled,
  references: readonly string[],
): { skills: InstalledSkill[]; diagnostics: readonly Diagnostic[] } {
  const options = discoverOptionsFrom(runtime, settings)
  const discovery = discoverSkills(options)
  const areNamed = references.length > 0
  const infos = areNamed
    ? references.map((reference) => findSkill(reference, { ...options, discovery }))
    : discovery.skills
  const installed = new Map(discovery.skills.map((info) => [info.path, info.fields.triggers]))
  const skills = infos.map((info) => {
    return { ...info, triggers: installed.get(info.path) ?? info.fields.triggers }
  })
  const own = infos.flatMap(({ path, diagnostics }) => aboutTriggers(path, diagnostics))
  return { skills, diagnostics: [...(areNamed ? [] : discovery.diagnostics), ...own] }
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

/** Reads a file of labelled prompts; `name` is how diagnostics name it. */
export function readPromptFile(path: string, name: string = path): PromptCasesReading {
  return readPromptCases(readText(path, maxPromptBytes), name)
}

export function readText(path: string, maxBytes: number = maxSkillBytes): string {
  const reading = readRegularFile(path, { maxBytes, keepMark: true })
  if (reading.ok) return reading.text
  throw new SkillrailError({ code: reading.code, message: `${reading.message}.` })
}
