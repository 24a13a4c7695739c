import type { SkillFields } from '../skill/index.ts'
import {
  requireTrusted,
  SkillNotTrustedError,
  type SkillScope,
  type TrustPolicy,
} from '../trust/index.ts'
import type { SkillFacts } from './lookup.ts'

export interface CheckedSkill {
  name: string
  scope: SkillScope
  /** Real path. */
  directory: string
  /** The `SKILL.md`, absolute. */
  path: string
  fields: SkillFields
}

/** The trust of a skill as a fact for a plan, with what would raise it. */
export function trustFact(skill: CheckedSkill, policy: TrustPolicy): SkillFacts['trust'] {
  try {
    requireTrusted({ ...skill, realDirectory: skill.directory }, policy, 'run its script')
    return { level: 'trusted', reason: '' }
  } catch (error) {
    if (!(error instanceof SkillNotTrustedError)) throw error
    return { level: 'untrusted', reason: error.message, hint: error.hint }
  }
}
