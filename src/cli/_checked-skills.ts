import { realpathSync, statSync } from 'node:fs'
import { hasErrors, readRegularFile, SkillrailError, writeFileAtomicSync } from '../base/index.ts'
import { maxSkillBytes } from '../library/index.ts'
import { parseSkill, splitFrontmatter } from '../skill/index.ts'
import { checkTriggers, fixTriggers } from '../trigger/index.ts'
import { leftOutTriggers } from './_left-out-triggers.ts'
import { aboutTriggers, type InstalledSkill, skillsFor } from './_trigger-skills.ts'
import type { CheckedFile } from './_trigger-verdicts.ts'
import { unifiedDiff } from '../base/unified-diff.ts'
import type { CommandContext } from './command.ts'

/** Checks the triggers of the skills that are named, or of all that have some; mends them if asked. */
export function checkedSkills(
  context: CommandContext,
  references: readonly string[],
  options: { fix: boolean; dryRun: boolean },
): CheckedFile[] {
  const { skills } = skillsFor(context, references)
  return skills
    .filter(
      ({ triggers, info }) =>
        references.length > 0 || triggers.length > 0 || hasErrors(aboutTriggers(info.diagnostics)),
    )
    .map((skill) => checkOne(skill, options))
}

function checkOne(skill: InstalledSkill, options: { fix: boolean; dryRun: boolean }): CheckedFile {
  const { name, path, directory } = skill
  const before = readSkillText(path)
  const { text, changes } = options.fix ? fixTriggers(before, path) : { text: before, changes: [] }
  if (changes.length > 0 && !options.dryRun) {
    const real = realpathSync(path)
    writeFileAtomicSync(real, text, { mode: statSync(real).mode & 0o777 })
  }
  const { skill: document, diagnostics } = parseSkill(text, { path })
  const split = splitFrontmatter(text)
  const triggers = document?.fields.triggers ?? []
  const body = split.found ? split.body : ''
  const checked = { name, path, directory, triggers, text, body }
  const check = checkTriggers(checked)
  const leftOut = leftOutTriggers(text, path, triggers, diagnostics)
  return {
    skill: checked,
    check: {
      ...check,
      triggers: [...check.triggers, ...leftOut].toSorted((a, b) => a.line - b.line),
      diagnostics: [...aboutTriggers(diagnostics), ...check.diagnostics],
    },
    changes: options.fix ? changes : undefined,
    diff: options.dryRun ? unifiedDiff(path, before, text) : undefined,
  }
}

/** @throws SkillrailError when the file cannot be read. */
export function readSkillText(path: string): string {
  const reading = readRegularFile(path, { maxBytes: maxSkillBytes })
  if (reading.ok) return reading.text
  throw new SkillrailError({ code: reading.code, message: `${reading.message}.` })
}
