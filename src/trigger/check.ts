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
  /** In the order of the triggers. */
  triggers: readonly {
    match: string
    inject: string
    line: number
    /** Where it matches the skill's own body. */
    risk?: BodyRisk | undefined
    /** Why it cannot inject: a sentence for each error in its pattern or file. */
    problems: readonly string[]
  }[]
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
  const findings = skill.triggers.map((trigger) => {
    const one = { ...skill, triggers: [trigger] }
    return [...checkPatterns(one, lines), ...checkTargets(one, read)]
  })
  const diagnostics = [
    ...findings.flat(),
    ...risks.map(({ diagnostic }) => diagnostic),
    ...checkReach(skill),
    ...checkFormat(skill),
    ...checkSize(skill, read),
  ]
  return {
    skill: skill.name,
    path: skill.path,
    triggers: skill.triggers.map((trigger, index) => ({
      ...trigger,
      risk: risks.find((risk) => risk.trigger === trigger)?.risk,
      problems: (findings[index] ?? [])
        .filter(({ severity }) => severity === 'error')
        .map(({ message }) => message),
    })),
    diagnostics: diagnostics.toSorted(compareDiagnostics),
  }
}
