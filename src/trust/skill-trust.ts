import { realPathOf } from '../base/index.ts'
import { allowingHint } from './_hints.ts'
import { assessSkill } from './assess.ts'
import { collectSkillParts } from './collect.ts'
import { decideTrust, isUnderLock, type TrustFacts } from './decide.ts'
import { SkillNotTrustedError } from './errors.ts'
import { lockStateOf, type NearestLock, nearestLock } from './lock.ts'
import type { ActingSkill, TrustPolicy, TrustSubject, TrustVerdict } from './model.ts'

/**
 * The level of a skill by its place alone. Hashes nothing, so it is cheap for a list of thousands;
 * before something acts, ask {@link confirmTrust} or {@link requireTrusted}.
 *
 * @example
 * const { policy } = readTrustPolicy(runtime, { workspace, trustedPaths: [] })
 * skillTrust({ name: 'deploy', scope: 'project', directory }, policy).level // 'untrusted'
 */
export function skillTrust(skill: TrustSubject, policy: TrustPolicy): TrustVerdict {
  return decideTrust({ ...factsOf(skill, policy), changed: false })
}

/**
 * The level of a skill now: as {@link skillTrust}, and for a project skill in an accepted workspace
 * everything of it that acts is compared with what was accepted (its text too, where pinned). Where
 * the project has a lock, whoever vouches for a skill of it, all of the skill must be as locked.
 * Reads the files of this one skill.
 */
export function confirmTrust(skill: TrustSubject & ActingSkill, policy: TrustPolicy): TrustVerdict {
  return confirmUnderLock(skill, policy, () => nearestLock(policy.workspace))
}

/** {@link confirmTrust} with the lock of the policy's workspace, which is asked for where it counts. */
export function confirmUnderLock(
  skill: TrustSubject & ActingSkill,
  policy: TrustPolicy,
  lockOf: () => NearestLock,
): TrustVerdict {
  const facts = factsOf(skill, policy)
  const { directory } = facts
  const verdict = decideTrust({ ...facts, changed: false })
  if (verdict.level !== 'trusted' || directory === undefined || !isUnderLock(facts)) return verdict
  const changed = verdict.code === 'workspace-accepted' && hasChanged(skill, directory, policy)
  const lock = changed ? undefined : lockStateOf(policy.workspace, directory, lockOf())
  return decideTrust({ ...facts, changed, lock })
}

function hasChanged(
  skill: ActingSkill,
  directory: string,
  { acceptance, workspace }: TrustPolicy,
): boolean {
  if (acceptance === undefined) return true
  const parts = collectSkillParts(
    workspace,
    { ...skill, realDirectory: directory },
    { text: acceptance.pinned },
  )
  return assessSkill(acceptance, directory, parts).changes.length > 0
}

/**
 * Passes when the skill is trusted now, with its acting parts compared as in {@link confirmTrust}.
 *
 * @param action what is about to happen, as in "may not …": `'run its script'`.
 * @throws {SkillNotTrustedError} with the command that would allow it in `hint`.
 */
export function requireTrusted(
  skill: TrustSubject & ActingSkill,
  policy: TrustPolicy,
  action: string,
): void {
  const refusal = trustRefusal(skill, policy, action)
  if (refusal !== undefined) throw refusal
}

/**
 * The error that {@link requireTrusted} throws, for those who go on without the skill.
 *
 * @param lockOf the lock of the policy's workspace; default: as it is now.
 */
export function trustRefusal(
  skill: TrustSubject & ActingSkill,
  policy: TrustPolicy,
  action: string,
  lockOf: () => NearestLock = () => nearestLock(policy.workspace),
): SkillNotTrustedError | undefined {
  const verdict = confirmUnderLock(skill, policy, lockOf)
  if (verdict.level === 'trusted') return undefined
  return new SkillNotTrustedError({
    skill: skill.name,
    action,
    reason: verdict.reason,
    reasonCode: verdict.code,
    hint: allowingHint(verdict.code, skill, policy),
  })
}

function factsOf(skill: TrustSubject, policy: TrustPolicy): Omit<TrustFacts, 'changed'> {
  return { scope: skill.scope, directory: decidingDirectory(skill, policy), policy }
}

/** Links are resolved only where the place of the directory can make a difference. */
function decidingDirectory(skill: TrustSubject, policy: TrustPolicy): string | undefined {
  if (skill.realDirectory !== undefined) return skill.realDirectory
  const { trustedPaths, workspaceTrust, acceptance } = policy
  const workspaceTrusted = workspaceTrust === 'trusted' || acceptance !== undefined
  const decisive = trustedPaths.length > 0 || (skill.scope === 'project' && workspaceTrusted)
  if (!decisive) return skill.directory
  return realPathOf(skill.directory)
}
