import { compareDiagnostics, type Diagnostic } from '../base/index.ts'
import { findBodyRisks, type BodyRisk } from './_check-body.ts'
import { checkFormat, checkSize } from './_check-skill.ts'
import { checkPatterns } from './_check-patterns.ts'
import { checkReach } from './_check-reach.ts'
import { checkTargets } from './_check-targets.ts'
import type { CheckedSkill } from './checked-skill.ts'
import { readTarget, type TargetReader } from './read-target.ts'

export interface TriggerCheck {
  skill: string
  path: string
  /** In the order of the triggers; `risk` where one matches the skill's own body. */
  triggers: readonly { match: string; inject: string; line: number; risk?: BodyRisk | undefined }[]
  diagnostics: readonly Diagnostic[]
}

/**
 * Looks at a skill's triggers as an author should before anyone else meets them. Pure but for
 * `read`.
 */
export function checkTriggers(
  skill: CheckedSkill,
  options: { read?: TargetReader | undefined } = {},
): TriggerCheck {
  const { read = readTarget } = options
  const lines = skill.text.split(/\r?\n/)
  const risks = findBodyRisks(skill)
  const diagnostics = [
    ...checkPatterns(skill, lines),
    ...risks.map(({ diagnostic }) => diagnostic),
    ...checkTargets(skill, read),
    ...checkReach(skill),
    ...checkFormat(skill),
    ...checkSize(skill, read),
  ]
  return {
    skill: skill.name,
    path: skill.path,
    triggers: skill.triggers.map((trigger) => ({
      ...trigger,
      risk: risks.find((risk) => risk.trigger === trigger)?.risk,
    })),
    diagnostics: diagnostics.toSorted(compareDiagnostics),
  }
}
