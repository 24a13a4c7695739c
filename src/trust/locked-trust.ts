import { type Runtime, realPathOf } from '../base/index.ts'
import { allowingHint } from './_hints.ts'
import { nearestLock } from './lock.ts'
import type { ActingSkill, TrustSubject, TrustVerdict } from './model.ts'
import { readTrustPolicy, type TrustPolicyOptions } from './policy.ts'
import { confirmUnderLock } from './skill-trust.ts'

/**
 * The level that `confirmTrust` gives, for any number of skills of a workspace that has a lock, which
 * is read once; undefined where there is none. `hint` says what would allow a skill.
 */
export function lockedTrust(
  runtime: Runtime,
  options: TrustPolicyOptions,
): ((skill: TrustSubject & ActingSkill) => TrustVerdict & { hint: string }) | undefined {
  const lock = nearestLock(realPathOf(options.workspace) ?? options.workspace)
  if (lock.reading.state === 'none') return undefined
  const { policy } = readTrustPolicy(runtime, options)
  return (skill) => {
    const verdict = confirmUnderLock(skill, policy, () => lock)
    return { ...verdict, hint: allowingHint(verdict.code, skill, policy) }
  }
}
