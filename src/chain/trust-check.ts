import type { SkillFields } from '../skill/index.ts'
import {
  type SkillNotTrustedError,
  type SkillScope,
  type TrustPolicy,
  trustRefusal,
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

/** Why a skill may not be executed now, with everything of it that acts compared; or undefined. */
export function executionRefusal(
  skill: CheckedSkill,
  policy: TrustPolicy,
): SkillNotTrustedError | undefined {
  return trustRefusal({ ...skill, realDirectory: skill.directory }, policy, 'be executed')
}

/** A refusal, or that there is none, as a fact for a plan. */
export function trustFact(refusal: SkillNotTrustedError | undefined): SkillFacts['trust'] {
  if (refusal === undefined) return { level: 'trusted', reason: '' }
  return { level: 'untrusted', reason: refusal.message, hint: refusal.hint }
}
