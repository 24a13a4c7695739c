import type { SkillFields } from '../skill/index.ts'
import {
  type NearestLock,
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

/**
 * Why a skill may not be executed now, with everything of it that acts compared; or undefined.
 *
 * @param lockOf the lock of the policy's workspace; default: as it is now.
 */
export function executionRefusal(
  skill: CheckedSkill,
  policy: TrustPolicy,
  lockOf?: () => NearestLock,
): SkillNotTrustedError | undefined {
  return trustRefusal({ ...skill, realDirectory: skill.directory }, policy, 'be executed', lockOf)
}

/** A refusal, or that there is none, as a fact for a plan. */
export function trustFact(refusal: SkillNotTrustedError | undefined): SkillFacts['trust'] {
  if (refusal === undefined) return { level: 'trusted', reason: '' }
  return { level: 'untrusted', reason: refusal.message, hint: refusal.hint }
}
