import type { Diagnostic } from '../base/index.ts'
import type { CheckedSkill } from './checked-skill.ts'
import { targetDiagnostic } from './inject.ts'
import type { TargetReader } from './read-target.ts'

/** Files of triggers that are missing, lead out of the skill, or are no text. */
export function checkTargets(skill: CheckedSkill, read: TargetReader): Diagnostic[] {
  return skill.triggers.flatMap((trigger) => {
    const target = read(skill.directory, trigger.inject)
    return target.ok ? [] : [targetDiagnostic(skill.path, trigger, target)]
  })
}
